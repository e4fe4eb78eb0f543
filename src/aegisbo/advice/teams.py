"""Workers on a virtual clock that evaluate a stand-in, asynchronously or in batches; as uneven as those of the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from numpy.random import Generator, default_rng

from aegisbo.advice.stand_in import Drawn, StandIn
from aegisbo.errors import Stopped
from aegisbo.outcome import ONE_NUMBER, Wanted, judged
from aegisbo.review.record import Record
from aegisbo.review.team import team_of
from aegisbo.runners.protocol import News
from aegisbo.simulation.clock import Member, VirtualWorkers
from aegisbo.simulation.laws import constant


def members_of(record: Record, workers: int) -> tuple[Member, ...]:
    """The workers of a run as they are: their paces, and how often evaluations were lost with them.

    Each is lost as often as it was, drawn towards the others by one loss. It is back at once.
    """
    known = {each.worker: each for each in team_of(record)}
    lost, busy = (sum(getattr(each, name) for each in known.values()) for name in ("lost", "busy"))
    rest = busy / lost if lost and busy else math.inf  # seconds of all workers until one of them is lost
    return tuple(
        Member(each.pace, stays=(each.busy + rest) / (each.lost + 1)) if each else Member(stays=rest)
        for each in map(known.get, range(workers))
    )


def team_of_size(members: Sequence[Member], workers: int, rng: Generator) -> tuple[Member, ...]:
    """A team of another size: some of these members, or all of them and some again, drawn at random."""
    drawn = rng.permutation(len(members))[:workers]
    more = rng.integers(len(members), size=max(workers - len(members), 0))
    return tuple(members[k] for k in (*sorted(drawn), *more))


class Team(VirtualWorkers):
    """Virtual workers that evaluate the stand-in; the luck of a job depends only on the seed and its number.

    In batches, workers get new points only when all have finished. Each suggestion takes `suggestion` seconds.
    """

    def __init__(
        self,
        stand_in: StandIn,
        workers: int,
        *,
        batches: bool,
        suggestion: float,
        seed: int,
        wanted: Wanted = ONE_NUMBER,
        members: Sequence[Member] = (),
    ) -> None:
        judge = partial(judged, wanted=wanted)
        super().__init__(self._answer, workers, constant, seed, judge=judge, members=members)
        self.drawn: dict[int, Drawn] = {}  # by trial number
        self._stand_in = stand_in
        self._batches = batches
        self._suggestion = suggestion

    def submit(self, number: int, x: Any) -> int:
        """Start an evaluation, after the time that the choice of its point took."""
        self.spend(self._suggestion)
        self.drawn[number] = self._stand_in.evaluate(x, default_rng([self._seed, number]))
        return super().submit(number, number)

    def seconds(self, number: int) -> float:
        """How long trial `number` takes."""
        return self.drawn[number].seconds

    def collect(self, timeout: float | None = None) -> list[News]:
        """The jobs that have ended; in batches, none before all have."""
        if not self._batches:
            return super().collect(timeout)
        if timeout is not None:  # the loop is still handing out the points of a batch
            return []
        batch: list[News] = []
        while ended := super().collect():
            batch += ended
        return batch

    def _answer(self, number: int) -> Any:
        drawn = self.drawn[number]
        if drawn.stopped:
            raise Stopped("As those of the study were.")
        return (math.nan if drawn.value is None else drawn.value), drawn.measured or {}
