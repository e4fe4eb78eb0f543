"""How long other numbers of workers, or batches, would take to find what a run has found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from aegisbo.advice.forecast import Advice, Forecast
from aegisbo.advice.goals import Goal, goal_of
from aegisbo.advice.simulated_run import Simulator, Watch, from_zero, require_functions, worst_prediction
from aegisbo.advice.teams import team_of_size
from aegisbo.errors import InvalidInput
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.options import finite
from aegisbo.review.convergence import Step, convergence
from aegisbo.review.curves import stopped_trials
from aegisbo.review.landscape import needed_landscapes
from aegisbo.review.record import Record, Run, record_of
from aegisbo.runners.protocol import Finished
from aegisbo.simulation.many import answers
from aegisbo.strategies.checks import count

WORKERS = (2, 4, 8, 16)
RUNS = 9
OTHERS = 7_304  # the role of the draws of other teams in a generator's address (seed, number, role)
PATIENCE = 3  # a simulated run gives up after this many times the evaluations of the run


class Reached(NamedTuple):
    """The outcome of one simulated run; seconds and evaluations are infinite if it gave up."""

    seconds: float
    evaluations: float
    aim: float  # what it had to reach


@dataclass(frozen=True)
class _SimulatedRun:
    workers: int
    batches: bool
    number: int  # attempts of one number have the same stand-in, the same initial points and the same luck


def advise(
    run: Run,
    workers: Iterable[int] = WORKERS,
    *,
    target: float | None = None,
    runs: int = RUNS,
    jobs: int = 1,
    seed: int = 0,
    watch: Watch[Reached] = lambda reached, total: reached,
) -> Advice:
    """Estimate how long teams of several sizes would take to reach a value, asynchronously and in batches.

    The run is simulated from its beginning on a virtual clock, with its own strategy. A stand-in replaces the function:
    in turn the model's mean and a function drawn from the model. A simulated run aims at what the target
    corresponds to there. Job times, failures and measured quantities are as the run has learned them, and so are the
    paces of its workers and how often they are lost. A smaller team has some of them, drawn at random; a larger one
    has all of them, and others like them.

    Args:
        run: a result, an optimizer, or the file of a study.
        workers: the sizes of the teams; that of the run itself is always included.
        target: the value to reach; None means 1 % of the way from the best to the median value of the run. With several
            objectives, the hypervolume to reach up to `result.reference`; None means 99 % of that of the run.
        runs: how often each team is simulated, each time with another stand-in, other initial points and other luck.
        jobs: how many processes simulate; this does not change the results.
        seed: makes all random numbers repeatable.
        watch: takes the results as they come in and their total number, and passes the results on.

    Returns:
        For each team, that of the run first: median and quartiles of time and evaluations, and how many times as fast
        it is as that of the run. Also whether suggestions are the bottleneck, and whether to trust the model.

    Raises:
        InvalidInput: an argument is not valid, or it is not known how long evaluations took.
        NoModel: there are too few results for a model, or none that keeps all limits.
        StudyError: the study does not exist, or its strategy, a constraint or an objective is an object or function
            that the file does not hold.
    """
    finite("target", target)
    from_zero("seed", seed)
    if not isinstance(workers, Iterable):
        raise InvalidInput(f"workers is {workers!r}: give a list of numbers, such as [2, 4].")
    sizes, runs, jobs = [count("workers", each) for each in workers], count("runs", runs), count("jobs", jobs)
    record = record_of(run)
    require_functions(record.optimizer)
    own = record.own_workers
    teams = [(size, batches) for size in dict.fromkeys([own, *sizes]) for batches in (False, True)]
    teams = [(size, batches) for size, batches in teams if size > 1 or not batches]
    return foretold(record, teams, target=target, runs=runs, jobs=jobs, seed=seed, watch=watch)


def foretold(
    record: Record,
    teams: Sequence[tuple[int, bool]],
    *,
    target: float | None = None,
    runs: int = RUNS,
    jobs: int = 1,
    seed: int = 0,
    watch: Watch[Reached] = lambda reached, total: reached,
) -> Advice:
    """Estimate each team (number of workers, whether in batches); the team of the run comes first."""
    models = needed_landscapes(record.optimizer)
    goal = goal_of(record, target)
    simulator = Simulator.of(record, models, teams[0][0], times=PATIENCE, seed=seed)
    question = _Question(simulator, goal)
    attempts = [_SimulatedRun(*team, number) for team in teams for number in range(runs)]
    reached = list(watch(answers(question.answer, attempts, jobs), len(attempts)))
    by_team = [reached[k * runs : (k + 1) * runs] for k in range(len(teams))]
    first, aims = _first(record, goal, goal.target), tuple(each.aim for each in by_team[0])
    had = _first(record, goal, float(np.quantile(aims, 0.5, method="inverted_cdf")))
    return Advice(
        name=record.name,
        target=goal.target,
        chosen=target is not None,
        results=len(record.ended),
        took=None if first is None or first.elapsed is None else (first.elapsed, _evaluations(record, first)),
        given_up_after=simulator.budget,
        forecasts=tuple(
            Forecast(*team, tuple(each.seconds for each in some), tuple(each.evaluations for each in some))
            for team, some in zip(teams, by_team, strict=True)
        ),
        aims=aims,
        had_aim=None if had is None else _evaluations(record, had),
        predictions=worst_prediction(record, models),
        suggestion=simulator.suggestion,
        evaluation=fmean(trial.seconds for trial in (*record.ended, *stopped_trials(record)) if trial.seconds),
        reference=goal.reference,
        stopped=len(stopped_trials(record)),
        members=simulator.members,
    )


def _evaluations(record: Record, step: Step) -> int:
    """How many evaluations had ended with this one, those that were stopped early included."""
    ends = [record.ended_at(trial) for trial in stopped_trials(record)]
    return step.evaluation + sum(end is not None and record.elapsed(end) <= (step.elapsed or 0.0) for end in ends)


def _first(record: Record, goal: Goal, aim: float) -> Step | None:
    """The evaluation with which the run itself reached the aim; None if values are noisy."""
    if record.optimizer.settings.noisy:
        return None
    return next((step for step in convergence(record) if goal.reached_by(step, aim)), None)


@dataclass(frozen=True)
class _Question:
    """The question for simulated runs: how soon they reach what corresponds to the goal of the run."""

    simulator: Simulator
    goal: Goal

    def answer(self, attempt: _SimulatedRun) -> Reached:
        """Simulate one run."""
        simulator = self.simulator
        rng = np.random.default_rng([simulator.seed, attempt.number, OTHERS])
        with one_blas_thread():
            stand_in = simulator.variant(attempt.number)
            aim = self.goal.aim(stand_in)
            reaches = self.goal.judge(stand_in, aim)
        first: list[Finished] = []

        def enough(job: Finished, level: Any) -> bool:
            first.extend([job] if reaches(level) else [])
            return bool(first)

        members = team_of_size(simulator.members, attempt.workers, rng)
        done = simulator.run(stand_in, attempt.number, enough, members=members, batches=attempt.batches)
        if not first:
            return Reached(math.inf, math.inf, aim)
        return Reached(first[0].finished, float(sum(job.finished <= first[0].finished for job in done)), aim)
