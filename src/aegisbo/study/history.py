"""From events to an optimizer: the one that lived through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.random import Generator

from aegisbo.errors import StudyError
from aegisbo.optimizer import Optimizer
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion
from aegisbo.study.store import Event

RESULTS = ("told", "failed", "observed")  # events that teach a strategy something
ENDINGS = ("told", "failed")  # of a trial


@dataclass(frozen=True, repr=False)
class AbsentStrategy:
    """Stands for a strategy object that the study could not store: enough to look at the results."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        """Refuse."""
        raise StudyError(
            f"The study was made with the strategy object {self.text}, which is not part of the file: pass that object "
            "to minimize to continue; its choices cannot be replayed."
        )


class History:
    """The state of an optimizer, event by event; a trial that was lost is still pending."""

    def __init__(self, created: Event, strategy: Strategy | None = None) -> None:
        if created.kind != "created":
            raise StudyError(f"The study begins with {created.kind!r} instead of 'created': it is damaged.")
        self.state: dict[str, Any] = {**created.body["optimizer"], "memory": {}, "observed": [], "trials": []}
        self._strategy = strategy
        if self.state["strategy"] is not None:
            self._strategy = None
        elif strategy is None:
            self._strategy = AbsentStrategy(self.state.get("strategy_object", "of unknown kind"))

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
        elif event.kind == "observed":
            self.state["observed"].append({"number": event.number, "note": {"move": "observed"}, **body})

    def optimizer(self) -> Optimizer:
        """The optimizer after all these events."""
        return Optimizer.from_state(self.state, self._strategy)


def _is_news(trial: Mapping[str, Any], failure: str) -> bool:
    """Whether a failure decides: a value goes before it, and so does having been given up as too slow."""
    state = trial.get("state")  # of two who write at the same moment, either may come first
    return state is None or (failure == "timed_out" and state != "done")


def optimizer_after(events: Iterable[Event], strategy: Strategy | None = None) -> Optimizer:
    """The optimizer that lived through all these events.

    Args:
        events: of one study, from its beginning.
        strategy: the strategy object, for a study that could not store it; only choosing points needs it.
    """
    first, *rest = events
    history = History(first, strategy)
    for event in rest:
        history.add(event)
    return history.optimizer()
