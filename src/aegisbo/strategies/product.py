"""What a search maximizes as a product, such as expected improvement times the chance to succeed.

Searches minimize. Each factor is therefore given as an objective, −log of what it is worth, and a product is their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats, Index
from aegisbo.search.inner_search import Acquisition
from aegisbo.strategies.chance import Chance


@dataclass(frozen=True)
class Product:
    """−log of a product, given −log of each factor."""

    factors: tuple[Acquisition, ...]

    def screen(self, Z: Array) -> Floats:
        return np.asarray(sum(factor.screen(Z) for factor in self.factors))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        values, gradients = zip(*(factor.value_and_gradient(Z) for factor in self.factors), strict=True)
        return np.asarray(sum(values)), np.asarray(sum(gradients))


@dataclass(frozen=True)
class Risk:
    """−log of a chance; points are ranked in single precision, unless by the chance alone."""

    chance: Chance
    alone: bool = False

    def screen(self, Z: Array) -> Floats:
        return -self.chance.log_value(Z if self.alone else Z.astype(np.float32))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        value, gradient = self.chance.log_value_and_gradient(Z)
        return -value, -gradient


def by_lot(factors: Sequence[Acquisition], Z: Array, rng: Generator) -> Index:
    """A random order of Z (m, width), in which a point that is worth twice as much is twice as likely to be first."""
    return np.argsort(Product(tuple(factors)).screen(Z) - rng.gumbel(size=len(Z)), kind="stable")


def product(*factors: Acquisition, chance: Chance | None) -> Acquisition:
    """−log of the product of these factors and, if there is one, of a chance."""
    factors = factors if chance is None else (*factors, Risk(chance))
    return factors[0] if len(factors) == 1 else Product(factors)
