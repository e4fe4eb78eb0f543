"""One evaluation of the user's function, from being asked for to its end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from aegisbo.outcome import Outcome, State
from aegisbo.space import Params
from aegisbo.strategies.base import Note


@dataclass(frozen=True)
class Trial:
    """A point, how its evaluation ended, and why it was chosen."""

    number: int  # 0, 1, 2, ... as asked for; -1, -2, ... for points observed elsewhere
    x: Any = field(repr=False, compare=False)  # what the function receives; a vector is read-only
    params: Params
    state: State = "pending"
    value: float | None = None  # as the user measured it; only when done
    note: Note = field(default_factory=dict)
    reason: str | None = None  # why there is no value

    def ended(self, outcome: Outcome) -> Trial:
        """The same trial after its evaluation has ended like this."""
        if outcome.state == "done":
            return replace(self, state="done", value=outcome.value, reason=None)
        return replace(self, state=outcome.state, value=None, reason=outcome.reason)

    def describe(self) -> dict[str, Any]:
        """Everything but `x`, which follows from `params`, in JSON's types."""
        return {name: value for name, value in vars(self).items() if name != "x"}
