"""One evaluation of the user's function, from being asked for to its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from aegisbo.space import Params
from aegisbo.strategies.base import Note

Failure = Literal["failed", "invalid", "timed_out"]  # evaluated without a usable value: still a result
State = Literal["pending", "done", Failure, "expired"]
FAILURES: tuple[Failure, ...] = get_args(Failure)


@dataclass(frozen=True)
class Trial:
    """A point, what became of it, and why it was chosen."""

    number: int  # 0, 1, 2, ... as asked for; -1, -2, ... for points observed elsewhere
    x: Any = field(repr=False, compare=False)  # what the function receives; a vector is read-only
    params: Params
    state: State = "pending"
    value: float | None = None  # as the user measured it; only when done
    note: Note = field(default_factory=dict)
    reason: str | None = None  # why there is no value

    def describe(self) -> dict[str, Any]:
        """Everything but `x`, which follows from `params`, in JSON's types."""
        return {name: value for name, value in vars(self).items() if name != "x"}
