"""What holds of a run after all calls and changes: the last word of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aegisbo.events import Changed, Event, Joined, Opened
from aegisbo.number import as_number
from aegisbo.options import CHANGEABLE


@dataclass
class Terms:
    """What the last call asked for, and what has been changed since; a call that asks for something else decides."""

    asked: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)

    @property
    def budget(self) -> int | None:
        """Evaluations in all; None if nobody has said so."""
        return self.changed.get("budget", self.asked.get("budget"))

    def apply(self, event: Event) -> None:
        """Let one more event have happened."""
        if isinstance(event, Changed):
            self.changed |= {name: value for name, value in event.changes.items() if name in CHANGEABLE}
        elif isinstance(event, Opened) or (isinstance(event, Joined) and event.copy is None):
            self.call(event.call or {})

    def call(self, call: Mapping[str, Any]) -> None:
        """Let a driver or a copy have been called; one that comes back is not called again."""
        given = {
            name: call[name] for name in CHANGEABLE if name in call and (name != "budget" or call[name] is not None)
        }
        for name, value in given.items():
            if value is not None and as_number(value) is None:
                raise TypeError(f"{name} is {value!r:.100}")
            if self.asked.get(name, value) != value:
                self.changed.pop(name, None)
        self.asked |= given
