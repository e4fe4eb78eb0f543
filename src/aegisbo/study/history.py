"""From events to an optimizer: the one that lived through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
        elif event.kind == "failed" and _is_news(trials[event.number], body["state"]):
            trials[event.number] |= {"state": body["state"], "reason": body["reason"]}

    def optimizer(self) -> Optimizer:
        """The optimizer after all these events."""
        return Optimizer.from_state(self.state)


def _is_news(trial: Mapping[str, Any], failure: str) -> bool:
    """Whether a failure decides: a value goes before it, and so does having been given up as too slow."""
    state = trial.get("state")  # of two who write at the same moment, either may come first
    return state is None or (failure == "timed_out" and state != "done")


def optimizer_after(events: Iterable[Event]) -> Optimizer:
    """The optimizer that lived through all these events."""
    first, *rest = events
    history = History(first)
    for event in rest:
        history.add(event)
    return history.optimizer()
