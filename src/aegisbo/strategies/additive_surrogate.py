"""The surrogate of the modern preset: joint kernel and main effects, soft outputs, refitted less often as data grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.numerics import additive_fit
from aegisbo.numerics.additive import AdditiveLikelihood, AdditiveModel
from aegisbo.numerics.gp import condition
from aegisbo.numerics.outputs import soft_scale_of
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.surrogate import Belief, data_of

GROWTH = 1.05  # hyper-parameters are learned anew when there are this many times as many data
LEARNED_FROM = 500  # data at most, evenly spread over their order; the posterior always has all of them


@dataclass(frozen=True)
class Additive:
    """Hyper-parameters at their most probable; `model` is given the number of coordinates."""

    model: Callable[[int], AdditiveModel]

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief at hyper-parameters that were learned from these data, or from nearly as many."""
        X, measured = data_of(evidence)
        scale = soft_scale_of(measured)
        y = scale.standardised(measured)
        model = self.model(evidence.cube.width)
        some = np.linspace(0, len(y) - 1, min(len(y), LEARNED_FROM)).round().astype(np.intp)
        if "phi" in memory and memory["learned_at"] <= len(y) < GROWTH * memory["learned_at"]:
            gp = AdditiveLikelihood(X[some], y[some], model).posterior(np.array(memory["phi"]))
        else:
            warm = np.array(memory["phi"]) if "phi" in memory else None
            found = additive_fit.fit(X[some], y[some], model, rng, warm)
            gp = found.gp
            memory = {**memory, "learned_at": len(y), "phi": found.phi.tolist(), "fit": list(found.notes)}
        if len(some) < len(y):
            gp = condition(gp.kernel, gp.noise, X, y, constant=gp.constant, effects=gp.effects)
        return Belief(gp, scale, float(y.min()), memory["fit"]), memory
