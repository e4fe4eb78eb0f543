"""Many points, a few rows at a time: what is computed on the way stays in the processor's cache."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from aegisbo.arrays import Array

T = TypeVar("T", bound=np.generic)

ROWS = 256


def by_blocks(evaluate: Callable[[NDArray[T]], Array], Z: NDArray[T], rows: int | None = None) -> Array:
    """evaluate(Z), for a function that treats the rows of Z (m, ...) one by one; `rows` at a time, 256 if not given.

    No single row is left over at the end: NumPy multiplies one row by another routine than several, whose last digits
    differ.
    """
    borders = [*range(0, max(len(Z) - 1, 1), rows or ROWS), len(Z)]
    values = [evaluate(Z[i:j]) for i, j in pairwise(borders)]
    return values[0] if len(values) == 1 else np.concatenate(values)
