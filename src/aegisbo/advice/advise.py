"""How long other numbers of workers, or batches, would take to find what a run has found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import fmean, median

import numpy as np

from aegisbo.advice.forecast import Advice, Forecast
from aegisbo.advice.stand_in import StandIn
from aegisbo.advice.teams import Team
from aegisbo.errors import InvalidInput, NoModel, StudyError
from aegisbo.optimizer import Optimizer
from aegisbo.report.convergence import convergence
from aegisbo.report.model import model_of
from aegisbo.report.record import Record
from aegisbo.report.source import Run, record_of
from aegisbo.runners.loop import run as run_loop
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.search.blocks import by_blocks
from aegisbo.simulation.many import answers
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.checks import count
from aegisbo.study.terms import count as whole
from aegisbo.study.terms import finite

WORKERS = (2, 4, 8, 16)
RUNS = 5
CLOSE = 0.01  # of the way from the best value to the median one: what comes so close to the best is as good
PATIENCE = 3  # times as many evaluations as the run made, after which a simulated run gives up
NEVER = (math.inf, math.inf)

from_zero = whole("give a whole number, at least 0", least=0)

Reached = tuple[float, float]  # seconds and evaluations until a simulated run reached the target
Watch = Callable[[Iterator[Reached], int], Iterable[Reached]]  # lets somebody see how far it is


@dataclass(frozen=True)
class _Attempt:
    workers: int
    batches: bool
    number: int  # attempts of one number have the same initial points, and the same luck


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
    """How long teams of so many workers would take to reach a value, without waiting and in batches.

    The run is simulated from its beginning on a virtual clock, with its own strategy. Values are those of its model,
    and job times, failures and what has limits are as it has learned them.

    Args:
        run: a result, an optimizer, or the file of a study.
        workers: the sizes of the teams; the one of the run itself is always looked at.
        target: the value to reach; None for 1 % of the way from the best to the median value of the run.
        runs: how many times each team is simulated, each time with other initial points and other luck.
        jobs: how many processes simulate; changes no number.
        seed: decides all random numbers.
        watch: is given the results as they come in, and their number, and passes them on.

    Returns:
        Median and quartiles of time and evaluations for each team, the one of the run itself first.

    Raises:
        InvalidInput: a value cannot be used, or nobody knows how long evaluations took.
        NoModel: there are too few results for a model, or none that keeps all limits.
        StudyError: there is no such study, or its strategy, or a function among its constraints, is not here.
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
    teams = [(size, batches) for size in dict.fromkeys([max(record.capacity, 1), *sizes]) for batches in (False, True)]
    teams = [(size, batches) for size, batches in teams if size > 1 or not batches]
    belief = _belief(record.optimizer)
    value = _close_to_best(record) if target is None else float(target)
    question = _question(record, belief, value, seed)
    attempts = [_Attempt(*team, number) for team in teams for number in range(runs)]
    reached = list(watch(answers(question.answer, attempts, jobs), len(attempts)))
    return Advice(
        name=record.name,
        target=value,
        chosen=target is not None,
        results=len(record.ended),
        took=_took(record, value),
        given_up_after=question.budget,
        forecasts=tuple(
            Forecast(*team, *zip(*reached[k * runs : (k + 1) * runs], strict=True)) for k, team in enumerate(teams)
        ),
    )


@dataclass(frozen=True)
class _Question:
    """What simulated runs are asked: when they reach the target."""

    stand_in: StandIn
    target: float
    budget: int
    suggestion: float  # seconds that the choice of a point takes
    seed: int

    def answer(self, attempt: _Attempt) -> Reached:
        """What one simulated run says; infinity if it gave up."""
        seed = int(np.random.SeedSequence([self.seed, attempt.number]).generate_state(1)[0])
        known = self.stand_in.optimizer
        observed = [trial.describe() for trial in known.observed]
        optimizer = Optimizer.restored(replace(known.settings, seed=seed), {}, observed, [])
        team = Team(self.stand_in, attempt.workers, batches=attempt.batches, suggestion=self.suggestion, seed=seed)
        first: list[Finished] = []

        def watch(job: Finished) -> None:
            level, measured = team.drawn[job.number].level, team.drawn[job.number].measured
            if level is not None and known.direction.reaches(level, self.target) and _keeps(known, measured or {}):
                first.append(job)
                raise StopRun("The target is reached.")

        done = run_loop(optimizer, team, self.budget, watch=watch).finished
        return (first[0].finished, float(sum(job.finished <= first[0].finished for job in done))) if first else NEVER


def _belief(optimizer: Optimizer) -> Belief:
    model = model_of(optimizer)
    if model is None:
        least, values = optimizer.space.cube.parameters + 1, len(optimizer.evidence().y)
        raise NoModel(f"There is no model yet: it takes {least} values, and there are {values}.")
    return model.belief


def _question(record: Record, belief: Belief, target: float, seed: int) -> _Question:
    waits = [decision.seconds for decision in record.decisions.values()]
    return _Question(
        stand_in=StandIn.of(record.optimizer, belief),
        target=_on_the_model(record, belief, target),
        budget=PATIENCE * len(record.ended),
        suggestion=fmean(waits) if waits else 0.0,
        seed=seed,
    )


def _close_to_best(record: Record) -> float:
    """A value as good as the best of the run; what was observed elsewhere does not count."""
    losses = _losses(record)
    if not losses:
        raise NoModel("No evaluation of the run has a value that keeps all limits: name a target.")
    best = min(losses)
    return record.optimizer.direction.turned(best + CLOSE * (median(losses) - best))


def _on_the_model(record: Record, belief: Belief, target: float) -> float:
    """The target, or where the model smooths away what the run has reached, the best of what it leaves."""
    evidence, direction = record.optimizer.evidence(), record.optimizer.direction
    if min(_losses(record), default=math.inf) > direction.turned(target):
        return target
    means = belief.scale.measured(by_blocks(belief.gp.mean, evidence.X[evidence.kept]))
    return direction.turned(max(direction.turned(target), float(means.min())))


def _losses(record: Record) -> list[float]:
    """The values of the run that keep all limits, turned so that less is better."""
    optimizer = record.optimizer
    kept = [trial.value for trial in record.ended if _keeps(optimizer, trial.measured)]
    return [optimizer.direction.turned(value) for value in kept if value is not None]


def _keeps(optimizer: Optimizer, measured: Mapping[str, float]) -> bool:
    limits = optimizer.settings.limits
    return all(limit.name in measured and limit.excess(measured[limit.name]) <= 0.0 for limit in limits)


def _took(record: Record, target: float) -> tuple[float, int] | None:
    """When the run itself had reached the target; nobody knows where values are noisy."""
    if record.optimizer.settings.noisy:
        return None
    for step in convergence(record):
        if step.improved and step.value is not None and record.optimizer.direction.reaches(step.value, target):
            return None if step.elapsed is None else (step.elapsed, step.evaluation)
    return None
