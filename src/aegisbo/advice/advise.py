"""How long other numbers of workers, or batches, would take to find what a run has found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple, cast

import numpy as np

from aegisbo.advice.forecast import Advice, Forecast
from aegisbo.advice.stand_in import StandIn
from aegisbo.advice.teams import Team
from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput, NoModel, StudyError
from aegisbo.optimizer import Core
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.optimizer.limits import broken_by
from aegisbo.options import count as whole
from aegisbo.options import finite
from aegisbo.report.convergence import Step, convergence
from aegisbo.report.health import on_predictions
from aegisbo.report.landscape import Landscape, needed_landscape
from aegisbo.report.record import Record, Run, record_of
from aegisbo.runners.loop import run as run_loop
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.simulation.many import answers
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.checks import count
from aegisbo.study import Study

WORKERS = (2, 4, 8, 16)
RUNS = 9
CLOSE = 0.01  # share of the way from the best value to the median; a value this close counts as good as the best
PATIENCE = 3  # a simulated run gives up after this many times the evaluations of the run

from_zero = whole("give a whole number, at least 0", least=0)


class Reached(NamedTuple):
    """The outcome of one simulated run; seconds and evaluations are infinite if it gave up."""

    seconds: float
    evaluations: float
    aim: float  # what it had to reach


Watch = Callable[[Iterator[Reached], int], Iterable[Reached]]  # shows progress


@dataclass(frozen=True)
class _Attempt:
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
    watch: Watch = lambda reached, total: reached,
) -> Advice:
    """Estimate how long teams of several sizes would take to reach a value, asynchronously and in batches.

    The run is simulated from its beginning on a virtual clock, with its own strategy. A stand-in replaces the function:
    in turn the model's mean and a function drawn from the model. A simulated run aims at what the target
    corresponds to there. Job times, failures and measured quantities are as the run has learned them.

    Args:
        run: a result, an optimizer, or the file of a study.
        workers: the sizes of the teams; that of the run itself is always included.
        target: the value to reach; None means 1 % of the way from the best to the median value of the run.
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
        StudyError: the study does not exist, or its strategy or a constraint is an object that the file does not hold.
    """
    finite("target", target)
    from_zero("seed", seed)
    if not isinstance(workers, Iterable):
        raise InvalidInput(f"workers is {workers!r}: give a list of numbers, such as [2, 4].")
    sizes, runs, jobs = [count("workers", each) for each in workers], count("runs", runs), count("jobs", jobs)
    record = record_of(run)
    if record.optimizer.space.lacks_a_function:
        raise StudyError(
            "One of the constraints is a function, which is not part of the file, so the study cannot be simulated "
            "from there: pass the `Optimizer` to `aegisbo.advice.advise`."
        )
    own = max(record.capacity or record.optimizer.most_pending, 1)
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
    watch: Watch = lambda reached, total: reached,
) -> Advice:
    """Estimate each team (number of workers, whether in batches); the team of the run comes first."""
    model = needed_landscape(record.optimizer)
    question = _question(record, model, target, seed)
    value = record.optimizer.direction.turned(question.target)
    attempts = [_Attempt(*team, number) for team in teams for number in range(runs)]
    reached = list(watch(answers(question.answer, attempts, jobs), len(attempts)))
    by_team = [reached[k * runs : (k + 1) * runs] for k in range(len(teams))]
    first, aims = _first(record, value), tuple(each.aim for each in by_team[0])
    had = _first(record, float(np.quantile(aims, 0.5, method="inverted_cdf")))
    return Advice(
        name=record.name,
        target=value,
        chosen=target is not None,
        results=len(record.ended),
        took=None if first is None or first.elapsed is None else (first.elapsed, first.evaluation),
        given_up_after=question.budget,
        forecasts=tuple(
            Forecast(*team, tuple(each.seconds for each in some), tuple(each.evaluations for each in some))
            for team, some in zip(teams, by_team, strict=True)
        ),
        aims=aims,
        had_aim=None if had is None else had.evaluation,
        predictions=next(on_predictions(record, {None: model}), None),
        suggestion=question.suggestion,
        evaluation=fmean(trial.seconds for trial in record.ended if trial.seconds),
    )


@dataclass(frozen=True)
class _Question:
    """The question for simulated runs: how soon they find a value as good as the target."""

    stand_in: StandIn  # the one that the run expects; variants are made from it
    points: Array  # (n, width) points of the run whose values count
    losses: Array  # (n,) measured there
    target: float  # turned so that less is better, as the losses are
    budget: int
    suggestion: float  # seconds per suggestion
    seed: int

    def answer(self, attempt: _Attempt) -> Reached:
        """Simulate one run."""
        seed = int(np.random.SeedSequence([self.seed, attempt.number]).generate_state(1)[0])
        with one_blas_thread():
            stand_in = self.stand_in.variant(attempt.number, self.seed)
            known, aim = stand_in.optimizer, stand_in.optimizer.direction.turned(self.aim(stand_in))
        optimizer = Core(replace(known.settings, seed=seed))
        optimizer.restore(trial.describe() for trial in known.observed)
        team = Team(stand_in, attempt.workers, batches=attempt.batches, suggestion=self.suggestion, seed=seed)
        first: list[Finished] = []

        def watch(job: Finished) -> None:
            level, broken = team.drawn[job.number].level, broken_by(optimizer.trial(job.number), known.settings.limits)
            if level is not None and known.direction.reaches(level, aim) and not broken:
                first.append(job)
                raise StopRun("The target is reached.")

        done = run_loop(Study(optimizer), team, self.budget, watch=watch).finished
        if not first:
            return Reached(math.inf, math.inf, aim)
        return Reached(first[0].finished, float(sum(job.finished <= first[0].finished for job in done)), aim)

    def aim(self, stand_in: StandIn) -> float:
        """The value on this stand-in that corresponds to the target on the function.

        Both lie at the same share of the way from the lowest to the median value at the points of the run.
        """
        if not len(self.points):
            return self.target
        lowest, unit = float(self.losses.min()), float(np.median(self.losses) - self.losses.min())
        there = stand_in.losses(self.points)
        stretch = float(np.median(there) - there.min()) / unit if unit > 0.0 else 1.0
        return float(there.min()) + (self.target - lowest) * stretch


def _question(record: Record, model: Landscape, target: float | None, seed: int) -> _Question:
    waits = [decision.asked.seconds for decision in record.decisions.values()]
    optimizer, limits = record.optimizer, record.optimizer.settings.limits
    counting = [trial for trial in record.ended if trial.value is not None and not broken_by(trial, limits)]
    losses = optimizer.direction.turned(np.array([trial.value for trial in counting], dtype=np.float64))
    aim = _close_to_best(losses) if target is None else optimizer.direction.turned(float(target))
    return _Question(
        stand_in=StandIn.of(optimizer, cast("Belief", model.belief)),
        points=np.array([optimizer.space.encoded(trial.params) for trial in counting]),
        losses=losses,
        target=aim,
        budget=PATIENCE * len(record.ended),
        suggestion=fmean(waits) if waits else 0.0,
        seed=seed,
    )


def _close_to_best(losses: Array) -> float:  # (n,)
    """A loss nearly as good as the best of the run."""
    if not len(losses):
        raise NoModel("No evaluation of the run has a value that keeps all limits: name a target.")
    best = float(losses.min())
    return best + CLOSE * (float(np.median(losses)) - best)


def _first(record: Record, target: float) -> Step | None:
    """The evaluation with which the run itself reached the target; None if values are noisy."""
    if record.optimizer.settings.noisy:
        return None
    reaches = record.optimizer.direction.reaches
    for step in convergence(record):
        if step.improved and step.value is not None and reaches(step.value, target):
            return step
    return None
