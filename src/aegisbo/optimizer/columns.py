"""Trials as arrays that grow: what a strategy is shown is cut out of them, without a loop over thousands of trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aegisbo.arrays import Array, Mask
from aegisbo.optimizer.limits import Limit
from aegisbo.optimizer.trial import Trial
from aegisbo.outcome import FAILURES

GROWING = ("_points", "_values", "_sds", "_excesses", "_seconds", "_kinds")
LEAST = 64  # rows that there is room for
DONE, FAILED, PENDING, GONE = range(4)  # gone: lost or forgotten, which counts for nothing
KINDS: dict[str, int] = {"done": DONE, "pending": PENDING, **dict.fromkeys(FAILURES, FAILED)}
TIMED = ("done", "invalid", "timed_out")  # states of trials that kept their worker as long as their points do


class Columns:
    """Where the trials of a list lie, how they stand, and what they have measured, a row each."""

    def __init__(self, width: int, limits: Sequence[Limit] = ()) -> None:
        self.rows = 0
        self._limits = limits
        self._points = np.empty((LEAST, width))
        self._values = np.empty(LEAST)
        self._sds = np.empty(LEAST)
        self._excesses = np.empty((LEAST, len(limits)))
        self._seconds = np.empty(LEAST)
        self._kinds = np.empty(LEAST, np.int8)

    def append(self, trial: Trial, point: Array) -> None:
        """Add a trial that lies at a point (width,) of the cube."""
        if self.rows == len(self._kinds):
            self._resize(2 * self.rows)
        self._points[self.rows] = point
        self.rows += 1
        self.put(self.rows - 1, trial)

    def put(self, row: int, trial: Trial) -> None:
        """Let this be how the trial in a row stands from now on."""
        self._values[row] = np.nan if trial.value is None else trial.value
        self._sds[row] = 0.0 if trial.sd is None else trial.sd
        self._kinds[row] = KINDS.get(trial.state, GONE)
        self._seconds[row] = (trial.seconds or 0.0) if trial.state in TIMED else 0.0
        if trial.state == "done":
            self._excesses[row] = [limit.excess(trial.measured[limit.name]) for limit in self._limits]

    def points(self, kind: int) -> Array:
        """Where all trials of a kind lie (m, width), in the order of their rows."""
        return self._at(self._are(kind))

    def _at(self, rows: Mask) -> Array:
        """Where the trials in these rows lie (m, width)."""
        return np.compress(rows, self._points[: self.rows], axis=0)  # many times faster than a mask as an index

    def values(self) -> Array:
        """What all trials that are done have measured (m,)."""
        return self._values[: self.rows][self._are(DONE)]

    def sds(self) -> Array:
        """Their standard deviations (m,), 0 where nobody told one."""
        return self._sds[: self.rows][self._are(DONE)]

    def excesses(self) -> Array:
        """By how much they are beyond each limit (m, l)."""
        return self._excesses[: self.rows][self._are(DONE)]

    def timed(self) -> tuple[Array, Array]:
        """Where trials lie that kept their worker as long as their points do (m, width), and for how long (m,)."""
        seconds = self._seconds[: self.rows]
        return self._at(seconds > 0.0), seconds[seconds > 0.0]

    def count(self, kind: int) -> int:
        """How many trials are of a kind."""
        return int(np.count_nonzero(self._are(kind)))

    def copied(self) -> Columns:
        """A copy that changes independently of this one."""
        copy = Columns(self._points.shape[1], self._limits)
        for name in ("rows", *GROWING):
            setattr(copy, name, getattr(self, name))
        copy._resize(max(self.rows, LEAST))
        return copy

    def _are(self, kind: int) -> Mask:
        return np.equal(self._kinds[: self.rows], kind)

    def _resize(self, room: int) -> None:
        for name in GROWING:
            old = getattr(self, name)
            new = np.empty((room, *old.shape[1:]), old.dtype)
            new[: self.rows] = old[: self.rows]
            setattr(self, name, new)
