"""The books of a study held against what happened: nothing lost, nothing done twice without a reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from diary import Diary, value_of

from aegisbo import load
from aegisbo.address import Place
from aegisbo.errors import StudyError
from aegisbo.events import Event
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay


@dataclass
class Audit:
    """Looks into a study after every fault, and once more at the end."""

    study: Place
    diary: Diary
    events: list[Event] = field(default_factory=list)  # as they were at the last look
    faults: int = 0
    unfinished: Counter[int] = field(default_factory=Counter)  # how often each trial was running at a fault
    orphans: int = 0

    def look(self) -> None:
        """After a fault: what was on record still is, word for word; note what had not ended."""
        self.faults += 1
        events = events_now(self.study, self.events)
        assert events[: len(self.events)] == self.events
        self.events = events
        self.unfinished.update(numbers(events, "asked") - numbers(events, "told", "failed"))

    def close(self, budget: int) -> str:
        """At the end: every evaluation is there once, with its own value, and every decision can be explained."""
        self.look()
        asked = [event for event in self.events if event.kind == "asked"]
        assert [event.number for event in asked] == list(range(budget))
        ended = Counter(event.number for event in self.events if event.kind in ("told", "failed"))
        assert ended == dict.fromkeys(range(budget), 1)

        point = {event.number: tuple(event.body["params"].values()) for event in asked}
        assert len(set(point.values())) == budget
        told = {event.number: event.body["value"] for event in self.events if event.kind == "told"}
        assert told == {number: value_of(x) for number, x in point.items()}
        begins, ends = self.diary.counts("begins"), self.diary.counts("ends")
        lost = [number for number, x in point.items() if ends[x] == 0]
        unknown = set(begins) - set(point.values())
        doubled = [number for number, x in point.items() if begins[x] > 1 + self.unfinished[number]]
        assert (lost, unknown, doubled, self.orphans) == ([], set(), [], 0)

        found = replay(self.study)
        assert found.decisions == budget
        assert found.differences == ()
        assert load(self.study).nfev == budget
        again = sum(begins.values()) - budget
        return (
            f"{self.faults - 1} faults, {budget} evaluations checked: lost 0, doubled 0, orphans 0, "
            f"{again} begun again because they were running at a fault, {found.decisions} decisions replayed"
        )


def events_now(study: Place, before: list[Event]) -> list[Event]:
    """What is on record; nothing if nothing ever was, because whoever makes the study has not come so far."""
    try:
        return read_events(study)
    except StudyError as error:
        if before or not ("There is no study" in str(error) or "holds nothing yet" in str(error)):
            raise
        return []


def numbers(events: list[Event], *kinds: str) -> set[int]:
    return {event.number for event in events if event.kind in kinds and event.number is not None}
