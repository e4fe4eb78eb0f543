"""The surrogate of the modern preset: joint kernel and main effects, soft outputs, refitted less often as data grow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp import additive_fit
from aegisbo.gp.additive_model import AdditiveHyperparameters, AdditiveLikelihood, AdditiveModel
from aegisbo.gp.output_transform import soft_scale_of
from aegisbo.gp.posterior import GP
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.surrogates import Belief, data_of

GROWTH = 1.05  # hyper-parameters are learned anew when there are this many times as many data
LEARNED_FROM = 500  # data at most, evenly spread over their order; the posterior always has all of them


@dataclass(frozen=True)
class Additive:
    """Hyper-parameters at their most probable; `model` is given the number of coordinates."""

    model: Callable[[int], AdditiveModel]

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief at hyper-parameters that were learned from these data, or from nearly as many."""
        X, measured = data_of(evidence)
        n = len(X)
        scale = soft_scale_of(measured)
        y = scale.standardized(measured)
        model = self.model(evidence.cube.width)
        found = None
        if "phi" not in memory or not memory["learned_at"] <= n < GROWTH * memory["learned_at"]:
            some = np.linspace(0, n - 1, min(n, LEARNED_FROM)).round().astype(np.intp)
            warm = np.array(memory["phi"]) if "phi" in memory else None
            found = additive_fit.fit(X[some], y[some], model, rng, warm)
            best = found.hyperparameters
            learned = {"phi": list(best.phi), "s": best.s, "constant": best.constant}
            memory = {**memory, **learned, "learned_at": n, "fit": list(found.notes)}
        if n > LEARNED_FROM:
            learned_then = AdditiveHyperparameters(tuple(memory["phi"]), memory["s"], memory["constant"])
            gp = _grown(learned_then, X, y, memory["learned_at"])
        elif found is not None:
            gp = found.gp
        else:  # the scale and the constant go with every datum
            gp = AdditiveLikelihood(X, y, model).hyperparameters(np.array(memory["phi"])).given(X, y)
        return Belief(gp, scale, float(y.min()), memory["fit"]), memory


def _grown(learned: AdditiveHyperparameters, X: Array, y: Array, learned_at: int) -> GP:
    """The posterior given all data, by the factor of those from which the hyper-parameters were learned.

    Extended from there, and not from one suggestion to the next, so that the digits do not depend on what was asked
    before: a run that is continued, or replayed, makes the same choices.
    """
    X = np.ascontiguousarray(X)
    base = _base(learned, X[:learned_at].tobytes(), X.shape[1])
    return base.extended(X[learned_at:], y[learned_at:]).measuring(y)


@lru_cache(maxsize=1)
def _base(learned: AdditiveHyperparameters, X: bytes, d: int) -> GP:
    """Given X (n, d), whatever was measured there; kept until it is learned anew."""
    points = np.frombuffer(X).reshape(-1, d)
    return learned.given(points, np.zeros(len(points))).lasting()
