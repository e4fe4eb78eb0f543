"""What a move sees, and what it chooses.

A move is asked one question, with two answers: a decision, or None if it does not apply. Second thoughts are asked
about a decision that a move has made, and either replace it or let it stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.search.inner_search import InnerSearch
from aegisbo.strategies.base import Evidence, Note
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.beliefs import Beliefs
from aegisbo.strategies.memory import Remembered

Part = TypeVar("Part", bound=Remembered)


@dataclass(frozen=True)
class Decision:
    """What a move wants, before it is checked whether the point is taken."""

    move: str
    choices: Array  # (k, width) in order of preference, points that can be evaluated
    belief: Belief | Beliefs  # that it was made by, and that tells what is expected
    widths: Array | None = None  # (width,) in which closeness is measured; the model's length scales unless given
    note: Note = field(default_factory=dict)  # what else is said of it


@dataclass(frozen=True)
class Turn:
    """One choice in the making."""

    believed: Belief | Beliefs  # of the objective, or of several
    evidence: Evidence
    search: InnerSearch  # how cheap functions are minimized
    rng: Generator  # for everything random
    memory: dict[str, Any]  # JSON-able; what is remembered now goes in there

    @property
    def belief(self) -> Belief:
        """What is believed of the only objective."""
        return cast("Belief", self.believed)

    @property
    def beliefs(self) -> Beliefs:
        """What is believed of several objectives."""
        return cast("Beliefs", self.believed)

    def recall(self, part: type[Part]) -> Part | None:
        """What a part of the strategy has remembered; None if nothing."""
        return part.recalled(self.memory)

    def remember(self, part: Remembered) -> None:
        """Keep it until the next choice."""
        self.memory.update(part.kept())


class Move(Protocol):
    """One way to choose a point."""

    def choose(self, turn: Turn) -> Decision | None:
        """The decision; None if this move does not apply."""


class SureMove(Move, Protocol):
    """A move that always applies."""

    def choose(self, turn: Turn) -> Decision:
        """The decision."""


class SecondThought(Protocol):
    """A move that may take the place of another one."""

    def instead(self, turn: Turn, decision: Decision) -> Decision | None:
        """The decision in its place; None if it stands."""
