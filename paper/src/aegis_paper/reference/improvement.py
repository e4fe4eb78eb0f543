"""Deviation `improvement`: expected improvement was maximized as it is, not by its logarithm.

The paper: the maximizer of expected improvement; it says nothing of logarithms, and our strategies use them.
The code: SciPy's L-BFGS-B on the (penalized) improvement itself, with default tolerances.

What it changes: those tolerances are absolute (a slope of 1e-5, a decrease of 2e-9), so the smaller the improvements
become, the earlier the search stops, at last where it starts; the logarithm is polished as well late as early.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats
from aegisbo.search.inner_search import Acquisition, InnerSearch
from aegisbo.space.cube import Cube


@dataclass(frozen=True)
class Exponential:
    """−a, for an objective that is −log a."""

    logarithm: Acquisition

    def screen(self, Z: Array) -> Floats:
        """Values (m,) at Z (m, d)."""
        return np.asarray(-np.exp(-self.logarithm.screen(Z)))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at Z (m, d)."""
        value, gradient = self.logarithm.value_and_gradient(Z)
        a = np.exp(-value)
        return -a, a[:, None] * gradient


@dataclass(frozen=True)
class WithoutLogarithm:
    """The same search, on the acquisition whose logarithm it is given."""

    search: InnerSearch

    def __call__(self, objective: Acquisition, cube: Cube, rng: Generator, good: Array) -> Array:
        """Local maxima of the acquisition (k, width), the highest first."""
        return self.search(Exponential(objective), cube, rng, good)
