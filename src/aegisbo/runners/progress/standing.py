"""The state of a run: the driver counts, and any thread may look."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

from aegisbo.optimizer import Core
from aegisbo.runners.pools.base import Pool

ROUNDS = 3  # evaluations of each worker that the estimate of the remaining time uses


@dataclass(frozen=True)
class Standing:
    """A run at one moment."""

    budget: int
    ended: int  # evaluations, failed and stopped ones included
    failed: int
    best: str  # or the front, in words
    error: str = ""  # the last one
    starting: int = 0
    running: int = 0
    elapsed: float = 0.0  # seconds
    left: float | None = None  # seconds; None if not yet known
    stopped: int = 0  # by the run, early


class Tally:
    """Counts how evaluations end.

    The driver calls `update`. A display calls `standing` from its own thread, at any time: this asks the pool for two
    numbers and never the optimizer, which may be busy with a suggestion.
    """

    def __init__(self, optimizer: Core, pool: Pool, budget: int, clock: Callable[[], float] = monotonic) -> None:
        self._optimizer = optimizer
        self._pool = pool
        self._clock = clock
        self._began = clock()
        self._ends = deque([self._began], maxlen=ROUNDS * pool.capacity + 1)
        self._due: float | None = None  # when all evaluations will probably have ended
        self._counted = self._count(Standing(budget, 0, 0, ""))

    def update(self, error: str = "") -> None:
        """Count again after a job has ended; without a new error the last one stays."""
        before = self._counted
        after = self._count(replace(before, error=error or before.error))
        self._ends.extend([self._clock()] * (after.ended - before.ended))
        seconds = self._ends[-1] - self._ends[0]
        if len(self._ends) > 1:
            self._due = self._ends[-1] + seconds / (len(self._ends) - 1) * (after.budget - after.ended)
        self._counted = after

    def spend(self, budget: int) -> None:
        """Change the total number of evaluations."""
        self._counted = replace(self._counted, budget=budget)
        self.update()

    def standing(self) -> Standing:
        """The run now."""
        now, due, counted, starting = self._clock(), self._due, self._counted, self._pool.starting
        return replace(
            counted,
            starting=starting,
            running=max(self._pool.unfinished - starting, 0),
            elapsed=now - self._began,
            left=None if due is None or counted.ended >= counted.budget else max(due - now, 0.0),
        )

    def _count(self, standing: Standing) -> Standing:
        """Add the counts and the best measured value; the best posterior mean would need a model each time."""
        done, failed, best, front, stopped = self._optimizer.tally()
        label = "best measured" if self._optimizer.settings.noisy else "best"
        told = "" if best is None else f"{label} {best:.6g}"
        told = f"{front} on the front" if front else told
        return replace(standing, ended=failed + done + stopped, failed=failed, best=told, stopped=stopped)


def line(standing: Standing, width: int | None = None) -> str:
    """A run in one line; the least important parts are left out to fit the width."""
    names = ("starting", "running", "stopped", "failed")
    jobs = {name: getattr(standing, name) for name in names}
    parts = {
        "count": f"{standing.ended}/{standing.budget}",
        "best": standing.best,
        "jobs": ", ".join(f"{count} {what}" for what, count in jobs.items() if count),
        "elapsed": clock_time(standing.elapsed),
        "left": "" if standing.left is None else f"{clock_time(standing.left)} left",
    }
    for name in ("", "left", "elapsed", "best"):
        parts.pop(name, None)
        text = "  ".join(filter(None, parts.values()))
        if width is None or len(text) <= width:
            break
    return text


def clock_time(seconds: float) -> str:
    """Seconds as 0:07, 12:34 or 1:02:03."""
    minutes, second = divmod(int(seconds), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02}:{second:02}" if hour else f"{minute}:{second:02}"
