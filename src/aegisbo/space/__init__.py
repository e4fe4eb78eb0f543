"""The user's parameters, and the unit cube that the rest of the code sees instead."""

from __future__ import annotations

from aegisbo.space.parameters import Choice, Int, Params, Real
from aegisbo.space.space import Space
from aegisbo.space.space_file import read_space

__all__ = ["Choice", "Int", "Params", "Real", "Space", "read_space"]
