"""One run of one method on the virtual clock.

Runs are paired: the initial design, the job times and the noise follow from the problem and the seed alone
(`starts.py`). Every method starts from the same 2d points, unless each is to begin as it does by itself, and its
k-th evaluation takes the same time.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from statistics import median
from typing import Any

import numpy as np

from aegisbo import Optimizer
from aegisbo.runners.loop import run
from aegisbo.simulation.problems import Problem
from aegisbo.strategies.presets import DEFAULT_PRESET
from aegisbo.strategies.registry import STRATEGIES, resolve
from benchmarks.peers.catalog import PEERS
from benchmarks.peers.driven import Driven
from benchmarks.peers.foreign import Method
from benchmarks.problems.basins import right_basin
from benchmarks.problems.functions import NOISE
from benchmarks.problems.named import problem_named
from benchmarks.problems.tables import Table
from benchmarks.regret.starts import STARTS, Start
from benchmarks.regret.variants import VARIANTS
from benchmarks.traces import trace_of

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
    starts: str  # which initial points and job times: one of STARTS


@dataclass(frozen=True)
class Outcome(Job):
    """How far the best point was from the minimum after each quarter of the budget, and what the search cost.

    Regret is measured without noise. Where nobody knows the minimum it is measured from 0.
    """

    regret_quarter: float
    regret_half: float
    regret_three_quarters: float
    regret: float
    median_seconds: float  # processor time of one suggestion
    total_seconds: float  # processor time of all suggestions
    makespan: float  # when the last evaluation ended, on the virtual clock
    basin: str = ""  # 1 if the best point lies in the valley of the minimum, 0 if not, empty if nobody asked
    trace: str = ""  # each improvement as evaluations:time:regret


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
    start = STARTS[job.starts](problem_named(job.problem), job.seed, job.budget)
    function = _Measured(start.problem, start.seed)
    method = Driven(_method(job, start))
    for x in start.known:
        method.method.observe(x, function(x))
    record = run(method, start.workers(function, job.workers), job.budget - len(start.known))
    regrets = np.minimum.accumulate(function.values) - (start.problem.minimum or 0.0)
    marks = [float(regrets[int(share * job.budget) - 1]) for share in MARKS]
    seconds = method.seconds[start.n_initial or 0 :]
    times = [0.0] * len(start.known) + [job.finished for job in record.finished]
    costs = median(seconds), sum(seconds), record.makespan
    trace = trace_of("{}:{:.4g}:{:.4g}", range(1, len(times) + 1), times, regrets)
    return Outcome(*astuple(job), *marks, *costs, _basin(start, function), trace)


def _basin(start: Start, function: _Measured) -> str:
    if isinstance(start.problem, Table):
        return ""
    found = right_basin(start.problem, function.points[int(np.argmin(function.values))])
    return "" if found is None else str(int(found))


def _method(job: Job, start: Start) -> Method:
    if job.method in PEERS:
        noisy = start.problem.name in NOISE
        return PEERS[job.method].start(start.problem.bounds, start.seed, start.n_initial, noisy)
    text, _, preset = job.method.partition("/")
    strategy = resolve(text, VARIANTS.get(preset, preset or DEFAULT_PRESET))
    return Optimizer(start.problem.bounds, strategy=strategy, seed=start.seed, n_initial=start.n_initial)


class _Measured:
    """A problem that remembers its true values and returns them with noise, if it has any."""

    def __init__(self, problem: Problem | Table, seed: int) -> None:
        self.points: list[Any] = []  # in order of completion
        self.values: list[float] = []
        self._problem = problem
        self._noise = NOISE.get(problem.name, 0.0)
        self._rng = np.random.default_rng([seed, NOISE_DRAWS])

    def __call__(self, x: Any) -> float:
        self.points.append(x)
        self.values.append(self._problem(x))
        return self.values[-1] + self._noise * self._rng.normal()
