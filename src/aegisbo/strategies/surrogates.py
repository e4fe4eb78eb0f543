"""From evidence to a belief: outputs standardized, hyper-parameters learned.

`IsotropicSurrogate` is the paper's, `AdditiveSurrogate` the modern preset's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Index
from aegisbo.gp import additive_fit, isotropic_fit
from aegisbo.gp.additive_model import AdditiveHyperparameters, AdditiveLikelihood, AdditiveModel
from aegisbo.gp.isotropic_model import IsotropicModel
from aegisbo.gp.output_transform import OutputScale, noise_on, scale_of, soft_scale_of
from aegisbo.gp.posterior import GP
from aegisbo.gp.thinning import evenly_spread, thinned
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.memory import Remembered
from aegisbo.strategies.outlook import Outlook, outlook_of

GROWTH = 1.05  # the additive model learns anew when there are this many times as many data
LEARNED_FROM = 500  # data at most, evenly spread over their order; the posterior has more
CONDITIONED_ON = 1200  # data of a posterior at most, so that a suggestion stays below a second
LEARNED_FROM_MANY = 250  # data at most where there are more than a posterior has, for the same reason


def data_of(evidence: Evidence) -> tuple[Array, Array]:
    """Where something was tried (n, width), and the outcomes (n,); what failed is as bad as the worst that did not."""
    X = np.vstack([evidence.X, evidence.failed])
    return X, np.append(evidence.y, np.full(len(evidence.failed), evidence.y.max()))


@dataclass(frozen=True)
class Fitted(Remembered):
    """What was learned of an isotropic model, and from which data."""

    seen: list[int]  # how many values and failures
    phi: list[float]
    fit: list[str]  # what was out of the ordinary


@dataclass(frozen=True)
class IsotropicSurrogate:
    """The paper's: a zero-mean GP with one length scale, fitted again to every new result; failures are bad values.

    `model` is given the number of coordinates.
    """

    model: Callable[[int], IsotropicModel]

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief at the most likely hyper-parameters."""
        X, measured = data_of(evidence)
        scale = scale_of(measured)
        y = scale.standardized(measured)
        model = self.model(evidence.cube.width)
        seen = [len(evidence.X), len(evidence.failed)]
        known = Fitted.recalled(memory)
        if known is not None and known.seen == seen:
            return Belief(model.posterior(X, y, np.array(known.phi)), scale, float(y.min()), known.fit), memory
        found = isotropic_fit.fit(X, y, model, rng, warm=None if known is None else np.array(known.phi))
        fitted = Fitted(seen, found.phi.tolist(), list(found.notes))
        return Belief(found.gp, scale, float(y.min()), found.notes), {**memory, **fitted.kept()}


@dataclass(frozen=True)
class Learned(Remembered):
    """What was learned of an additive model, and from how many data."""

    phi: list[float]
    s: float
    constant: float
    learned_at: int
    fit: list[str]  # what was out of the ordinary

    @property
    def hyperparameters(self) -> AdditiveHyperparameters:
        """All that a posterior needs."""
        return AdditiveHyperparameters(tuple(self.phi), self.s, self.constant)


def tail_above_half(y: Array, d: int) -> OutputScale:
    """A logarithmic tail above the median."""
    return soft_scale_of(y)


@dataclass(frozen=True)
class AdditiveSurrogate:
    """The modern preset's: joint kernel and main effects, soft outputs, learned less often as data grow.

    It knows nothing of failures: they are left to `learned_success`.

    Args:
        model: is given the number of coordinates.
        scale: makes the scale of the outputs from the values and the number of coordinates.
    """

    model: Callable[[int], AdditiveModel]
    scale: Callable[[Array, int], OutputScale] = tail_above_half

    def fit(
        self, evidence: Evidence, memory: Memory, rng: Generator, rival: Array | None = None
    ) -> tuple[Belief, Memory]:
        """The belief at hyper-parameters that were learned from these data, or from nearly as many.

        `rival` is what another surrogate has just learned, on another scale: learning begins there if that is better.
        """
        X, measured = evidence.X, evidence.y
        n = len(X)
        scale = self.scale(measured, X.shape[1])
        y = scale.standardized(measured)
        model = self.model(evidence.cube.width)
        extra = None if evidence.sd is None else noise_on(scale, evidence.sd, measured)
        known, found = Learned.recalled(memory), None
        if known is None or is_due(known.learned_at, n):
            some = evenly_spread(n, LEARNED_FROM if n <= CONDITIONED_ON else LEARNED_FROM_MANY)
            warm, s = (None, 1.0) if known is None else (np.array(known.phi), known.s)
            loud = None if extra is None else extra[some]
            found = additive_fit.fit(X[some], y[some], model, rng, warm, extra=loud, s=s, rival=rival)
            best = found.hyperparameters
            known = Learned(list(best.phi), best.s, best.constant, n, list(found.notes))
        rows = None
        if n > CONDITIONED_ON:
            # Some moves add the pending points, and must not take longer where there are many.
            room = CONDITIONED_ON - min(len(evidence.pending), CONDITIONED_ON // 4)
            rows = thinned(X, y, known.hyperparameters.lengthscale, room)
            gp = _grown(known.hyperparameters, X[rows], y[rows], len(rows), None if extra is None else extra[rows])
        elif n > LEARNED_FROM:
            gp = _grown(known.hyperparameters, X, y, known.learned_at, extra)
        elif found is not None:
            gp = found.gp
        else:  # the output scale and the constant are fitted to every new result
            share = 0.0 if extra is None else extra / known.s
            gp = AdditiveLikelihood(X, y, model, share).hyperparameters(np.array(known.phi)).given(X, y, extra)
        fresh, outlook = known.learned_at == n, partial(_outlook, evidence, rows, model, known.hyperparameters)
        belief = Belief(gp, scale, float(y.min()), known.fit, fresh=fresh, rows=rows, outlook=outlook)
        return belief, {**memory, **known.kept()}


def _outlook(evidence: Evidence, rows: Index | None, model: AdditiveModel, learned: AdditiveHyperparameters) -> Outlook:
    """All models that these rows of the evidence leave open."""
    known = evidence if rows is None else evidence.only(rows)
    exact = not known.noisy and known.sd is None
    return outlook_of(known.X, known.y, model, learned, known.sd, exact=exact)


def is_due(learned_at: int, n: int) -> bool:
    """Whether an additive model that was learned from so many data learns anew from n."""
    return not learned_at <= n < GROWTH * learned_at


def _grown(learned: AdditiveHyperparameters, X: Array, y: Array, learned_at: int, extra: Array | None) -> GP:
    """The posterior given all data, by the factor of those from which the hyper-parameters were learned.

    Extended from there, and not from one suggestion to the next, so that the digits do not depend on what was asked
    before: a run that is continued, or replayed, makes the same choices.
    """
    if extra is not None:
        return learned.given(X, y, extra)  # which may be others for the same points
    X = np.ascontiguousarray(X)
    base = _base(learned, X[:learned_at].tobytes(), X.shape[1])
    return base.extended(X[learned_at:], y[learned_at:]).measuring(y)


@lru_cache(maxsize=3)  # models that a surrogate may hold
def _base(learned: AdditiveHyperparameters, X: bytes, d: int) -> GP:
    """Given X (n, d), whatever was measured there; kept until it is learned anew."""
    points = np.frombuffer(X).reshape(-1, d)
    return learned.given(points, np.zeros(len(points))).lasting()
