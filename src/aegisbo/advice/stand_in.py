"""A stand-in for the user's function, made from what a run has learned about values, limits, failures and times.

Of several objectives each has a stand-in of its own. What the run does not know differs from one stand-in to the next.
The values of every other one are the model's mean, the smoothest function that agrees with the results; those of the
others are drawn from its posterior, as wavy as the kernel allows. Real functions lie between the two (docs/advise.md).
Job times are a sample of those that the run has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from aegisbo.advice.stops import Stops, at, chance_of, stops_of
from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput
from aegisbo.gp.paths import SamplePaths, draw
from aegisbo.optimizer import Core
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.optimizer.limits import Limit
from aegisbo.outcome import FAILURES
from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.chance import Chance
from aegisbo.strategies.durations import SHORTEST, Durations
from aegisbo.strategies.exact import Exact
from aegisbo.strategies.learned_limits import SURROGATE

VARIANT = 7_302  # the role of these draws in a generator's address (seed, number, role)


@dataclass(frozen=True)
class Drawn:
    """The outcome of one evaluation."""

    seconds: float
    value: float | dict[str, float] | None = None  # as the user would measure it; None if it fails
    level: Any = None  # the value without its noise; of m objectives an array (m,)
    measured: Mapping[str, float] | None = None  # other quantities, by name
    stopped: bool = False  # early, without a value


@dataclass(frozen=True)
class Times:
    """How long evaluations take: the expectation, and how far off it was."""

    durations: Durations
    errors: Array  # (k,) of log seconds, each as likely as the others
    failed: Array  # (f,) seconds of evaluations that failed, likewise

    def draw(self, z: Array, rng: Generator, *, fails: bool) -> float:  # (1, width)
        """Seconds of one evaluation."""
        if fails and len(self.failed):
            return float(rng.choice(self.failed))
        return float(np.exp(self.durations.log_seconds(z)[0][0] + rng.choice(self.errors)))

    def resampled(self, rng: Generator) -> Times:
        """Times drawn from those that the run has seen: too few are known to fit a distribution."""
        return replace(self, errors=rng.choice(self.errors, len(self.errors)))


@dataclass(frozen=True)
class Surface:
    """A function that agrees with what is believed of a number: its expected values, or values drawn from them."""

    belief: Belief | Exact
    path: SamplePaths | None = None  # on the scale of the belief; None for the expected values

    def drawn(self, rng: Generator) -> Surface:
        """Another one, drawn from what is believed; what is known for certain stays as it is."""
        return replace(self, path=draw(self.belief.gp, rng)) if isinstance(self.belief, Belief) else self

    def noise(self, rng: Generator) -> float:
        """The noise of a value, on the scale of the belief."""
        return rng.standard_normal() * float(self.belief.gp.noise) ** 0.5 if isinstance(self.belief, Belief) else 0.0

    def losses(self, Z: Array, noise: float = 0.0) -> Array:  # (k, width) -> (k,)
        """Its values, with noise of this size on the scale of the belief."""
        path, mean = self.path, self.belief.gp.mean
        values = by_blocks(mean if path is None else lambda rows: path(rows)[0], Z)
        return self.belief.scale.measured(values + noise)


@dataclass(frozen=True)
class StandIn:
    """A function to evaluate instead of the user's."""

    optimizer: Core  # of the run
    surfaces: tuple[Surface, ...]  # of its values, or of each objective
    limited: tuple[tuple[Limit, Belief], ...]  # by how much each quantity is beyond its first limit
    chance: Chance | float  # that an evaluation succeeds
    times: Times
    stops: Stops | None  # which evaluations are stopped early

    @classmethod
    def of(cls, optimizer: Core, beliefs: Iterable[Belief | Exact]) -> StandIn:
        """The one that a run expects."""
        evidence, rng = optimizer.evidence(), default_rng(optimizer.seed)
        times, surfaces = _times(optimizer), tuple(map(Surface, beliefs))
        with one_blas_thread():
            limited, chance = tuple(_limited(optimizer, evidence, rng)), chance_of(evidence, rng)
            return cls(optimizer, surfaces, limited, chance, times, stops_of(optimizer, rng))

    def variant(self, number: int, seed: int) -> StandIn:
        """A stand-in that agrees with all results: expected values for even numbers, drawn values for odd ones."""
        rng = default_rng([seed, number, VARIANT])
        surfaces = tuple(surface.drawn(rng) if number % 2 else surface for surface in self.surfaces)
        return replace(self, surfaces=surfaces, times=self.times.resampled(rng))

    def losses(self, Z: Array, noise: Sequence[float] | None = None) -> Array:  # (k, width) -> (k,), or (k, m)
        """Its values, to be minimized, with noise of these sizes on the scales of the beliefs."""
        sizes = [0.0] * len(self.surfaces) if noise is None else noise
        columns = [surface.losses(Z, size) for surface, size in zip(self.surfaces, sizes, strict=True)]
        return np.stack(columns, axis=1) if self.optimizer.settings.objectives else columns[0]

    def evaluate(self, x: Any, rng: Generator) -> Drawn:
        """Evaluate x."""
        z, settings = self.optimizer.space.to_unit(x)[None, :], self.optimizer.settings
        fails = bool(rng.random() >= at(self.chance, z))
        noise = [surface.noise(rng) if settings.noisy else 0.0 for surface in self.surfaces]
        seconds = self.times.draw(z, rng, fails=fails)
        if fails:
            return Drawn(seconds)
        if self.stops is not None and (early := self.stops.draw(z, rng)) is not None:
            return Drawn(min(early, seconds), stopped=True)
        level, value = (settings.direction.turned(self.losses(z, each)[0]) for each in (None, noise))
        names = [objective.name for objective in settings.objectives]
        beyond = {limit: float(belief.scale.measured(belief.gp.mean(z))[0]) for limit, belief in self.limited}
        measured = {limit.name: limit.at(excess) for limit, excess in beyond.items() if limit.name not in names}
        if names:
            return Drawn(seconds, dict(zip(names, value.tolist(), strict=True)), level, measured)
        return Drawn(seconds, float(value), float(level), measured)


def _limited(optimizer: Core, evidence: Evidence, rng: Generator) -> Iterator[tuple[Limit, Belief]]:
    excess = evidence.excess
    if excess is None:
        return
    first = {limit.name: (k, limit) for k, limit in reversed([*enumerate(optimizer.settings.limits)])}
    for k, limit in first.values():
        yield limit, SURROGATE.fit(replace(evidence, y=excess[:, k], excess=None, sd=None), {}, rng)[0]


def _times(optimizer: Core) -> Times:
    timing = optimizer.evidence(within=0.0).timing
    assert timing is not None  # a run with measured times has one
    durations = timing.durations
    if durations is None:
        raise InvalidInput(
            "It is not known how long evaluations took: use a study, or tell(trial, value, seconds=3.2)."
        )
    errors = np.log(np.maximum(timing.typical, SHORTEST)) - durations.log_seconds(timing.X)[0]
    size = float(np.sqrt(np.mean(errors**2)))
    if size > 0.0:  # errors are too small at points that the model was fitted to
        errors = errors * (durations.spread / size)
    failures = [trial for trial in optimizer.trials if trial.state in FAILURES]
    failed = [trial.seconds / optimizer.pace(trial) for trial in failures if trial.seconds]
    return Times(durations, errors, np.array(failed))
