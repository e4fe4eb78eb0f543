"""What holds of a run after all calls and changes: the last word of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aegisbo.options import CHANGEABLE
from aegisbo.study.events import Event


@dataclass
class Terms:
    """What the last call asked for, and what has been changed since; a call that asks for something else decides."""

    asked: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)

    @property
    def budget(self) -> int | None:
        """Evaluations in all; None if nobody has said so."""
        return self.changed.get("budget", self.asked.get("budget"))

    def add(self, event: Event) -> None:
        """Let one more event have happened."""
        if event.kind == "set":
            self.changed |= {name: value for name, value in event.body["changes"].items() if name in CHANGEABLE}
        elif event.kind == "opened" or (event.kind == "joined" and "copy" not in event.body):
            self.call(event.body.get("call", {}))

    def call(self, call: Mapping[str, Any]) -> None:
        """Let a driver or a copy have been called; one that comes back is not called again."""
        given = {
            name: call[name] for name in CHANGEABLE if name in call and (name != "budget" or call[name] is not None)
        }
        for name, value in given.items():
            if self.asked.get(name, value) != value:
                self.changed.pop(name, None)
        self.asked |= given
