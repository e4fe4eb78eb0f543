"""When a run became better, in a text such as `0.5:31.2 2.75:8.04`: a step each, its numbers separated by colons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aegisbo.arrays import Array, Index


def improvements(values: Sequence[float] | Array) -> Index:  # (n,) -> (k,)
    """The places of the values that are lower than all before them."""
    return np.flatnonzero(np.diff(np.minimum.accumulate(values), prepend=np.inf) < 0)


def trace_of(form: str, *columns: Sequence[Any] | Array) -> str:
    """A step of this form for each improvement of the last column."""
    return " ".join(form.format(*(column[k] for column in columns)) for k in improvements(columns[-1]))


def steps(trace: str) -> list[tuple[float, ...]]:
    """The numbers of each step."""
    return [tuple(map(float, step.split(":"))) for step in trace.split()]


class Traced:
    """A run whose trace has steps `time:regret`."""

    trace: str

    def regret_at(self, time: float) -> float:
        return min((regret for at, regret in steps(self.trace) if at <= time), default=np.inf)

    def time_to(self, regret: float) -> float:
        return min(at for at, reached in steps(self.trace) if reached <= regret)
