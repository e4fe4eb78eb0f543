"""Trials as arrays that grow: what a strategy is shown is cut out of them, without a loop over thousands of trials."""

from __future__ import annotations

import numpy as np

from aegisbo.arrays import Array, Index, Mask
from aegisbo.optimizer.trial import Trial
from aegisbo.outcome import FAILURES

GROWING = ("_points", "_values", "_sds", "_kinds")
LEAST = 64  # rows that there is room for
DONE, FAILED, PENDING, GONE = range(4)  # gone: lost or forgotten, which counts for nothing
KINDS: dict[str, int] = {"done": DONE, "pending": PENDING, **dict.fromkeys(FAILURES, FAILED)}


class Columns:
    """Where the trials of a list lie, how they stand, and what they have measured, a row each."""

    def __init__(self, width: int) -> None:
        self.rows = 0
        self._points = np.empty((LEAST, width))
        self._values = np.empty(LEAST)
        self._sds = np.empty(LEAST)
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

    def points(self, kind: int) -> Array:
        """Where all trials of a kind lie (m, width), in the order of their rows."""
        return self.at(self._are(kind))

    def at(self, rows: Mask | Index) -> Array:
        """Where the trials in these rows lie (m, width)."""
        return self._points[: self.rows][rows]

    def values(self) -> Array:
        """What all trials that are done have measured (m,)."""
        return self._values[: self.rows][self._are(DONE)]

    def sds(self) -> Array:
        """Their standard deviations (m,), 0 where nobody told one."""
        return self._sds[: self.rows][self._are(DONE)]

    def count(self, kind: int) -> int:
        """How many trials are of a kind."""
        return int(np.count_nonzero(self._are(kind)))

    def copied(self) -> Columns:
        """The same, to go on independently."""
        copy = Columns(self._points.shape[1])
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
