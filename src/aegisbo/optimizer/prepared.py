"""A choice made ahead of time, before it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.space import Params
from aegisbo.strategies.base import Memory, Note


@dataclass(frozen=True)
class Prepared:
    """The next point, made ready by `Optimizer.prepare`; dropping it leaves no trace."""

    number: int  # of the trial that it will be
    params: Params
    note: Note
    memory: Memory  # what the strategy remembers once the point is handed out
    before: Memory  # what it remembered when it chose
    results: int  # that were known to the choice
