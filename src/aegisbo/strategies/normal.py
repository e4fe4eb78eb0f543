"""The normal distribution where its values are too small to be written."""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, log_ndtr

from aegisbo.arrays import Array


def log_cdf_and_slope(z: Array) -> tuple[Array, Array]:
    """log Φ(z) and its derivative φ(z)/Φ(z), which is the reciprocal of Mills' ratio at −z: exact where both vanish."""
    return log_ndtr(z), np.sqrt(2.0 / np.pi) / erfcx(-z / np.sqrt(2.0))
