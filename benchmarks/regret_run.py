"""One run of one method on the virtual clock.

Runs are paired: the initial design, the job times and the noise follow from the problem and the seed alone, so every
method starts from the same 2d points, and its k-th evaluation ends at the same time and is off by the same error.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from statistics import median
from time import process_time
from typing import Any
from zlib import crc32

import numpy as np
from regret_functions import NOISE, OWN
from regret_peers import PEERS, Method
from regret_variants import VARIANTS

from aegisbo.arrays import Array
from aegisbo.optimizer import Optimizer
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Asked
from aegisbo.simulation import problems
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import HalfNormal
from aegisbo.simulation.problems import Problem
from aegisbo.strategies.presets import DEFAULT_PRESET
from aegisbo.strategies.registry import STRATEGIES, resolve

MARKS = (0.25, 0.5, 0.75, 1.0)  # of the budget: where regret is read
NOISE_DRAWS = 7_302  # the role of these draws in a generator's address


@dataclass(frozen=True)
class Job:
    """Everything that decides a run."""

    method: str
    problem: str
    seed: int
    workers: int
    budget: int  # evaluations, the initial ones included


@dataclass(frozen=True)
class Outcome(Job):
    """How far the best point was from the minimum after each quarter of the budget, and what its search cost.

    Regret is measured without noise, and from 0 where nobody knows the minimum.
    """

    regret_quarter: float
    regret_half: float
    regret_three_quarters: float
    regret: float
    median_seconds: float  # processor time of a suggestion
    total_seconds: float  # and of all of them

    @property
    def job(self) -> Job:
        return Job(self.method, self.problem, self.seed, self.workers, self.budget)


def problem_named(name: str) -> Problem:
    return OWN[name] if name in OWN else problems.get(name)


def our_methods(strategies: Iterable[str], presets: Iterable[str]) -> list[str]:
    """`strategy/preset`, or the strategy alone where presets make no difference; a name that is not known raises."""
    names: dict[str, None] = {}  # in order, each once
    for text in strategies:
        for preset in presets:
            resolve(text, VARIANTS.get(preset, preset))
            names[f"{text}/{preset}" if STRATEGIES[text.partition(":")[0]].uses_preset else text] = None
    return list(names)


def perform(job: Job) -> Outcome:
    warnings.simplefilter("ignore")  # of the other libraries, about their own inner workings
    problem = problem_named(job.problem)
    seed = int(np.random.SeedSequence([job.seed, crc32(job.problem.encode())]).generate_state(1)[0])
    function = _Measured(problem, seed)
    method = _Timed(_method(job, problem, seed))
    run(method, VirtualWorkers(function, job.workers, HalfNormal(), seed, free=2 * problem.d), job.budget)
    regrets = np.minimum.accumulate(function.values) - (problem.minimum or 0.0)
    marks = [float(regrets[int(share * job.budget) - 1]) for share in MARKS]
    seconds = method.seconds[2 * problem.d :]
    return Outcome(*astuple(job), *marks, median(seconds), sum(seconds))


def _method(job: Job, problem: Problem, seed: int) -> Method:
    if job.method in PEERS:
        return PEERS[job.method].start(problem.bounds, seed, problem.name in NOISE)
    text, _, preset = job.method.partition("/")
    strategy = resolve(text, VARIANTS.get(preset, preset or DEFAULT_PRESET))
    return Optimizer(problem.bounds, strategy=strategy, seed=seed)


class _Measured:
    """A problem that remembers its true values and tells them with noise, if it has any."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.values: list[float] = []  # in order of completion
        self._problem = problem
        self._noise = NOISE.get(problem.name, 0.0)
        self._rng = np.random.default_rng([seed, NOISE_DRAWS])

    def __call__(self, x: Array) -> float:
        self.values.append(self._problem(x))
        return self.values[-1] + self._noise * self._rng.normal()


class _Timed:
    """A method as the loop drives it, with the processor time of each suggestion."""

    pending: tuple[Asked, ...] = ()
    memory: Mapping[str, Any] = {}

    def __init__(self, method: Method) -> None:
        self.seconds: list[float] = []
        self.tell = method.tell
        self._ask = method.ask

    def ask(self) -> Asked:
        begin = process_time()
        trial = self._ask()
        self.seconds.append(process_time() - begin)
        return trial

    def fail(self, number: int, reason: str, *, state: str) -> None:
        raise RuntimeError(f"Trial {number} {state}: {reason}. Every problem of this benchmark has a value everywhere.")
