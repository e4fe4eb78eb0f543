"""Who runs which trial of a study, and what was asked of it: computed from the events, so all readers agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aegisbo.events import (
    Asked,
    Caused,
    Changed,
    Ended,
    Event,
    Forgotten,
    Joined,
    Left,
    Lost,
    Opened,
    Resumed,
    Retried,
    Taken,
)
from aegisbo.number import as_number
from aegisbo.options import CHANGEABLE, OPTIONS, TEXTS


@dataclass
class Terms:
    """The options of the last call with later changes; a call with other options than the last one overrides them."""

    asked: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)

    @property
    def budget(self) -> int | None:
        """Evaluations in all; None if none was given."""
        return self.changed.get("budget", self.asked.get("budget"))

    def apply(self, event: Event) -> None:
        """Let one more event have happened."""
        if isinstance(event, Changed):
            self.changed |= _sound({name: value for name, value in event.changes.items() if name in CHANGEABLE})
        elif isinstance(event, Opened) or (isinstance(event, Joined) and event.copy is None):  # not a copy that is back
            self._call(event.call or {})

    def _call(self, call: Mapping[str, Any]) -> None:
        given = {name: call[name] for name in CHANGEABLE if name in call and (name, call[name]) != ("budget", None)}
        for name, value in _sound(given).items():
            if self.asked.get(name, value) != value:
                self.changed.pop(name, None)
        self.asked |= given


def _sound(given: dict[str, Any]) -> dict[str, Any]:
    """The options, each of its kind: the file may come from anywhere."""
    for name, value in given.items():
        if name in TEXTS:
            OPTIONS[name].check(name, value)
        elif value is not None and as_number(value) is None:
            raise TypeError(f"{name} is {value!r:.100}")
    return given


@dataclass
class Ledger:
    """Which trials are open and who runs them, which copies are at work, and how much of the budget is spent."""

    terms: Terms = field(default_factory=Terms)  # its budget is the last one given
    copies: dict[int, Joined] = field(default_factory=dict)  # at work, as far as known: how each joined
    holders: dict[int, int | None] = field(default_factory=dict)  # of trials that have not ended; None: free
    ended: set[int] = field(default_factory=set)  # trials
    losses: Counter[int] = field(default_factory=Counter)  # how often a trial lost its worker or its copy
    reasons: dict[int, str] = field(default_factory=dict)  # of the last loss
    used: int = 0  # evaluations that advisers have used up, of the share that they may
    last: int = 0  # the last event that was applied

    def apply(self, event: Event) -> None:
        """Let one more event have happened."""
        self.last = event.id
        self.terms.apply(event)
        self.used += event.cost if isinstance(event, Caused) and event.share is not None else 0
        match event:
            case Joined():
                self.copies[event.name] = event
            case Left():
                self.copies.pop(event.copy, None)
            case Opened():  # a driver of its own: copies cannot have been there
                self.copies.clear()
                self.losses.clear()
                self.holders = dict.fromkeys(self.holders)
            case Asked() | Taken() | Resumed():
                self.ended.discard(event.number)
                self.holders[event.number] = event.copy
            case Ended():
                self.holders.pop(event.number, None)
                self.ended.add(event.number)
            case Lost() if event.number in self.holders:
                self.holders[event.number] = event.copy
                if not event.given_back:
                    self.losses[event.number] += 1
                    self.reasons[event.number] = event.outcome.reason
            case Retried() | Forgotten():
                for number in event.numbers:
                    self.ended.discard(number)
                    self.holders.pop(number, None)
                    self.losses.pop(number, None)
                self.holders |= dict.fromkeys(event.numbers if isinstance(event, Retried) else ())

    @property
    def budget(self) -> int | None:
        """Evaluations in all; None if none was given."""
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
        """The open trials that no copy runs, in order of number."""
        return sorted(number for number, holder in self.holders.items() if holder is None)

    def held_by(self, copy: int) -> list[int]:
        """The open trials that this copy runs, in order of number."""
        return sorted(number for number, holder in self.holders.items() if holder == copy)
