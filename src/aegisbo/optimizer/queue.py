"""Points that a user wants tried: they come before those that a strategy chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aegisbo.errors import InvalidInput
from aegisbo.events import Added
from aegisbo.optimizer.trial import ADDED, Trial, in_brief, told_in_brief
from aegisbo.space import Params
from aegisbo.strategies.base import Note

INITIAL = "initial"  # the move of a point to start with


@dataclass(frozen=True)
class Queue:
    """The points to start with, by the number of their trial, and those that were added and have not been asked for."""

    given: tuple[Params, ...]
    added: tuple[Added, ...] = ()

    @property
    def waiting(self) -> tuple[Params, ...]:
        """The points that were added and have not been asked for."""
        return tuple(event.params for event in self.added)

    def first(self, number: int) -> tuple[Params, Note] | None:
        """The point of the trial with this number, and its note; None if the strategy chooses."""
        if number < len(self.given):
            return self.given[number], {"move": INITIAL}
        if not self.added:
            return None
        return self.added[0].params, {"move": ADDED, **self.added[0].by}

    def plus(self, event: Added) -> Queue:
        """The queue with one more point at its end."""
        return replace(self, added=(*self.added, event))

    def after(self, trial: Trial) -> Queue:
        """The queue after this trial has been asked for."""
        taken = trial.note.get("move") == ADDED and self.waiting[:1] == (trial.params,)
        return replace(self, added=self.added[1:]) if taken else self

    def require_untried(self, params: Params, asked: Sequence[Trial]) -> None:
        """Refuse a point that has a trial or is waiting for one.

        Raises:
            InvalidInput: the message says which.
        """
        if params in (*self.given[len(asked) :], *self.waiting):
            raise InvalidInput(f"{in_brief(params)} is already waiting: it will be evaluated once.")
        for trial in asked:
            if trial.params == params and trial.state not in ("lost", "forgotten"):
                told = f" with the value {told_in_brief(trial)}" if trial.state == "done" else ""
                raise InvalidInput(
                    f"Trial {trial.number} is at {in_brief(params)} and is {trial.state}{told}: nothing to add. To "
                    "have it evaluated again, retry that trial."
                )
