"""What the points of each adviser brought: simulated runs with them, and without those of one adviser.

Both run on the same stand-in, from the same initial points and with the same luck. What differs is that without an
adviser the strategy chooses a point wherever the adviser had given one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from scipy.special import stdtrit

from aegisbo.advice.goals import Goal, goal_of
from aegisbo.advice.simulated_run import Foretold, Simulator, Watch, from_zero, require_functions, worst_prediction
from aegisbo.errors import InvalidInput
from aegisbo.events import Added, Asked
from aegisbo.optimizer import Core, Settings
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.optimizer.trial import ADDED, Trial, move_of
from aegisbo.review.convergence import convergence
from aegisbo.review.health import Finding
from aegisbo.review.landscape import needed_landscapes
from aegisbo.review.record import Record, Run, record_of
from aegisbo.runners.protocol import Finished
from aegisbo.simulation.many import answers
from aegisbo.space import Params
from aegisbo.strategies.checks import count

RUNS = 12
SHARES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)  # of the way from the best value to the median: the levels that are compared
SURE = 0.975  # of a t-distribution, for an interval of 95 %

Lengths = tuple[float, ...]  # evaluations until each level was reached; of one simulated run


@dataclass(frozen=True)
class Credit:
    """What the points of one author brought."""

    author: str
    points: int  # evaluated
    improved: int  # of them gave a new best value, or added hypervolume
    sooner: tuple[float, ...]  # evaluations that each simulated run was sooner with them, in the mean over all levels

    @property
    def mean(self) -> float:
        """By how many evaluations the run was sooner with these points; negative if they cost more than that."""
        return fmean(self.sooner)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the mean of many more simulated runs would lie, with 95 % confidence."""
        n = len(self.sooner)
        half = math.inf if n < 2 else float(stdtrit(n - 1, SURE)) * stdev(self.sooner) / math.sqrt(n)
        return self.mean - half, self.mean + half

    @property
    def verdict(self) -> str:
        """What can be said: "helped", "cost more" than they brought, or "unclear"."""
        low, high = self.interval
        return "helped" if low > 0.0 else "cost more" if high < 0.0 else "unclear"


@dataclass(frozen=True)
class Credits(Foretold):
    """What advisers brought to a run."""

    name: str  # of the run
    results: int  # evaluations of the run
    credits: tuple[Credit, ...]  # the most useful first
    predictions: Finding | None


class Advised(Core):
    """A run in which advisers give the points of some trials."""

    def __init__(self, settings: Settings, points: Mapping[int, Params]) -> None:
        super().__init__(settings)
        self._points = points

    def choose(self, within: float | None = None) -> Asked:
        """The next point: that of an adviser if one gave it."""
        given, known = self._points.get(len(self.trials)), (*self.waiting, *(trial.params for trial in self.trials))
        if given is not None and (self.settings.noisy or given not in known):
            self.apply(Added(given))
        return super().choose(within)


@dataclass(frozen=True)
class _Question:
    """How soon a simulated run reaches each level, if some of the points are the strategy's own."""

    simulator: Simulator
    goals: Sequence[Goal]
    points: Mapping[str, Mapping[int, Params]]  # of each author, by place among the evaluations

    def answer(self, attempt: tuple[str | None, int]) -> Lengths:
        """Simulate one run without the points of an author, or with those of all."""
        simulator, (without, number) = self.simulator, attempt
        with one_blas_thread():
            stand_in = simulator.variant(number)
            reached = [goal.judge(stand_in, goal.aim(stand_in)) for goal in self.goals]
        given = {n: x for author, points in self.points.items() if author != without for n, x in points.items()}
        lengths = [math.inf] * len(reached)

        def enough(job: Finished, level: Any) -> bool:
            for k, judge in enumerate(reached):
                if judge(level) and lengths[k] == math.inf:
                    lengths[k] = job.finished
            return math.inf not in lengths

        done = simulator.run(
            stand_in, number, enough, members=simulator.members, make=lambda settings: Advised(settings, given)
        )
        return tuple(
            float(simulator.budget if at == math.inf else sum(job.finished <= at for job in done)) for at in lengths
        )


def credit(
    run: Run,
    *,
    runs: int = RUNS,
    jobs: int = 1,
    seed: int = 0,
    watch: Watch[Lengths] = lambda lengths, total: lengths,
) -> Credits:
    """Estimate by how many evaluations the points of each author made a run sooner.

    The run is simulated from its beginning with its own strategy, workers and number of evaluations, on stand-ins as
    for `advise`: with all points that were added, each in its place, and without those of one author, where the
    strategy then chooses. Both are compared in when they reach six levels from 50 % to 1 % of the way from the best to
    the median value of the run (with several objectives, from half of its hypervolume to 99 %). A level that is not
    reached counts as the last evaluation.

    Args:
        run: a result, an optimizer, or the file of a study.
        runs: how many stand-ins; each simulated run has another one, other initial points and other luck.
        jobs: how many processes simulate; this does not change the results.
        seed: makes all random numbers repeatable.
        watch: takes the lengths as they come in and their total number, and passes them on.

    Returns:
        A credit for each author, the most useful first.

    Raises:
        InvalidInput: an argument is not valid, nobody has added a point, or it is not known how long evaluations took.
        NoModel: there are too few results for a model, or none that keeps all limits.
        StudyError: the study does not exist, or its strategy, a constraint or an objective is an object or function
            that the file does not hold.
    """
    from_zero("seed", seed)
    runs, jobs, record = count("runs", runs), count("jobs", jobs), record_of(run)
    points = _points_of(record)
    require_functions(record.optimizer)
    models = needed_landscapes(record.optimizer)
    simulator = Simulator.of(record, models, record.own_workers, times=1, seed=seed)
    question = _Question(simulator, [goal_of(record, None, close) for close in SHARES], points)
    absent = (None, *points)
    attempts = [(author, number) for number in range(runs) for author in absent]
    lengths = list(watch(answers(question.answer, attempts, jobs), len(attempts)))
    places = {trial.number: place for place, trial in enumerate(_evaluated(record))}
    improved = {places.get(step.number) for step in convergence(record) if step.improved}
    credits = []
    for k, (author, given) in enumerate(points.items(), start=1):
        pairs = zip(lengths[:: len(absent)], lengths[k :: len(absent)], strict=True)
        sooner = tuple(fmean(without) - fmean(with_all) for with_all, without in pairs)
        credits.append(Credit(author, len(given), len(improved.intersection(given)), sooner))
    return Credits(
        record.name,
        len(record.ended),
        tuple(sorted(credits, key=lambda each: -each.mean)),
        worst_prediction(record, models),
    )


def _points_of(record: Record) -> dict[str, dict[int, Params]]:
    """The points that each author has added and that were evaluated, by their place among what was evaluated."""
    points: dict[str, dict[int, Params]] = {}
    for place, trial in enumerate(_evaluated(record)):
        if move_of(trial) == ADDED:
            points.setdefault(trial.author, {})[place] = trial.params
    if not points:
        raise InvalidInput(
            f"Nobody has added a point to {record.name} that was evaluated, so there is no adviser to credit. What "
            "each move of the strategy gained is in the report (`aegisbo report`)."
        )
    return points


def _evaluated(record: Record) -> list[Trial]:
    """What counts as an evaluation, in the order of choices: simulated runs have nothing else."""
    return [trial for trial in record.trials if trial.state not in ("pending", "lost", "forgotten")]
