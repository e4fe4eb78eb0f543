"""From evidence to a model: outputs standardized, failures given the worst value seen, hyper-parameters learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp import isotropic_fit
from aegisbo.gp.isotropic_model import IsotropicModel
from aegisbo.gp.output_transform import Scale, SoftScale, scale_of
from aegisbo.gp.posterior import GP
from aegisbo.strategies.base import Evidence, Memory, Note


@dataclass(frozen=True)
class Belief:
    """What the surrogate holds to be true: a posterior on the standardized scale, and the way back."""

    gp: GP
    scale: Scale | SoftScale
    best: float  # lowest value measured, standardized
    notes: Sequence[str]  # what was out of the ordinary in the fit

    def note(self, x: Array) -> Note:
        """What is predicted at x (width,), in the user's units, and how the model is."""
        z = x[None, :]
        variance = max(float(self.gp.covariance(z, z)[0, 0]), 0.0)  # `predict` would prepare for many points
        low, mean, high = self.scale.measured(self.gp.mean(z) + variance**0.5 * np.array([-1.0, 0.0, 1.0]))
        said: dict[str, object] = {
            "mean": float(mean),
            "std": float(0.5 * high - 0.5 * low),
            "lengthscale": self.gp.kernel.lengthscale.tolist(),
        }
        if self.notes:
            said["fit"] = list(self.notes)
        return said


class Surrogate(Protocol):
    """How evidence becomes a belief."""

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief after all evidence, and a memory from which the next fit starts warm.

        The same evidence gives the same belief: hyper-parameters that were learned from it are not learned again.
        """


def data_of(evidence: Evidence) -> tuple[Array, Array]:
    """Where something was tried (n, width), and the outcomes (n,); what failed is as bad as the worst that did not."""
    X = np.vstack([evidence.X, evidence.failed])
    return X, np.append(evidence.y, np.full(len(evidence.failed), evidence.y.max()))


@dataclass(frozen=True)
class MaximumLikelihood:
    """A zero-mean GP with one joint kernel, fitted to every new result; `model` is given the number of coordinates."""

    model: Callable[[int], IsotropicModel]

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief at the most likely hyper-parameters."""
        X, measured = data_of(evidence)
        scale = scale_of(measured)
        y = scale.standardized(measured)
        model = self.model(evidence.cube.width)
        seen = [len(evidence.X), len(evidence.failed)]
        known = np.array(memory["phi"]) if "phi" in memory else None
        if known is not None and memory["seen"] == seen:
            return Belief(model.posterior(X, y, known), scale, float(y.min()), memory["fit"]), memory
        found = isotropic_fit.fit(X, y, model, rng, warm=known)
        memory = {**memory, "seen": seen, "phi": found.phi.tolist(), "fit": list(found.notes)}
        return Belief(found.gp, scale, float(y.min()), found.notes), memory
