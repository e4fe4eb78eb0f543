"""The point of the next trial, and why it was chosen."""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.space import Params
from aegisbo.strategies.base import Memory, Note


@dataclass(frozen=True)
class NextPoint:
    """What comes next in a run."""

    number: int  # of the trial that it would be
    params: Params
    note: Note
    memory: Memory  # what the strategy remembers once the point is handed out
