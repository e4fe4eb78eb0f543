"""What may be changed while a run goes on: its budget, its workers and its limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from threading import TIMEOUT_MAX
from typing import Any

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.number import as_number, as_whole
from aegisbo.printable import brief
from aegisbo.study.events import Event

Check = Callable[[str, Any], object]


MOST = 10**15  # of anything that is counted


def count(remedy: str, least: int = 1, *, none: bool = False) -> Check:
    """A check for whole numbers that are not less than the least one, and that a run could reach."""

    def check(name: str, value: Any) -> None:
        if as_whole(value, least, MOST) is None and not (none and value is None):
            beyond = f" and at most {MOST:,}" if as_whole(value, least) is not None else ""
            raise InvalidInput(f"{name} is {brief(repr(value))}: {remedy}{beyond}.")

    return check


def seconds(name: str, value: Any) -> None:
    """Refuse what is no number of seconds, nor None."""
    if value is None:
        return
    number = as_number(value)
    if number is None or not 0 < number <= TIMEOUT_MAX:
        raise InvalidInput(
            f"{name} is {brief(repr(value))}: give seconds, more than 0; without it, or with None, there is no limit."
        )


def finite(name: str, value: Any) -> None:
    """Refuse what is no finite number, nor None."""
    number = as_number(value)
    if value is not None and (number is None or not math.isfinite(number)):
        raise InvalidInput(f"{name} is {brief(repr(value))}: give a finite number, or None.")


TERMS: dict[str, Check] = {
    "budget": count("give a whole number of evaluations, at least 1"),
    "workers": count("give a whole number from 1 upwards"),
    "timeout": seconds,
    "trial_timeout": seconds,
    "retries": count("give a whole number, 0 for none", least=0),
    "target": finite,
    "give_up_after": count("give at least 1, or None to go on whatever happens", none=True),
}
FOR_COPIES = ("budget", "timeout", "trial_timeout", "target", "give_up_after")  # which copies of a shared study heed

_DECIDED = "earlier choices were made with it. Begin another study --from this one"
_ONE_CALL = "it belongs to one call. End the run and make the call with another one"
FIXED = {
    "space": "earlier points lie in it. Give wider bounds to the next call, or begin another study --from this one",
    "initial": "the first points have been chosen. `aegisbo add` lets another point be tried",
    **dict.fromkeys(
        ("strategy", "preset", "seed", "n_initial", "maximize", "noisy", "cost", "constraints", "limits"), _DECIDED
    ),
    **dict.fromkeys(("executor", "threads_per_worker", "worker_env", "lease", "raise_errors", "progress"), _ONE_CALL),
}


def checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes, if they can be made.

    Raises:
        InvalidInput: there are none, or one of them cannot be made; the message says why.
    """
    if not changes:
        raise InvalidInput(f"Nothing to change: give one or more of {', '.join(TERMS)}.")
    for name, value in changes.items():
        if name in FIXED:
            raise InvalidInput(f"{name} cannot be changed while a run goes on: {FIXED[name]}.")
        if name not in TERMS:
            raise UnknownName("setting", name, TERMS)
        TERMS[name](name, value)
    return {name: as_stored(value) for name, value in changes.items()}


def as_stored(value: Any) -> int | float | None:
    """A number as JSON holds it: NumPy's and fractions are numbers, too."""
    return value if value is None else int(value) if isinstance(value, Integral) else float(value)


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
            self.changed |= {name: value for name, value in event.body["changes"].items() if name in TERMS}
        elif event.kind == "opened" or (event.kind == "joined" and "copy" not in event.body):
            self.call(event.body.get("call", {}))

    def call(self, call: Mapping[str, Any]) -> None:
        """Let a driver or a copy have been called; one that comes back is not called again."""
        given = {name: call[name] for name in TERMS if name in call and (name != "budget" or call[name] is not None)}
        for name, value in given.items():
            if self.asked.get(name, value) != value:
                self.changed.pop(name, None)
        self.asked |= given
