"""Cosine and sine of many angles at once, exact to rounding.

NumPy hands double-precision sines and cosines to the C library one number at a time; evaluating a sample path is
little else. Here both come from one table of some thousand angles and a short series for the rest of the way.
"""

from __future__ import annotations

import numpy as np

from aegisbo.arrays import Array

STEPS_PER_TURN = 16384  # within half a step the short series below are exact to rounding
STEP = 2.0 * np.pi / STEPS_PER_TURN
CHUNK = 10_000  # angles at a time, those of ten points on a path: their temporaries stay in the cache
_ANGLES = STEP * np.arange(STEPS_PER_TURN)
_COSINES, _SINES = np.cos(_ANGLES), np.sin(_ANGLES)


def cos_sin(angles: Array) -> tuple[Array, Array]:
    """Cosines and sines (m, F) of angles (m, F)."""
    cosines, sines = np.empty(angles.shape), np.empty(angles.shape)
    flat = angles.ravel(), cosines.ravel(), sines.ravel()
    for i in range(0, angles.size, CHUNK):
        _look_up(*(array[i : i + CHUNK] for array in flat))
    return cosines, sines


def _look_up(angles: Array, cosines: Array, sines: Array) -> None:
    """Fill in the cosines and sines (c,) of angles (c,)."""
    rest = angles * (1.0 / STEP)
    nearest = np.rint(rest)
    rest -= nearest  # in steps, as the series below
    index = nearest.astype(np.int64)
    index &= STEPS_PER_TURN - 1
    table_cos, table_sin = _COSINES.take(index), _SINES.take(index)
    square = np.multiply(rest, rest, out=nearest)
    cos_rest = square * (-0.5 * STEP**2)
    cos_rest += 1.0  # 1 − r²/2
    square *= -1.0 / 6.0 * STEP**3
    square += STEP
    rest *= square  # r − r³/6
    # cos(a + r) = cos a cos r − sin a sin r, sin(a + r) = sin a cos r + cos a sin r
    np.multiply(table_cos, cos_rest, out=cosines)
    cosines -= np.multiply(table_sin, rest, out=square)
    np.multiply(table_sin, cos_rest, out=sines)
    sines += np.multiply(table_cos, rest, out=square)
