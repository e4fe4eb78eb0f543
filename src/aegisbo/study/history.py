"""From events to an optimizer: the one that lived through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.random import Generator

from aegisbo.errors import AegisError, StudyError
from aegisbo.optimizer import Optimizer, Settings
from aegisbo.optimizer.optimizer import OBSERVED
from aegisbo.optimizer.queue import ADDED
from aegisbo.space import Space
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion
from aegisbo.strategies.registry import resolve
from aegisbo.study.endings import ENDINGS, how_it_went, outcome_of
from aegisbo.study.events import Event
from aegisbo.study.soundness import damaged, making_sense, require_sound

RESULTS = ("told", "failed", "observed", "retried", "forgotten", "widened")  # events that change what a strategy knows
SETTINGS = ("created", "widened")  # events that say what the run is


@dataclass(frozen=True, repr=False)
class AbsentStrategy:
    """Stands for a strategy that cannot be made here: enough to look at the results."""

    text: str
    why: str  # it cannot be made
    weighs_time: ClassVar = True  # for all that is known

    def __repr__(self) -> str:
        return self.text

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        """Refuse."""
        raise StudyError(f"The study was made with the strategy {self.text}, and no choice can be made: {self.why}")


class History:
    """The state of an optimizer, event by event; a trial that was lost is still pending."""

    def __init__(self, created: Event, strategy: Strategy | None = None, space: Space | None = None) -> None:
        if created.kind != "created":
            raise StudyError(f"The study begins with {created.kind!r} instead of 'created': it is damaged.")
        self.state: dict[str, Any] = {**created.body["optimizer"], "memory": {}, "observed": [], "trials": []}
        self._space = space
        self.state["added"] = []
        self._strategy = self._absent() if strategy is None or self.state["strategy"] is not None else strategy

    def _absent(self) -> AbsentStrategy | None:
        """What stands for the strategy if the study does not tell how it is made, or it cannot be made here."""
        text = self.state["strategy"]
        if text is None:
            why = "it is an object that is not part of the file. Pass it to minimize to continue."
            return AbsentStrategy(self.state.get("strategy_object", "of unknown kind"), why)
        try:
            resolve(text, self.state["preset"])
        except AegisError as error:  # of a package that is not installed, say
            self.state |= {"strategy": None, "preset": None, "strategy_object": text}
            return AbsentStrategy(text, str(error))
        return None

    def add(self, event: Event) -> None:
        """Let one more event have happened."""
        trials, body = self.state["trials"], event.body
        if event.kind == "asked":
            if event.number != len(trials):
                raise damaged(event, f"trial {len(trials)} comes next")
            trials.append({"number": event.number, "params": body["params"], "note": body["note"]})
            self.state["memory"] = body["memory"]
            self._let_wait_no_more(body)
        elif event.kind == "told":
            told = {"state": "done", "value": body["value"], "sd": body.get("sd"), "reason": None}
            trials[event.number] |= {**told, "measured": body.get("measured", {}), **how_it_went(body)}
        elif event.kind == "failed" and _is_news(trials[event.number], body["state"]):
            trials[event.number] |= {"state": body["state"], "reason": body["reason"], **how_it_went(body)}
        elif event.kind == "added":
            self.state["added"].append(body["params"])
        elif event.kind == "observed":
            self.state["observed"].append({"number": event.number, "note": OBSERVED, **body})
        elif event.kind in ("retried", "forgotten"):
            self._think_again(event.kind, body["numbers"])
        elif event.kind == "widened":  # what was learned of the old cube does not hold in the new one
            self.state |= {"space": body["space"], "memory": {}}

    def _let_wait_no_more(self, asked: Mapping[str, Any]) -> None:
        if asked["note"].get("move") == ADDED and self.state["added"][:1] == [asked["params"]]:
            del self.state["added"][0]

    def _think_again(self, kind: str, numbers: Iterable[int]) -> None:
        trials = self.state["trials"]
        for number in numbers:
            if kind == "retried":
                trials[number] = {name: trials[number][name] for name in ("number", "params", "note")}
            else:
                trials[number] |= {"state": "forgotten", "value": None, "sd": None}
        self.state["memory"] = {}  # which was learned from what is gone now

    def optimizer(self) -> Optimizer:
        """The optimizer after all these events."""
        settings = Settings.from_description(self.state, self._strategy, self._space)
        parts = ("memory", "observed", "trials", "added")
        return Optimizer.restored(settings, **{name: self.state[name] for name in parts})


def follow(optimizer: Optimizer, event: Event) -> None:
    """Let a living optimizer take in an event of others, after all events before it; what `History` would make of it.

    Bounds do not become wider while several write.
    """
    body = event.body
    if event.kind == "asked":
        optimizer.adopt(body["params"], body["note"], body["memory"])
    elif event.kind in ENDINGS and event.number is not None:
        optimizer.end(event.number, outcome_of(event))
    elif event.kind == "observed":
        optimizer.learn(body["params"], outcome_of(event), body.get("note", OBSERVED))
    elif event.kind == "added":
        optimizer.enqueue(body["params"])
    elif event.kind == "retried":
        for number in body["numbers"]:
            optimizer.retry(number)
    elif event.kind == "forgotten":
        for number in body["numbers"]:
            optimizer.forget(number)


def _is_news(trial: Mapping[str, Any], failure: str) -> bool:
    """Whether a failure decides: a value goes before it, and so does having been given up as too slow."""
    state = trial.get("state")  # of two who write at the same moment, either may come first
    return state is None or (failure == "timed_out" and state != "done")


def optimizer_after(events: Iterable[Event], given: Settings | None = None) -> Optimizer:
    """The optimizer that lived through all these events.

    Args:
        events: of one study, from its beginning.
        given: have the strategy object and the functions among the constraints, for a study that could not store them;
            only choosing points needs these.

    Raises:
        StudyError: an event makes no sense.
    """
    events = list(events)
    if not events:
        raise StudyError("The study does not say how it was begun: it is damaged. Restore it from a copy.")
    first, *rest = events
    for event in events:
        require_sound(event)
    with making_sense(first):
        history = History(first) if given is None else History(first, given.unwritten, given.space)
    for event in rest:
        with making_sense(event):
            history.add(event)
    with making_sense(first):
        return history.optimizer()
