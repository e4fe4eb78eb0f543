"""One simulated run on a stand-in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aegisbo.advice.stand_in import StandIn
from aegisbo.advice.teams import Team
from aegisbo.optimizer import Core, Settings
from aegisbo.optimizer.limits import broken_by
from aegisbo.runners.loop import run as run_loop
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.simulation.clock import Member
from aegisbo.study import Study


def seed_of(seed: int, number: int) -> int:
    """The seed of simulated runs of this number: with the same one they have the same initial points and luck."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def simulate(
    stand_in: StandIn,
    seed: int,
    budget: int,
    enough: Callable[[Finished, Any], bool],
    *,
    members: Sequence[Member],
    suggestion: float,
    batches: bool = False,
    make: Callable[[Settings], Core] = Core,
) -> Sequence[Finished]:
    """Run the strategy of the run from its beginning, on a virtual clock.

    Args:
        stand_in: what is evaluated.
        seed: decides the initial points and the luck.
        budget: most evaluations.
        enough: is told of each evaluation that counts and of its level, and says whether to end the run.
        members: the workers.
        suggestion: seconds that each choice takes.
        batches: whether workers get new points only when all have finished.
        make: makes the optimizer from its settings.

    Returns:
        The evaluations in the order of their ends.
    """
    known = stand_in.optimizer
    optimizer = make(replace(known.settings, seed=seed))
    optimizer.restore(trial.describe() for trial in known.observed)
    wanted = known.settings.wanted
    team = Team(
        stand_in, len(members), batches=batches, suggestion=suggestion, seed=seed, wanted=wanted, members=members
    )

    def watch(job: Finished) -> None:
        level = team.drawn[job.number].level
        kept = level is not None and not broken_by(optimizer.trial(job.number), known.settings.limits)
        if kept and enough(job, level):
            raise StopRun("The target is reached.")

    return run_loop(Study(optimizer), team, budget, watch=watch).finished
