"""One real or whole number, or a bool, out of a value or a text; recognizes NumPy's without loading NumPy."""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from operator import index

UNSIGNED = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"  # how a number is written in a sentence


def as_number(value: object) -> float | None:
    """The value as a float, infinite if it is too large for one; None if it is not one real number."""
    array = getattr(sys.modules.get("numpy"), "ndarray", ())  # worker processes load NumPy only if they need it
    if isinstance(value, array) and value.size == 1:
        value = None if getattr(value, "mask", False) else value.item()  # a masked entry is not a number
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except TypeError:  # NumPy calls a span of time an integer
        return None


def as_finite(value: object, least: float = -math.inf, most: float = math.inf) -> float | None:
    """The value as a finite float; None if it is not one real number from `least` to `most`."""
    number = as_number(value)
    return number if number is not None and least <= number <= most and math.isfinite(number) else None


def number_in(text: str) -> float | None:
    """The number that a text is, which may be infinite or NaN; None if it is none."""
    try:
        return float(text)
    except ValueError:
        return None


def number_or_text(text: str) -> int | float | str:
    """The number that a text is, whole if it is written so; else the text."""
    try:
        return int(text)
    except ValueError:
        number = number_in(text)
        return text if number is None else number


def as_whole(value: object, least: float = -math.inf, most: float = math.inf) -> int | None:
    """The value as an int; None if it is a bool, or not a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        return None
    try:
        whole = index(value)
    except TypeError:  # NumPy calls a span of time an integer
        return None
    return whole if least <= whole <= most else None


def as_switch(value: object) -> bool | None:
    """The value as a bool, also NumPy's; None if it is neither True nor False."""
    return bool(value) if isinstance(value, bool | getattr(sys.modules.get("numpy"), "bool_", bool)) else None
