"""Whether going on is worth it: the chance that further evaluations find something better.

A model promises more than functions keep: what it does not know may be lower than all that was measured, and in most
functions it is not. So what the continuations promise counts as much as the promises of this run have been worth. Each
choice by the model promised an improvement with some chance. The number of those that came is taken for Poisson
distributed, with a mean of so many times what was promised; that factor has a gamma distribution, which PRIOR began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean
from typing import cast

import numpy as np
from numpy.random import default_rng

from aegisbo.errors import InvalidInput, NoModel
from aegisbo.gp.linalg import NotPositiveDefinite
from aegisbo.gp.output_transform import without_penalties
from aegisbo.number import as_whole
from aegisbo.optimizer import Core, Trial
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.optimizer.limits import broken_by
from aegisbo.printable import brief, duration, so_many
from aegisbo.review.convergence import convergence
from aegisbo.review.health import FEW, on_predictions
from aegisbo.review.landscape import Models, needed_landscapes
from aegisbo.review.reasons import noted
from aegisbo.review.record import Record, Run, record_of
from aegisbo.stop_when import MOST, Better, StopWhen, better_of
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.continuation import FUNCTIONS, Continuations, continuations
from aegisbo.strategies.model_based import ModelBased

# Promises kept and made, before any of this run; from development functions (docs/experiments/odds.md).
PRIOR = (1.5, 8.0)
DRAWS = 7_305  # the role of these draws in a generator's address (seed, role, results)
SHOWN = 5  # numbers of evaluations for which a chance is told
BETTER = Better(1.0, percent=True)


@dataclass(frozen=True)
class Odds:
    """What further evaluations promise."""

    name: str  # of the run
    evaluations: int  # further ones
    workers: int
    better: Better
    amount: float  # that it stands for, in the units of the value; of several objectives of the hypervolume
    chances: tuple[float, ...] = ()  # of more than that after each further evaluation; empty if nothing can be said
    drawn: tuple[float, ...] = ()  # the same if the model kept all its promises
    kept: int = 0  # improvements that came of those that the later half of the choices promised
    promised: float = 0.0  # how many these were
    half: int | None = None  # evaluations after which half of the expected gain is reached; None if there is none
    seconds: float | None = None  # that they will take; None if it is not known how long evaluations take
    doubt: str = ""  # why nothing can be said

    @property
    def chance(self) -> float | None:
        """The chance that they find something better; None if nothing can be said."""
        return self.chances[-1] if self.chances else None

    @property
    def question(self) -> str:
        """What would be done."""
        time = "" if self.seconds is None else f", about {duration(self.seconds)}"
        return f"{so_many(self.evaluations, 'more evaluation')} with {so_many(self.workers, 'worker')}{time}"

    @property
    def text(self) -> str:
        """All of it in a sentence."""
        if self.chance is None:
            return f"{self.question}: no odds. {self.doubt}"
        units = f" (by {self.amount:.3g})" if self.better.percent else ""
        half = "" if self.half is None else f"; half of the expected gain by {self.half}"
        return f"{self.question}: {in_percent(self.chance)} chance of more than {self.better} better{units}{half}."

    @property
    def details(self) -> tuple[str, ...]:
        """How the chance grows, and what the promises of the model have been worth; nothing without a chance."""
        if self.chance is None:
            return ()
        counts = sorted({-(-self.evaluations * k // SHOWN) for k in range(1, SHOWN + 1)})
        steps = ", ".join(f"{count}: {in_percent(self.chances[count - 1])}" for count in counts)
        return (
            f"The chance by number of evaluations: {steps}.",
            f"If the model kept all its promises it would be {in_percent(self.drawn[-1])}. The later half of the "
            f"choices promised {self.promised:.3g} improvements of this size, and {self.kept} came.",
        )

    def __str__(self) -> str:
        return self.text


def in_percent(chance: float) -> str:
    """A chance as it is told: never as certain."""
    return "less than 1 %" if chance < 0.01 else "more than 99 %" if chance > 0.99 else f"{100.0 * chance:.0f} %"


def odds(
    run: Run, evaluations: int | None = None, *, workers: int | None = None, better: str | float = "1%", seed: int = 0
) -> Odds:
    """Estimate the chance that further evaluations find something better.

    Args:
        run: a result, an optimizer, or a study.
        evaluations: how many; None means what is left of the budget, or else half as many again as there were.
        workers: how many work at a time; None means as many as did.
        better: by how much: "1%" of the distance from the best value to the median of the first ones, or an amount in
            the units of the value.
        seed: decides all random numbers.

    Raises:
        InvalidInput: an argument is not valid.
        StudyError: the study does not exist.
    """
    wanted, record = better_of(better), record_of(run)
    count, team = _whole("evaluations", evaluations), _whole("workers", workers)
    return foretold(record, None, count, team, wanted, seed)


def _whole(name: str, value: int | None) -> int | None:
    if value is not None and as_whole(value, 1, MOST) is None:
        raise InvalidInput(f"{name} is {brief(repr(value))}: give a whole number from 1 to {MOST:,}.")
    return value


def foretold(
    record: Record,
    models: Models | None = None,
    evaluations: int | None = None,
    workers: int | None = None,
    better: Better = BETTER,
    seed: int = 0,
) -> Odds:
    """The odds of a run, whose models may be known."""
    count = _further(record) if evaluations is None else evaluations
    team = record.own_workers if workers is None else workers
    asked = Odds(record.name, count, team, better, amount_of(record, better), seconds=_seconds(record, count, team))
    try:
        belief = _trusted(record, models)
        found = _continued(record.optimizer, belief, asked, seed)
    except NoModel as error:
        return replace(asked, doubt=str(error))
    except (NotPositiveDefinite, np.linalg.LinAlgError, FloatingPointError) as error:  # who asked goes on
        return replace(asked, doubt=f"They cannot be computed: {error}")
    drawn, made = found.chances(asked.amount), (FUNCTIONS + 0.5) / (FUNCTIONS + 1.0)
    with np.errstate(over="ignore"):  # beyond the largest float
        gain = found.gained.mean(axis=0)
    kept, promised = promises(record, asked.amount, belief)
    a, b = PRIOR
    hazard = -np.log1p(-drawn * made)  # a share of all would be certainty
    chances = 1.0 - (1.0 + hazard / (b + promised)) ** -(a + kept)
    half = int(np.searchsorted(gain, 0.5 * gain[-1])) + 1 if gain[-1] > 0.0 else None
    asked = replace(asked, chances=tuple(chances.tolist()), drawn=tuple(drawn.tolist()))
    return replace(asked, kept=kept, promised=promised, half=half)


def _trusted(record: Record, models: Models | None) -> Belief:
    """The model of a run, if odds can be told by it.

    Raises:
        NoModel: they cannot; the message says why.
    """
    if record.objectives:
        raise NoModel("With several objectives there are none: a continuation looks for the lowest of one number.")
    optimizer = record.optimizer
    evidence = optimizer.evidence()
    if (values := int(evidence.kept.sum())) < FEW:
        beside = " that keep all limits" if optimizer.settings.limits else ""
        raise NoModel(f"There are too few results: it takes {FEW} values{beside}, and there are {values}.")
    if optimizer.space.lacks_a_function:
        raise NoModel("A constraint is a function, which the file does not hold: ask the result or the optimizer.")
    if not isinstance(optimizer.strategy, ModelBased):
        raise NoModel(f"The strategy {optimizer.settings.strategy!r} has no model: use another, such as aegis.")
    models = needed_landscapes(optimizer) if models is None else models
    if not models:
        raise NoModel("There is no model yet.")
    poor = next((found for found in on_predictions(record, models) if found.level == "warning"), None)
    if poor is not None:
        raise NoModel(f"The model does not predict well: {poor.text}")
    return cast("Belief", models[None].belief)


def _continued(optimizer: Core, belief: Belief, asked: Odds, seed: int) -> Continuations:
    evidence, strategy = optimizer.evidence(), cast("ModelBased", optimizer.strategy)
    rng = default_rng([optimizer.seed, seed, DRAWS, len(evidence.y)])
    with one_blas_thread():
        return continuations(belief, evidence, strategy.parts.search, asked.evaluations, asked.workers, rng)


def amount_of(record: Record, better: Better) -> float:
    """How much that is: a percentage is one of the distance from the best value to the median of the first ones.

    The first ones are as many as are spread out at the start, ten at least, without penalties such as 1e30. Of several
    objectives it is one of the hypervolume.
    """
    if not better.percent:
        return better.size
    if record.objectives:
        several = record.result.several
        return 0.0 if several is None else 0.01 * better.size * several.final
    losses = np.array([loss for _, loss in _counting(record)])
    if not len(losses):
        return 0.0
    halves = 0.5 * without_penalties(losses)  # the sum of two may be beyond the largest float
    first = halves[: max(2 * len(record.optimizer.space.parameters), FEW)]
    return 0.02 * better.size * float(np.median(first) - halves.min())


def _counting(record: Record) -> Iterator[tuple[Trial, float]]:
    """The trials whose values count, to be minimized: those observed elsewhere, then the others, in their order."""
    optimizer = record.optimizer
    for trial in (*optimizer.observed, *optimizer.trials):
        if trial.value is not None and _counts(optimizer, trial):
            yield trial, float(optimizer.direction.turned(trial.value))


def _counts(optimizer: Core, trial: Trial) -> bool:
    """Whether it may be the best: it keeps all limits and, if it was observed elsewhere, the constraints."""
    elsewhere = trial.number < 0
    return not (broken_by(trial, optimizer.settings.limits) or (elsewhere and optimizer.space.broken(trial.params)))


def promises(record: Record, amount: float, belief: Belief) -> tuple[int, float]:
    """How many improvements by more than an amount came in the later half of the choices, and how many were promised.

    Each choice promised one with the chance that its prediction gave it then.
    """
    optimizer, made = record.optimizer, list[tuple[bool, float]]()
    noise = 0.0
    if optimizer.settings.noisy:
        noise = belief.scale.low_unit * float(belief.gp.noise) ** 0.5
    best = np.inf
    for trial, loss in _counting(record):
        mean, sd = noted(trial, "mean"), noted(trial, "std")
        if mean is not None and sd is not None and np.isfinite(best):
            away = best - amount - float(optimizer.direction.turned(mean))
            chance = NormalDist().cdf(away / max(float(np.hypot(sd, noise)), 1e-300))
            made.append((loss < best - amount, chance))
        best = min(best, loss)
    later = made[len(made) // 2 :]
    return sum(came for came, _ in later), sum(chance for _, chance in later)


def why_end(optimizer: Core, rule: StopWhen) -> str | None:
    """Why a run is to end by a rule; None if it may go on, or if nothing can be said."""
    record = Record.of_optimizer(optimizer, "running")
    if rule.chance is None:
        return _stalled(record, rule)
    found = foretold(record, None, rule.evaluations, better=rule.better)
    if found.chance is None or found.chance >= rule.chance:
        return None
    return (
        f"Going on is hardly worth it: {rule.evaluations} more evaluations have a {in_percent(found.chance)} chance of "
        f"more than {rule.better} better (stop_when={str(rule)!r})."
    )


def _stalled(record: Record, rule: StopWhen) -> str | None:
    steps = convergence(record)
    last = steps[-rule.evaluations - 1 :]
    if len(last) <= rule.evaluations or last[0].best is None or last[-1].best is None:
        return None
    if abs(last[-1].best - last[0].best) > amount_of(record, rule.better):
        return None
    return f"None of the last {rule.evaluations} evaluations was {rule.better} better (stop_when={str(rule)!r})."


def _seconds(record: Record, count: int, workers: int) -> float | None:
    """How long so many evaluations will take, and the choices of their points; None if no time is known."""
    seconds = [trial.seconds for trial in record.ended if trial.seconds]
    choice = record.suggestion
    return max((fmean(seconds) + choice) * max(count / workers, 1.0), choice * count) if seconds else None


def _further(record: Record) -> int:
    """What is left of the budget; if nothing is, half as many as there were."""
    done = len(record.ended)
    return min(max((record.call.get("budget") or 0) - done, 0) or max(-(-done // 2), 1), MOST)
