"""Many points, a few rows at a time: what is computed on the way stays in the processor's cache."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aegisbo.arrays import Array

ROWS = 256


def by_blocks(evaluate: Callable[[Array], Array], Z: Array) -> Array:
    """evaluate(Z), for a function that treats the rows of Z (m, d) one by one."""
    if len(Z) <= ROWS:
        return evaluate(Z)
    return np.concatenate([evaluate(Z[i : i + ROWS]) for i in range(0, len(Z), ROWS)])
