"""A run, simulated from its beginning on a virtual clock: with its own strategy, on a stand-in for its function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from aegisbo.advice.stand_in import StandIn
from aegisbo.advice.teams import Team, members_of
from aegisbo.errors import StudyError
from aegisbo.optimizer import Core, Settings
from aegisbo.optimizer.limits import broken_by
from aegisbo.options import count
from aegisbo.review.curves import stopped_trials
from aegisbo.review.health import Finding, on_predictions
from aegisbo.review.landscape import Models
from aegisbo.review.record import Record
from aegisbo.runners.loop import run as run_loop
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.simulation.clock import Member
from aegisbo.study import Study

T = TypeVar("T")
Watch = Callable[[Iterator[T], int], Iterable[T]]  # shows progress: takes answers and how many there will be

from_zero = count("give a whole number, at least 0", least=0)


def require_functions(optimizer: Core) -> None:
    """Refuse a study that cannot be simulated, because it does not hold a function that choices need."""
    absent = [each for each in optimizer.settings.objectives if each.known is not None and each.known.call is None]
    if absent or optimizer.space.lacks_a_function:
        raise StudyError(
            f"One of the {'objectives' if absent else 'constraints'} is a function, which is not part of the file, so "
            "the study cannot be simulated from there: pass the `Optimizer` to `aegisbo.advice.advise`."
        )


class Foretold:
    """What simulated runs tell, as far as the model that they stand on can be trusted."""

    predictions: Finding | None  # what the report says about the model's predictions; None if there are too few

    @property
    def doubtful(self) -> bool:
        """Whether predictions fail: stand-ins drawn from such a model do not resemble the function."""
        return self.predictions is not None and self.predictions.level == "warning"


def worst_prediction(record: Record, models: Models) -> Finding | None:
    """What the report says about the predictions of the models; of several the first that is a warning."""
    return min(on_predictions(record, models), key=lambda found: found.level != "warning", default=None)


@dataclass(frozen=True)
class Simulator:
    """What all simulated runs of one run share. Those of one number have the same stand-in and the same luck."""

    stand_in: StandIn  # the one that the run expects; variants are made from it
    members: tuple[Member, ...]  # of the team of the run
    suggestion: float  # seconds that each choice takes
    budget: int  # most evaluations of a simulated run
    seed: int

    @classmethod
    def of(cls, record: Record, models: Models, workers: int, *, times: int, seed: int) -> Simulator:
        """A simulator of a run, with so many times its evaluations."""
        return cls(
            stand_in=StandIn.of(record.optimizer, [model.belief for model in models.values()]),
            members=members_of(record, workers),
            suggestion=record.suggestion,
            budget=times * (len(record.ended) + len(stopped_trials(record))),
            seed=seed,
        )

    def variant(self, number: int) -> StandIn:
        """The stand-in of the simulated runs of this number."""
        return self.stand_in.variant(number, self.seed)

    def run(
        self,
        stand_in: StandIn,  # what is evaluated
        number: int,  # decides the initial points and the luck
        enough: Callable[[Finished, Any], bool],  # of each evaluation that counts, and its level: whether to end
        *,
        members: Sequence[Member],
        batches: bool = False,  # whether workers get new points only when all have finished
        make: Callable[[Settings], Core] = Core,
    ) -> Sequence[Finished]:
        """Simulate one run; its evaluations in the order of their ends."""
        known, seed = stand_in.optimizer, int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])
        optimizer = make(replace(known.settings, seed=seed))
        optimizer.restore(trial.describe() for trial in known.observed)
        team = Team(
            stand_in,
            len(members),
            batches=batches,
            suggestion=self.suggestion,
            seed=seed,
            wanted=known.settings.wanted,
            members=members,
        )

        def watch(job: Finished) -> None:
            level = team.drawn[job.number].level
            kept = level is not None and not broken_by(optimizer.trial(job.number), known.settings.limits)
            if kept and enough(job, level):
                raise StopRun("The target is reached.")

        return run_loop(Study(optimizer), team, self.budget, watch=watch).finished
