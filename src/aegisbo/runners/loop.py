"""The one loop between an optimizer and its workers: a worker that becomes free has its next point at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, Protocol

from aegisbo.errors import InvalidInput, SpaceExhausted
from aegisbo.runners.workers import Finished, Workers


class Asked(Protocol):
    """A point to evaluate, known by its number."""

    @property
    def number(self) -> int: ...

    @property
    def x(self) -> Any: ...


class AsksAndTells(Protocol):
    """All that the loop needs from an optimizer."""

    def ask(self) -> Asked: ...

    def tell(self, number: int, value: float, /) -> object: ...

    def fail(self, number: int, reason: str, /, *, state: Literal["failed", "invalid", "timed_out"]) -> object: ...

    def expire(self, number: int, /) -> object: ...


@dataclass(frozen=True)
class Run:
    """What happened, when, and how well the workers were used."""

    capacity: int  # workers
    started: float  # on the workers' clock
    finished: tuple[Finished, ...]  # in order of completion, lost jobs included
    suggestion_seconds: Mapping[int, float]  # by trial number, in order of asking; real seconds, whatever the clock

    @property
    def makespan(self) -> float:
        """Seconds from the start of the run to its last completion."""
        return max((job.finished for job in self.finished), default=self.started) - self.started

    @property
    def busy(self) -> float:
        """Seconds that all workers together spent evaluating."""
        return sum(job.seconds for job in self.finished)

    @property
    def utilization(self) -> float:
        """The share of the workers' time that was spent evaluating; 1 if the run took no time at all."""
        return self.busy / (self.capacity * self.makespan) if self.makespan > 0 else 1.0


def run(optimizer: AsksAndTells, workers: Workers, budget: int) -> Run:
    """Evaluate `budget` suggestions, or as many as the space holds; a failed one counts, a lost one does not.

    Results that arrive while a suggestion is being made are told before the next one is asked for, so that every
    suggestion knows all there is to know. The workers stay open: they belong to the caller.
    """
    if budget < 1:
        raise InvalidInput(f"budget is {budget}: ask for at least 1 evaluation.")
    started, left = workers.now(), budget
    finished: list[Finished] = []
    seconds: dict[int, float] = {}
    running: set[int] = set()
    while left > 0:
        trial = _ask(optimizer, seconds) if len(running) < min(workers.capacity, left) else None
        if trial is not None:
            workers.submit(trial.number, trial.x)
            running.add(trial.number)
        elif not running:
            break  # the space is exhausted
        wait = None if trial is None else 0.0  # as long as points can be handed out, only look for news
        for job in workers.collect(wait):
            running.remove(job.number)
            finished.append(job)
            left -= job.outcome.state != "lost"
            _report(job, optimizer)
    return Run(workers.capacity, started, tuple(finished), seconds)


def _ask(optimizer: AsksAndTells, seconds: dict[int, float]) -> Asked | None:
    """The next point, with the time it took noted in `seconds`; None if the space has no further one."""
    begin = perf_counter()
    try:
        trial = optimizer.ask()
    except SpaceExhausted:
        return None
    seconds[trial.number] = perf_counter() - begin
    return trial


def _report(job: Finished, optimizer: AsksAndTells) -> None:
    outcome = job.outcome
    if outcome.state == "done":
        optimizer.tell(job.number, outcome.value)
    elif outcome.state == "lost":
        optimizer.expire(job.number)
    else:
        optimizer.fail(job.number, outcome.reason, state=outcome.state)
