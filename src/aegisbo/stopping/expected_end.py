"""Where an evaluation without a value will end or would have ended, as users are told."""

from __future__ import annotations

from typing import NamedTuple


class ExpectedEnd(NamedTuple):
    """Where an evaluation will end, in the user's direction and units."""

    value: float
    sd: float  # its standard deviation
    chance: float  # that it ends better than the best value measured so far
