"""What a strategy remembered when it was stored: a study file may come from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from aegisbo.errors import OF_NONSENSE, AegisError, StudyError
from aegisbo.events import StoredMemory
from aegisbo.strategies.base import Memory


@contextmanager
def understood(memory: Memory) -> Iterator[None]:
    """While a strategy looks at its memory: say of a stored one that it makes no sense."""
    try:
        yield
    except AegisError:
        raise
    except OF_NONSENSE as error:
        if not isinstance(memory, StoredMemory):
            raise
        raise StudyError(
            f"The strategy cannot go on from what was stored as its memory ({type(error).__name__}: {error}): "
            "restore the study from a copy."
        ) from error
