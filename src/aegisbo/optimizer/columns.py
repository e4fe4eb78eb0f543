"""Trials as arrays that grow: what a strategy is shown is cut out of them, without a loop over thousands of trials."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from aegisbo.arrays import Array, Mask
from aegisbo.optimizer.limits import Limit
from aegisbo.optimizer.objectives import Objective
from aegisbo.optimizer.trial import Trial
from aegisbo.outcome import FAILURES
from aegisbo.strategies.paces import UNKNOWN

LEAST = 64  # rows that there is room for
DONE, FAILED, PENDING, GONE, STOPPED = range(5)  # gone: lost or forgotten, which counts for nothing
KINDS: dict[str, int] = {"done": DONE, "pending": PENDING, **dict.fromkeys(FAILURES, FAILED), "stopped": STOPPED}
TIMED = ("done", "invalid", "timed_out")  # states of trials that kept their worker as long as their points do


class Columns:
    """Where the trials of a list lie, how they stand, and what they have measured, a row each."""

    def __init__(self, width: int, limits: Sequence[Limit] = (), objectives: Sequence[Objective] = ()) -> None:
        self._rows = 0
        self._limits, self._objectives = limits, objectives
        arrays = {
            "point": (width,),
            "value": (),
            "sd": (),
            "excess": (len(limits),),
            "seconds": (),
            "worker": (),
            "kind": (),
        }
        if objectives:
            arrays["value"] = (len(objectives),)
        self._table = np.empty(LEAST, [(name, np.float64, shape) for name, shape in arrays.items()])

    def append(self, trial: Trial, point: Array) -> None:
        """Add a trial that lies at a point (width,) of the cube."""
        if self._rows == len(self._table):
            self._table = np.append(self._table, np.empty_like(self._table))
        self._table["point"][self._rows] = point
        self._rows += 1
        self.put(self._rows - 1, trial)

    def put(self, row: int, trial: Trial) -> None:
        """Let this be how the trial in a row stands from now on."""
        table = self._table
        table["value"][row] = self._value(trial)
        table["sd"][row] = 0.0 if trial.sd is None else trial.sd
        table["kind"][row] = KINDS.get(trial.state, GONE)
        table["seconds"][row] = (trial.seconds or 0.0) if trial.state in TIMED else 0.0
        table["worker"][row] = UNKNOWN if trial.worker is None else trial.worker
        if trial.state == "done":
            table["excess"][row] = [limit.excess(trial.measured[limit.name]) for limit in self._limits]

    def _value(self, trial: Trial) -> float | list[float]:
        if self._objectives:
            return [trial.measured.get(each.name, np.nan) for each in self._objectives]
        return np.nan if trial.value is None else trial.value

    def column(self, name: str, kind: int = DONE) -> Array:
        """What all trials of a kind have in a column, in the order of their rows.

        `point` (m, width) is where they lie, `value` (m,) what they have measured, a column for
        each if there are several objectives, `sd` (m,) its standard deviation, 0
        where nobody told one, and `excess` (m, l) by how much they are beyond each limit.
        """
        return self._cut(name, self._are(kind))

    def point(self, row: int) -> Array:  # (width,)
        """Where the trial in a row lies."""
        return np.array(self._table["point"][row])

    def timed(self) -> tuple[Array, Array, Array]:
        """Where trials lie that kept their worker as long as their points do (m, width), for how long, and which."""
        some = self._table["seconds"][: self._rows] > 0.0
        return self._cut("point", some), self._cut("seconds", some), self._cut("worker", some)

    def timings(self) -> int:
        """How many there are of these."""
        return int(np.count_nonzero(self._table["seconds"][: self._rows] > 0.0))

    def count(self, kind: int) -> int:
        """How many trials are of a kind."""
        return int(np.count_nonzero(self._are(kind)))

    def copied(self) -> Columns:
        """A copy that changes independently of this one."""
        other = copy(self)
        other._table = self._table.copy()
        return other

    def _are(self, kind: int) -> Mask:
        return np.asarray(self._table["kind"][: self._rows] == kind)

    def _cut(self, name: str, rows: Mask) -> Array:
        return np.compress(rows, self._table[name][: self._rows], axis=0)  # many times faster than a mask as an index
