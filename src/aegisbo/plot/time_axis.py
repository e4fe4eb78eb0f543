"""Units of time that give readable numbers."""

from __future__ import annotations


def unit_of(seconds: float) -> tuple[str, float]:
    """The unit for times up to so many seconds: its name and its seconds."""
    if seconds <= 180.0:
        return "s", 1.0
    return ("min", 60.0) if seconds <= 3 * 3600.0 else ("h", 3600.0)
