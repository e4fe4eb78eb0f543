"""The user's parameters, and the unit cube that everything below the user sees instead."""

from __future__ import annotations

from aegisbo.space.space import Choice, Int, Params, Real, Space

__all__ = ["Choice", "Int", "Params", "Real", "Space"]
