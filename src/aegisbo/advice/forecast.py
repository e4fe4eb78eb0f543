"""The result of simulated runs with other teams of workers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from aegisbo.advice.simulated_run import Foretold
from aegisbo.printable import so_many
from aegisbo.review.health import Finding
from aegisbo.simulation.clock import Member
from aegisbo.simulation.comparison import Quartiles, quartiles

_quartiles = partial(quartiles, method="inverted_cdf")  # does not interpolate towards infinity


@dataclass(frozen=True)
class Forecast:
    """How long one team of workers would take."""

    workers: int
    batches: bool  # workers get new points only when all have finished
    seconds: tuple[float, ...]  # until each simulated run reached the target; infinity if it did not
    evaluations: tuple[float, ...]  # finished by then, likewise

    @property
    def time(self) -> Quartiles:
        """Seconds: the median of all runs and the range of their middle half."""
        return _quartiles(self.seconds)

    @property
    def effort(self) -> Quartiles:
        """Evaluations, likewise."""
        return _quartiles(self.evaluations)

    @property
    def missed(self) -> int:
        """How many runs gave up before they reached the target."""
        return sum(map(math.isinf, self.seconds))

    @property
    def title(self) -> str:
        """The number of workers and how they work."""
        if self.workers == 1:
            return "1 worker"
        return f"{so_many(self.workers, 'worker')}{', in batches' if self.batches else ''}"


@dataclass(frozen=True)
class Advice(Foretold):
    """How long teams of workers would take to find what a run has found."""

    name: str  # of the run
    target: float  # value to be reached; of several objectives a hypervolume
    chosen: bool  # by the user; else it is close to the best of the run
    results: int  # evaluations of the run from which this was learned
    took: tuple[float, int] | None  # seconds and evaluations until the run itself reached it; None if unknown
    given_up_after: int  # evaluations of a simulated run
    forecasts: tuple[Forecast, ...]  # the team of the run itself comes first
    aims: tuple[float, ...]  # what each simulated run had to reach on its own stand-in; of all teams
    had_aim: int | None  # evaluations until the run itself reached their median; None if unknown
    predictions: Finding | None
    suggestion: float  # mean seconds per suggestion
    evaluation: float  # mean seconds per evaluation
    reference: Mapping[str, float] | None = None  # of several objectives: up to which the hypervolume counts
    stopped: int = 0  # evaluations of the run that were stopped early
    members: tuple[Member, ...] = ()  # workers of the run's team, as they were simulated

    @property
    def aimed_at(self) -> str:
        """The target in words."""
        return f"{self.target:.6g}" if self.reference is None else f"a hypervolume of {self.target:.6g}"

    def speedup(self, forecast: Forecast) -> Quartiles | None:
        """How many times as fast as the team of the run, on the same stand-in with the same luck.

        None if no run of either team reached what it aimed at.
        """
        pairs = zip(self.forecasts[0].seconds, forecast.seconds, strict=True)
        ratios = [base / own for base, own in pairs if math.isfinite(min(base, own))]
        return _quartiles(ratios) if ratios else None

    @property
    def aim(self) -> Quartiles:
        """What simulated runs had to reach: the median and the range of the middle half."""
        return _quartiles(self.aims)

    def waits(self, forecast: Forecast) -> bool:
        """Whether suggestions are the bottleneck: a point for each worker takes longer to choose than to evaluate."""
        return self.suggestion * forecast.workers > self.evaluation
