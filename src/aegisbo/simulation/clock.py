"""Workers on a virtual clock: any number of them on one core, reproducibly, with job times drawn from a law."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtri

from aegisbo.arrays import as_vector
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.outcome import Outcome
from aegisbo.runners.evaluation import evaluate
from aegisbo.runners.workers import Finished

JOB_TIMES = 7_301  # the role of these draws in a generator's address (seed, role, number); nobody else's


class Law(Protocol):
    """How long jobs take, as a quantile function: the same luck gives comparable times under every law."""

    def quantile(self, u: float) -> float:
        """The seconds that a share `u` of all jobs stays below, for `u` in [0, 1)."""


def _require_positive(value: float, name: str) -> None:
    if not 0 < value < math.inf:
        raise InvalidInput(f"{name} is {value}: give a positive, finite number.")


@dataclass(frozen=True)
class HalfNormal:
    """The absolute value of a centred normal variable: the paper's law, of mean 1 unless rescaled."""

    scale: float = math.sqrt(math.pi / 2)

    def __post_init__(self) -> None:
        _require_positive(self.scale, "scale")

    def quantile(self, u: float) -> float:
        return float(self.scale * ndtri((1 + u) / 2))


@dataclass(frozen=True)
class Pareto:
    """A heavy tail: a job longer than t has probability (offset / t)^power; of mean 1 unless changed."""

    power: float = 5.0
    offset: float = 0.8

    def __post_init__(self) -> None:
        _require_positive(self.power, "power")
        _require_positive(self.offset, "offset")

    def quantile(self, u: float) -> float:
        return float(self.offset * (1 - u) ** (-1 / self.power))


@dataclass(frozen=True)
class Exponential:
    """Jobs that end at a constant rate, however long they have been running."""

    rate: float = 1.0

    def __post_init__(self) -> None:
        _require_positive(self.rate, "rate")

    def quantile(self, u: float) -> float:
        return -math.log1p(-u) / self.rate


@dataclass(frozen=True)
class Constant:
    """Jobs that all take the same time: asynchronous work falls back into batches."""

    seconds: float = 1.0

    def __post_init__(self) -> None:
        _require_positive(self.seconds, "seconds")

    def quantile(self, u: float) -> float:
        return self.seconds


@dataclass(frozen=True)
class Empirical:
    """One of the measured times, each as likely as the others."""

    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        shortest = min(as_vector(self.seconds, "seconds"), default=None)
        if shortest is None or shortest < 0:
            raise InvalidInput(f"The shortest of the seconds is {shortest}: give at least one, and none below 0.")

    def quantile(self, u: float) -> float:
        return float(np.quantile(self.seconds, u, method="inverted_cdf"))


LAWS: dict[str, Law] = {
    "half-normal": HalfNormal(),
    "pareto": Pareto(),
    "exponential": Exponential(),
    "constant": Constant(),
}


def law_from_text(text: str) -> Law:
    """The law of that name, of mean 1; or, if it names a file, the law of the seconds that the file lists."""
    if text in LAWS:
        return LAWS[text]
    if not Path(text).is_file():
        raise UnknownName("law of job times", text, LAWS)
    try:
        return Empirical(tuple(float(word) for word in Path(text).read_text(encoding="utf-8").split()))
    except ValueError as error:
        raise InvalidInput(f"{text} must list seconds only, separated by white space: {error}") from error


@dataclass(frozen=True)
class _Job:
    x: Any
    started: float
    ends: float
    stopped: bool = False


class VirtualWorkers:
    """`workers` simulated workers whose clock jumps from one completion to the next.

    How long a trial takes depends on the seed and its number alone, so every strategy meets the same times in
    whatever order it works. The first `free` trials take no time, as the initial design in the paper's experiments.
    """

    can_stop = True

    def __init__(self, function: Callable[[Any], Any], workers: int, law: Law, seed: int, free: int = 0) -> None:
        if workers < 1:
            raise InvalidInput(f"workers is {workers}: at least 1 is needed.")
        if seed < 0:
            raise InvalidInput(f"seed is {seed}: give 0 or a positive integer.")
        self.capacity = workers
        self._function = function
        self._law = law
        self._seed = seed
        self._free = free
        self._clock = 0.0
        self._running: dict[int, _Job] = {}

    def now(self) -> float:
        return self._clock

    def seconds(self, number: int) -> float:
        """How long trial `number` takes."""
        if number < self._free:
            return 0.0
        return self._law.quantile(np.random.default_rng([self._seed, JOB_TIMES, number]).random())

    def submit(self, number: int, x: Any) -> None:
        if number in self._running:
            raise InvalidInput(f"Trial {number} is running already: submit it once.")
        if len(self._running) == self.capacity:
            raise InvalidInput(f"All {self.capacity} workers are busy: collect a result before trial {number}.")
        self._running[number] = _Job(x, self._clock, self._clock + self.seconds(number))

    def collect(self, timeout: float | None = None) -> list[Finished]:
        """Let the clock jump to the next completion, but not beyond the timeout."""
        completion = min((job.ends for job in self._running.values()), default=math.inf)
        patience = math.inf if timeout is None else self._clock + timeout
        instant = min(completion, patience)
        if instant < math.inf:
            self._clock = instant
        due = sorted(number for number, job in self._running.items() if job.ends == instant)
        return [self._finish(number, self._running.pop(number)) for number in due]

    def stop(self, number: int) -> None:
        job = self._running.get(number)
        if job is not None and job.ends > self._clock:
            self._running[number] = replace(job, ends=self._clock, stopped=True)

    def close(self) -> None:
        self._running.clear()

    def _finish(self, number: int, job: _Job) -> Finished:
        if job.stopped:
            outcome = Outcome("timed_out", reason=f"Stopped after {job.ends - job.started:g} seconds.")
        else:
            outcome = replace(evaluate(self._function, job.x), seconds=job.ends - job.started)
        return Finished(number, outcome, job.started, job.ends)
