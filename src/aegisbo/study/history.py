"""From events to an optimizer: the one that lived through them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aegisbo.errors import StudyError
from aegisbo.optimizer import Optimizer
from aegisbo.study.store import Event

ENDINGS = ("told", "failed")


class History:
    """The state of an optimizer, event by event; a trial that was lost is still pending."""

    def __init__(self, created: Event) -> None:
        if created.kind != "created":
            raise StudyError(f"The study begins with {created.kind!r} instead of 'created': it is damaged.")
        self.state: dict[str, Any] = {**created.body["optimizer"], "memory": {}, "observed": [], "trials": []}

    def add(self, event: Event) -> None:
        """Let one more event have happened."""
        trials, body = self.state["trials"], event.body
        if event.kind == "asked":
            trials.append({"number": event.number, "params": body["params"], "note": body["note"]})
            self.state["memory"] = body["memory"]
        elif event.kind == "told":
            trials[event.number] |= {"state": "done", "value": body["value"], "reason": None}
        elif event.kind == "failed":
            trials[event.number] |= {"state": body["state"], "reason": body["reason"]}

    def optimizer(self) -> Optimizer:
        """The optimizer after all these events."""
        return Optimizer.from_state(self.state)


def optimizer_after(events: Iterable[Event]) -> Optimizer:
    """The optimizer that lived through all these events."""
    first, *rest = events
    history = History(first)
    for event in rest:
        history.add(event)
    return history.optimizer()
