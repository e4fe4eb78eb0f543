"""What the parts of a strategy remember between two choices.

A strategy's memory is one JSON-able mapping. Each part reads and writes its own entries there, as a dataclass whose
fields have the names of the entries.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar, Self

from aegisbo.strategies.base import Memory


class Remembered:
    """Base of what a part remembers: a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @classmethod
    def recalled(cls, memory: Memory) -> Self | None:
        """What is in a memory, which may hold the entries of other parts, too; None if there is nothing yet."""
        entries = {each.name: memory[each.name] for each in fields(cls) if each.name in memory}
        return cls(**entries) if entries else None

    def kept(self) -> dict[str, Any]:
        """The entries of this part."""
        return {each.name: getattr(self, each.name) for each in fields(self)}
