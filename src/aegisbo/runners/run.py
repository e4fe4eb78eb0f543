"""What has happened in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aegisbo.optimizer.found import CAUSES
from aegisbo.runners.idle import Idle
from aegisbo.runners.protocol import Finished


@dataclass(frozen=True)
class Run:
    """What happened, when, and how well the workers were used."""

    capacity: int  # workers
    started: float  # on the workers' clock
    finished: tuple[Finished, ...]  # in order of completion, lost jobs included
    suggestion_seconds: Mapping[int, float]  # by trial number, in order of asking; real seconds, on any clock
    idle: tuple[Idle, ...] = ()  # of each worker
    message: str = ""  # why it ended
    interrupted: bool = False  # a signal ended it

    @property
    def makespan(self) -> float:
        """Seconds from the start of the run to its last completion."""
        return max((job.finished for job in self.finished), default=self.started) - self.started

    @property
    def utilization(self) -> float:
        """The share of the workers' time that was spent evaluating; 1 if the run took no time at all."""
        busy = sum(job.seconds for job in self.finished)
        return busy / (self.capacity * self.makespan) if self.makespan > 0 else 1.0

    @property
    def idle_shares(self) -> dict[str, float]:
        """The share of the workers' time spent idle, by its cause."""
        total = sum(worker.total for worker in self.idle) or 1.0
        return {cause: sum(getattr(worker, cause) for worker in self.idle) / total for cause in CAUSES}
