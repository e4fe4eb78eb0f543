"""Checks of arrays that callers pass: each becomes float64 of a known shape, or raises a clear error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aegisbo.errors import InvalidInput

Array = NDArray[np.float64]
Floats = NDArray[Any]  # float64, or float32 where a rough answer will do; the result has the type of the argument
Mask = NDArray[np.bool_]
Index = NDArray[np.intp]


def as_floats(value: ArrayLike, name: str) -> Array:
    """A float64 copy-on-need of `value`, all entries finite."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must hold numbers only, got {value!r}.") from error
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)].flat[0]
        raise InvalidInput(f"{name} holds {bad}: only finite numbers can be used; leave such entries out.")
    return array


def as_vector(value: ArrayLike, name: str, length: int | None = None) -> Array:
    """A finite float64 vector, of `length` entries if given."""
    array = as_floats(value, name)
    if array.ndim != 1 or (length is not None and array.shape[0] != length):
        want = "one dimension" if length is None else f"shape ({length},)"
        raise InvalidInput(f"{name} must have {want}, got shape {array.shape}.")
    return array


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, marked read-only because it is shared."""
    array.flags.writeable = False
    return array
