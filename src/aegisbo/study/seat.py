"""An adviser's seat: a person or a program whom the user trusts with a share of the evaluations, and not with more."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from aegisbo.errors import InvalidInput
from aegisbo.events import Added, Caused, Forgotten, Retried
from aegisbo.number import as_finite
from aegisbo.optimizer.told import checked_author
from aegisbo.optimizer.trial import ADDED, USER, move_of
from aegisbo.outcome import FAILURES
from aegisbo.printable import in_a_row
from aegisbo.study.state import State

C = TypeVar("C", bound=Caused)
EXACT = 1e-9  # so that 0.1 of 30 are 3


@dataclass(frozen=True)
class Seat:
    """Somebody who may use up a share of the evaluations.

    A point and a change use up one each, and so does each trial that is retried or forgotten. What one seat of a study
    has used up is not left to another, whatever its name.
    """

    author: str
    share: float  # of the trials that have begun and the points that wait

    def __post_init__(self) -> None:
        if as_finite(self.share, least=0.0, most=1.0) is None:
            raise InvalidInput(f"share is {self.share!r}: give a part of the evaluations, from 0 to 1, such as 0.2.")

    def room(self, state: State, more: int = 0) -> int:
        """How many evaluations it may use up now, or after `more` have been added."""
        return math.floor(self.share * (_begun(state) + more) + EXACT) - state.ledger.used


Author: TypeAlias = str | Seat | None


def signed(event: C, author: Author, state: State) -> C:
    """The event with its author, if it may cause it in this state.

    Raises:
        InvalidInput: the name cannot be used, the share of a seat is used up, or trials are not a seat's to change.
    """
    if not isinstance(author, Seat):
        return replace(event, author=checked_author(author))
    _require_own(event, state)
    if author.room(state, more=isinstance(event, Added)) < event.cost:
        free = math.ceil((state.ledger.used + event.cost) / author.share - EXACT) if author.share else None
        when = "so an adviser may only look" if free is None else f"so wait until {free} have begun"
        used, begun = state.ledger.used, _begun(state)
        raise InvalidInput(
            f"The share of advisers is used up: they may use up {author.share:.0%} of the evaluations. {begun} have "
            f"begun or wait, {used} of these are used up, and this takes {event.cost} more, {when}."
        )
    name = checked_author(author.author)
    name = f"adviser {name}" if name in (USER, ADDED) else name  # which mean somebody else
    return replace(event, author=name, share=author.share)


def _begun(state: State) -> int:
    return len(state.optimizer.trials) + len(state.optimizer.waiting)


def _require_own(event: Caused, state: State) -> None:
    """Refuse what would take a result away that is not the seat's."""
    if isinstance(event, Retried):
        rule = "an adviser can retry only trials that have ended without a value"
        others = [number for number in event.numbers if state.optimizer.trial(number).state not in FAILURES]
    elif isinstance(event, Forgotten):
        rule = "an adviser can forget only trials that advisers have added"
        trials = map(state.optimizer.trial, event.numbers)
        others = [trial.number for trial in trials if move_of(trial) != ADDED or "share" not in trial.note]
    else:
        return
    if others:
        raise InvalidInput(f"Trial {in_a_row(others)}: {rule}. Leave {'it' if len(others) == 1 else 'them'} out.")
