"""One real number out of whatever a caller hands over; NumPy's are known without loading NumPy."""

from __future__ import annotations

import math
import sys
from numbers import Real


def as_number(value: object) -> float | None:
    """The value as a float, infinite if it is too large for one; None if it is not one real number."""
    array = getattr(sys.modules.get("numpy"), "ndarray", ())  # worker processes load NumPy only if they need it
    if isinstance(value, array) and value.size == 1:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
