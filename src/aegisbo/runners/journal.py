"""Where a run is written down while it happens; a study file on disk is one, nowhere is another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from aegisbo.runners.workers import Finished


class Asked(Protocol):
    """A point to evaluate, known by its number."""

    @property
    def number(self) -> int: ...

    @property
    def x(self) -> Any: ...

    @property
    def params(self) -> Mapping[str, Any]: ...

    @property
    def note(self) -> Mapping[str, Any]: ...


class Journal(Protocol):
    """Takes down what must survive a crash, before anybody acts on it. Called from several threads."""

    @property
    def known(self) -> int:
        """The last event that the optimizer knew of when the run began."""

    def asked(self, trial: Asked, memory: Mapping[str, Any], seen: int, seconds: float) -> None:
        """A point is about to be submitted; `seen` is the last event its choice knew of, `seconds` the time it took."""

    def ended(self, job: Finished) -> int:
        """A job has ended; returns the number of the event."""


class Unrecorded:
    """Writes nothing down."""

    known = 0

    def asked(self, trial: Asked, memory: Mapping[str, Any], seen: int, seconds: float) -> None:
        """Forget it."""

    def ended(self, job: Finished) -> int:
        """Forget it."""
        return 0
