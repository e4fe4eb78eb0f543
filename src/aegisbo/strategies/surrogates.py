"""From evidence to a belief: outputs standardized, hyper-parameters learned.

`IsotropicSurrogate` is the paper's, `AdditiveSurrogate` the modern preset's, `ChosenSurrogate` the adaptive preset's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Index
from aegisbo.gp import additive_fit, isotropic_fit
from aegisbo.gp.additive_model import AdditiveHyperparameters, AdditiveLikelihood, AdditiveModel
from aegisbo.gp.isotropic_model import IsotropicModel
from aegisbo.gp.low_values import lowest, skill
from aegisbo.gp.output_transform import Scale, SoftScale, scale_of, soft_scale_of
from aegisbo.gp.posterior import GP
from aegisbo.gp.thinning import evenly_spread, lowest_around, thinned
from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.base import Evidence, Memory, Note
from aegisbo.strategies.chance import Chance

if TYPE_CHECKING:
    from aegisbo.strategies.limits import Keeping

GROWTH = 1.05  # the additive model learns anew when there are this many times as many data
EXPLORING = "wide"  # the name of the model that a ChosenSurrogate explores with
COARSE = "coarse"  # the name of the one that explores instead where that one sees no further than one ripple
RIPPLE = 0.02  # how far around the coarse model has no other value, in each coordinate
NARROW = 3.0 * RIPPLE  # length scale of the exploring model below which a coarse one is learned,
WIDER = 4.0  # how many times longer that of the coarse one must be for it to be used,
FLAT = 0.5  # and from where on it would lead nowhere
LEARNED_FROM = 500  # data at most, evenly spread over their order; the posterior has more
CONDITIONED_ON = 1200  # data at most, of the additive model's posterior: a suggestion stays below a second,
LEARNED_FROM_MANY = 250  # and, with more data than that, also one that learns
STEEPEST, LOUDEST = 700.0, 1e100  # log of a slope, and a standard deviation, beyond which nothing is computed


@dataclass(frozen=True)
class Belief:
    """What the surrogate believes: a posterior on the standardized scale, and the way back."""

    gp: GP
    scale: Scale | SoftScale
    best: float  # lowest value measured, standardized; where values are noisy, lowest mean of an evaluated point
    notes: Sequence[str]  # what was out of the ordinary in the fit
    model: str = ""  # its name, where there are several
    wide: Callable[[], Belief] | None = None  # makes the one to explore with, if it is another one
    chance: Chance | None = None  # to succeed; None if nothing has failed, or a failure is a bad value to the model
    # Where there are limits on what is measured: the chance to succeed and that to keep them, of which `chance` is the
    # product.
    success: Chance | None = None
    keeping: Keeping | None = None
    # (k, width) the best points, the best first, where these are not those with the lowest values: some break limits
    # (if all do, those that come closest), or values are noisy.
    good: Array | None = None
    rows: Index | None = None  # of the evidence that the posterior knows, values first; None for all

    @cached_property
    def exploring(self) -> Belief:
        """What to explore with; what may fail and what counts as best is the same, the latter on its own scale."""
        if self.wide is None:
            return self
        other = replace(self.wide(), chance=self.chance, success=self.success, keeping=self.keeping, good=self.good)
        if self.good is None:
            return other
        measured = self.scale.measured(np.array([self.best]))
        return replace(other, best=float(other.scale.standardized(measured)[0]))

    def skill(self, measured: Array) -> float:
        """How well it predicts the lowest of the values measured (n,), which are the first of its data."""
        known = measured if self.rows is None else measured[self.rows]
        return skill(self.gp, self.scale, known, lowest(known, self.gp.X.shape[1]))

    def predict(self, Z: Array) -> tuple[Array, Array]:
        """Mean and standard deviation (m,) of the noise-free function at Z (m, width), on the standardized scale."""
        both = by_blocks(lambda rows: np.stack(self.gp.predict(rows), axis=1), Z)
        return both[:, 0], np.sqrt(both[:, 1])

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
        if self.model:
            said["model"] = self.model
        success = self.chance if self.keeping is None else self.success
        for name, chance in {"success": success, "feasible": self.keeping}.items():
            if chance is not None:
                said[name] = float(np.exp(chance.log_value(z)[0]))
        if self.notes:
            said["fit"] = list(self.notes)
        return said


@runtime_checkable
class Believer(Protocol):
    """A strategy with a model that can be asked."""

    def believe(self, evidence: Evidence, memory: Memory, rng: Generator) -> Belief:
        """What is believed after all finished evaluations; `memory` is the one after the last ask."""


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
        known = np.array(memory["phi"]) if "phi" in memory else None
        if known is not None and memory["seen"] == seen:
            return Belief(model.posterior(X, y, known), scale, float(y.min()), memory["fit"]), memory
        found = isotropic_fit.fit(X, y, model, rng, warm=known)
        memory = {**memory, "seen": seen, "phi": found.phi.tolist(), "fit": list(found.notes)}
        return Belief(found.gp, scale, float(y.min()), found.notes), memory


@dataclass(frozen=True)
class AdditiveSurrogate:
    """The modern preset's: joint kernel and main effects, soft outputs, learned less often as data grow.

    It knows nothing of failures, which are a matter of `success`.

    Args:
        model: is given the number of coordinates.
        share: of the values that lie below the soft tail.
        wide: whether the unit of the soft outputs stays large as values gather near the lowest one.
    """

    model: Callable[[int], AdditiveModel]
    share: float = 0.5
    wide: bool = False

    def fit(
        self, evidence: Evidence, memory: Memory, rng: Generator, rival: Array | None = None
    ) -> tuple[Belief, Memory]:
        """The belief at hyper-parameters that were learned from these data, or from nearly as many.

        `rival` is what another surrogate has just learned, on another scale: learning begins there if that is better.
        """
        X, measured = evidence.X, evidence.y
        n = len(X)
        scale = soft_scale_of(measured, self.share, early=2 * X.shape[1] if self.wide else 0)
        y = scale.standardized(measured)
        model = self.model(evidence.cube.width)
        extra = None if evidence.sd is None else _variances(evidence.sd, scale.log_slope(measured))
        found = None
        if is_due(memory, n):
            some = evenly_spread(n, LEARNED_FROM if n <= CONDITIONED_ON else LEARNED_FROM_MANY)
            warm = np.array(memory["phi"]) if "phi" in memory else None
            known = {} if extra is None else {"extra": extra[some], "s": memory.get("s", 1.0)}
            found = additive_fit.fit(X[some], y[some], model, rng, warm, rival=rival, **known)
            best = found.hyperparameters
            learned = {"phi": list(best.phi), "s": best.s, "constant": best.constant}
            memory = {**memory, **learned, "learned_at": n, "fit": list(found.notes)}
        rows = None
        if n > LEARNED_FROM:
            learned_then = AdditiveHyperparameters(tuple(memory["phi"]), memory["s"], memory["constant"])
            if n > CONDITIONED_ON:
                # Some moves add the pending points, and must not take longer where there are many.
                room = CONDITIONED_ON - min(len(evidence.pending), CONDITIONED_ON // 4)
                rows = thinned(X, y, learned_then.lengthscale, room)
                gp = _grown(learned_then, X[rows], y[rows], len(rows), None if extra is None else extra[rows])
            else:
                gp = _grown(learned_then, X, y, memory["learned_at"], extra)
        elif found is not None:
            gp = found.gp
        else:  # the output scale and the constant are fitted to every new result
            share = 0.0 if extra is None else extra / memory["s"]
            gp = AdditiveLikelihood(X, y, model, share).hyperparameters(np.array(memory["phi"])).given(X, y, extra)
        return Belief(gp, scale, float(y.min()), memory["fit"], rows=rows), memory


def _variances(sd: Array, log_slope: Array) -> Array:
    """What standard deviations (n,) of values mean on a scale with these slopes (n,), none beyond all numbers."""
    with np.errstate(over="ignore"):
        return np.minimum(sd * np.exp(np.minimum(log_slope, STEEPEST)), LOUDEST) ** 2


def is_due(memory: Memory, n: int) -> bool:
    """Whether the additive model learns anew from n data."""
    return "learned_at" not in memory or not memory["learned_at"] <= n < GROWTH * memory["learned_at"]


@dataclass(frozen=True)
class ChosenSurrogate:
    """The adaptive preset's: several surrogates, of which the data choose.

    Whenever they have learned, the one of `exploiting` that predicts the lowest values best is used until they learn
    again. Moves that explore use `exploring`. Each has a name, and a memory of its own. With more data than are
    learned from, the choice is settled: the one that is used learns alone, and serves all moves.

    Where a run has gathered its points in one ripple of many, `exploring` may learn length scales as short as that. All
    else is unknown to it then, and nothing leads to where ripples are lower. A model that is given only the lowest
    value of each ripple sees how these change, and explores in its place.
    """

    exploiting: tuple[tuple[str, AdditiveSurrogate], ...]
    exploring: AdditiveSurrogate

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief of the one that is used now."""
        n = len(evidence.y)
        if is_due(memory, n):
            used = memory.get("used", self.exploiting[0][0])
            memory = {**memory, **self._learned(evidence, memory.get("models", {}), used, rng), "learned_at": n}
        used, models = memory["used"], memory["models"]
        belief, _ = self._surrogates[used].fit(evidence, models[used], rng)

        def wide() -> Belief:
            if COARSE in models:
                few = _of_ripples(evidence)
                learned = {**models[COARSE], "learned_at": len(few.y)}  # not due before the others
                return replace(self.exploring.fit(few, learned, rng)[0], model=COARSE)
            return replace(self.exploring.fit(evidence, models[EXPLORING], rng)[0], model=EXPLORING)

        return replace(belief, model=used, wide=wide if EXPLORING in models else None), memory

    @property
    def _surrogates(self) -> dict[str, AdditiveSurrogate]:
        return {**dict(self.exploiting), EXPLORING: self.exploring}

    def _learned(self, evidence: Evidence, models: Memory, used: str, rng: Generator) -> Memory:
        """What they have learned, first the one that was used, and the name of the one to use now."""
        others = [name for name in self._surrogates if name != used and len(evidence.y) <= LEARNED_FROM]
        learned, skills, rival = {}, {}, None
        for name in (used, *others):
            belief, learned[name] = self._surrogates[name].fit(evidence, models.get(name, {}), rng, rival)
            skills[name] = belief.skill(evidence.y)
            rival = np.array(learned[used]["phi"])
        used = max((name for name in skills if name != EXPLORING), key=skills.__getitem__)
        if EXPLORING in learned and _reach(learned[EXPLORING]) < NARROW:
            before = {key: known for key, known in models.get(COARSE, {}).items() if key != "learned_at"}  # it is due
            _, coarse = self.exploring.fit(_of_ripples(evidence), before, rng)
            if WIDER * _reach(learned[EXPLORING]) < _reach(coarse) < FLAT:
                learned[COARSE] = coarse
        return {"models": learned, "used": used}


def _of_ripples(evidence: Evidence) -> Evidence:
    """The lowest value of each ripple."""
    return evidence.only(lowest_around(evidence.X, evidence.y, RIPPLE))


def _reach(learned: Memory) -> float:
    """The geometric mean of the length scales of the joint kernel."""
    best = AdditiveHyperparameters(tuple(learned["phi"]), learned["s"], learned["constant"])
    return float(np.exp(np.log(best.lengthscale).mean()))


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
