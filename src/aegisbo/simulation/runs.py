"""One simulated run: a strategy on a problem, with workers on a virtual clock.

Runs are paired. The initial design and the job times of a run follow from the problem, the seed and the run's number
alone, so every strategy starts from the same points and meets the same times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.errors import AegisError, InvalidInput
from aegisbo.number import as_finite, as_whole
from aegisbo.optimizer import Core, Settings
from aegisbo.optimizer.policy import default_initial
from aegisbo.outcome import judged
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Finished
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import law_from_text
from aegisbo.simulation.problem import ExactFront, Problem
from aegisbo.simulation.problems import dimension, get
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion, does_several
from aegisbo.strategies.registry import DEFAULT_PRESET, resolve
from aegisbo.study import Study


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Everything that decides a simulated run, checked so that it can run."""

    problem: str
    strategy: str
    preset: str = DEFAULT_PRESET
    workers: int
    budget: int  # evaluations, the initial ones included
    law: str = "half-normal"  # of the job times
    seed: int = 0
    run: int = 0  # runs of one seed differ by this number only
    suggestion: float = 0.0  # time that a choice of the strategy takes on the clock of the jobs

    def __post_init__(self) -> None:
        for name in ("problem", "strategy", "preset", "law"):
            if not isinstance(getattr(self, name), str):
                raise InvalidInput(f"{name} is {getattr(self, name)!r}: give its name.")
        law_from_text(self.law)
        at_least = {"workers": 1, "budget": self.n_initial + 1, "seed": 0, "run": 0, "suggestion": 0}
        for name, least in at_least.items():
            value, timed = getattr(self, name), name == "suggestion"
            number = as_finite(value) if timed else as_whole(value)
            if number is None:
                kind = "a number of seconds" if timed else "a whole number"
                raise InvalidInput(f"{name} is {value!r}: give {kind}, at least {least}.")
            if value < least:
                start = f" ({self.problem} starts with {self.n_initial} initial points)" if name == "budget" else ""
                raise InvalidInput(f"{name} is {value}: give at least {least}{start}.")
        self.settings(self.make_problem(), self.make_strategy())  # refuses invalid names, and a strategy that cannot

    @property
    def n_initial(self) -> int:
        """Points of the initial design, which take no time: two for each coordinate, as in the paper."""
        return default_initial(dimension(self.problem))

    @property
    def run_seed(self) -> int:
        """The seed of the optimizer and of the job times: equal for all strategies, and another for each problem."""
        return int(np.random.SeedSequence([self.seed, self.run, crc32(self.problem.encode())]).generate_state(1)[0])

    def make_problem(self) -> Problem:
        """The problem to be minimized."""
        return get(self.problem)

    def make_strategy(self) -> Strategy:
        """The strategy that chooses the points."""
        return resolve(self.strategy_text, self.preset)

    def settings(self, problem: Problem, strategy: Strategy) -> Settings:
        """The settings of the optimizer."""
        return Settings.checked(
            problem.bounds,
            strategy,
            seed=self.run_seed,
            n_initial=self.n_initial,
            objectives=problem.objectives,
        )

    @property
    def strategy_text(self) -> str:
        """The strategy; `random` needs the number of points, or it would be a Sobol sequence and not one design."""
        return f"random:n={self.budget - self.n_initial}" if self.strategy == "random" else self.strategy


@dataclass(frozen=True)
class SimulatedEvaluation:
    """One point that was evaluated, why and when."""

    number: int
    x: tuple[float, ...]
    value: float | None  # None of several objectives
    move: str  # what chose the point: initial, exploit, ...
    start: float  # on the virtual clock
    finish: float
    suggestion_seconds: float  # real time that the choice took; the only measured thing in a record
    objectives: Mapping[str, float] = field(default_factory=dict)  # by name, if there are several

    def describe(self) -> dict[str, Any]:
        """The evaluation in JSON types, with its value or its objectives."""
        return {name: each for name, each in asdict(self).items() if each is not None and each != {}}


@dataclass(frozen=True)
class SimulatedRun:
    """What happened in one simulated run."""

    spec: Spec
    minimum: float | None  # of the problem, where it is known
    # (budget,) after each completion: the regret, or the best value if the minimum is unknown; see `Problem.scores`
    scores: Array = field(compare=False)
    evaluations: tuple[SimulatedEvaluation, ...]  # in order of completion
    makespan: float  # seconds of the virtual clock until the last completion
    utilization: float  # share of the workers' time spent evaluating
    front: ExactFront | None = None  # of the problem, if it has several objectives

    @property
    def suggestion_seconds(self) -> list[float]:
        """Real seconds of the choices that were left to the strategy."""
        return [each.suggestion_seconds for each in self.evaluations if each.move != "initial"]

    @property
    def is_distance(self) -> bool:
        """Whether the scores are distances from a known minimum or front."""
        return (self.minimum if self.front is None else self.front.hypervolume) is not None

    def describe(self) -> dict[str, Any]:
        """The record in JSON types, with the regret after each completion (null where the minimum is unknown).

        With several objectives it has their gap in place of the regret.
        """
        scores = self.scores.tolist() if self.is_distance else [None] * len(self.scores)
        score = "regret" if self.front is None else "gap"
        return {
            **asdict(self.spec),
            "run_seed": self.spec.run_seed,
            **({"minimum": self.minimum} if self.front is None else {"front": asdict(self.front)}),
            "makespan": self.makespan,
            "utilization": self.utilization,
            "evaluations": [
                {**evaluation.describe(), score: each}
                for evaluation, each in zip(self.evaluations, scores, strict=True)
            ],
        }


@dataclass(frozen=True)
class _SlowStrategy:
    """Chooses like `strategy`, and lets the workers' clock run meanwhile."""

    strategy: Strategy
    workers: VirtualWorkers
    seconds: float  # per choice

    @property
    def several_objectives(self) -> bool:
        return does_several(self.strategy)

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        self.workers.spend(self.seconds)
        return self.strategy.suggest(evidence, memory, rng)


def simulate(spec: Spec) -> SimulatedRun:
    """Spend the budget on the virtual clock; equal specs give equal records, except for measured seconds."""
    problem, choosing = spec.make_problem(), spec.make_strategy()
    judge = partial(judged, wanted=spec.settings(problem, choosing).wanted)
    law = law_from_text(spec.law)
    workers = VirtualWorkers(problem, spec.workers, law, spec.run_seed, free=spec.n_initial, judge=judge)
    optimizer = Core(spec.settings(problem, _SlowStrategy(choosing, workers, spec.suggestion)))
    outcome = run(Study(optimizer), workers, spec.budget)
    evaluations = tuple(_evaluation(job, optimizer, outcome.suggestion_seconds) for job in outcome.finished)
    values = [[*each.objectives.values()] if problem.front else each.value for each in evaluations]
    scores = problem.scores(np.array(values, dtype=np.float64))
    return SimulatedRun(
        spec, problem.minimum, scores, evaluations, outcome.makespan, outcome.utilization, problem.front
    )


def _evaluation(job: Finished, optimizer: Core, seconds: Mapping[int, float]) -> SimulatedEvaluation:
    trial = optimizer.trial(job.number)
    if trial.state != "done":  # a benchmark problem has a value everywhere: without one a comparison means nothing
        raise AegisError(f"The problem has no value at {trial.x.tolist()}: {trial.reason}")
    return SimulatedEvaluation(
        number=job.number,
        x=tuple(trial.x.tolist()),
        value=trial.value,
        move=trial.note["move"],
        start=job.started,
        finish=job.finished,
        suggestion_seconds=seconds[job.number],
        objectives=dict(trial.measured),
    )
