"""From evidence to a model: outputs standardised, failures given the worst value seen, hyper-parameters learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.numerics import hyperfit
from aegisbo.numerics.gp import GP
from aegisbo.numerics.likelihood import Model
from aegisbo.numerics.outputs import Scale, scale_of
from aegisbo.strategies.base import Evidence, Memory, Note


@dataclass(frozen=True)
class Belief:
    """What the surrogate holds to be true: a posterior on the standardised scale, and the way back."""

    gp: GP
    scale: Scale
    best: float  # lowest value measured, standardised
    notes: Sequence[str]  # what was out of the ordinary in the fit

    def note(self, x: Array) -> Note:
        """What is predicted at x (width,), in the user's units, and how the model is."""
        mu, var = self.gp.predict(x[None, :])
        said: dict[str, object] = {
            "mean": float(self.scale.measured(mu)[0]),
            "std": float(self.scale.measured_std(np.sqrt(var))[0]),
            "lengthscale": self.gp.kernel.lengthscale.tolist(),
        }
        if self.notes:
            said["fit"] = list(self.notes)
        return said


@dataclass(frozen=True)
class Surrogate:
    """How a GP is fitted; `model` is given the number of coordinates."""

    model: Callable[[int], Model]

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief after all evidence, and a memory from which the next fit starts warm.

        The same evidence gives the same belief: hyper-parameters that were learned from it are not learned again.
        """
        X = np.vstack([evidence.X, evidence.failed])
        measured = np.append(evidence.y, np.full(len(evidence.failed), evidence.y.max()))
        scale = scale_of(measured)
        y = scale.standardised(measured)
        model = self.model(evidence.cube.width)
        seen = [len(evidence.X), len(evidence.failed)]
        known = np.array(memory["phi"]) if "phi" in memory else None
        if known is not None and memory["seen"] == seen:
            return Belief(hyperfit.posterior(X, y, model, known), scale, float(y.min()), memory["fit"]), memory
        found = hyperfit.fit(X, y, model, rng, warm=known)
        memory = {**memory, "seen": seen, "phi": found.phi.tolist(), "fit": list(found.notes)}
        return Belief(found.gp, scale, float(y.min()), found.notes), memory
