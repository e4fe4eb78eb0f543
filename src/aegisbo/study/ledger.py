"""Who runs what in a study that several copies share: read from its events, the same by everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from aegisbo.study.events import Event
from aegisbo.study.soundness import making_sense, require_sound
from aegisbo.study.terms import Terms


@dataclass
class Ledger:
    """Which trials are open and at whom, which copies are there, and how far the budget is spent."""

    terms: Terms = field(default_factory=Terms)  # its budget is the last number that anybody gave
    copies: dict[int, Event] = field(default_factory=dict)  # at work, as far as anybody knows: how each joined
    holders: dict[int, int | None] = field(default_factory=dict)  # of trials that have not ended; None: free
    ended: set[int] = field(default_factory=set)  # trials
    losses: Counter[int] = field(default_factory=Counter)  # how often a trial lost its worker or its copy
    reasons: dict[int, str] = field(default_factory=dict)  # of the last loss
    last: int = 0  # the event up to which all is known

    def add(self, event: Event) -> None:
        """Let one more event have happened."""
        self.last = event.id
        self.terms.add(event)
        if event.kind in ("joined", "left"):
            self._come_or_go(event)
        elif event.kind == "opened":  # a driver of its own: copies cannot have been there
            self.copies.clear()
            self.losses.clear()
            self.holders = dict.fromkeys(self.holders)
        elif event.kind in ("retried", "forgotten"):
            self._second_thoughts(event)
        elif event.number is not None and event.number >= 0:
            self._trial(event, event.number)

    @property
    def budget(self) -> int | None:
        """Evaluations in all; None if nobody has said so."""
        return self.terms.budget

    @property
    def spent(self) -> bool:
        """Whether all evaluations of the budget have ended."""
        return self.budget is not None and len(self.ended) >= self.budget

    @property
    def room(self) -> bool:
        """Whether another trial may be asked for."""
        return self.budget is None or len(self.ended) + len(self.holders) < self.budget

    @property
    def free(self) -> list[int]:
        """The open trials that nobody runs, in order of number."""
        return sorted(number for number, holder in self.holders.items() if holder is None)

    def held_by(self, copy: int) -> list[int]:
        """The open trials that this copy runs, in order of number."""
        return sorted(number for number, holder in self.holders.items() if holder == copy)

    def _come_or_go(self, event: Event) -> None:
        copy = event.body.get("copy", event.id)
        if event.kind == "joined":
            self.copies[copy] = event
        else:
            self.copies.pop(copy, None)

    def _second_thoughts(self, event: Event) -> None:
        for number in event.body["numbers"]:
            self.ended.discard(number)
            self.holders.pop(number, None)
            self.losses.pop(number, None)
            if event.kind == "retried":
                self.holders[number] = None

    def _trial(self, event: Event, number: int) -> None:
        if event.kind in ("asked", "taken"):
            self.holders[number] = event.body.get("copy")
        elif event.kind in ("told", "failed"):
            self.holders.pop(number, None)
            self.ended.add(number)
        elif event.kind == "lost" and number in self.holders:
            self.holders[number] = event.body.get("copy")
            if not event.body.get("given_back"):
                self.losses[number] += 1
                self.reasons[number] = event.body["reason"]


def ledger_of(events: Iterable[Event]) -> Ledger:
    """Who runs what after all these events.

    Raises:
        StudyError: an event makes no sense.
    """
    ledger = Ledger()
    for event in events:
        require_sound(event)
        with making_sense(event):
            ledger.add(event)
    return ledger
