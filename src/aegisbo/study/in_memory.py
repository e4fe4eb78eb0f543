"""The log of a run without a file."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import count
from typing import TypeVar

from aegisbo.events import Event

E = TypeVar("E", bound=Event)


class InMemory:
    """Counts events and keeps none: nobody will ask for them, and nobody else writes here. Else as a `Store`."""

    path = file = None
    moved = ""

    def __init__(self) -> None:
        self._ids = count(1)  # which several threads may take

    def append(self, event: E) -> E:
        """The event with its place."""
        return replace(event, id=next(self._ids), at=time.time())

    def transaction(self) -> AbstractContextManager[None]:
        """Nothing to be undone."""
        return nullcontext()

    def news(self, after: int) -> list[Event]:
        """None."""
        return []
