"""How well a model predicts the lowest of its data: what counts when it is used to find a lower one."""

from __future__ import annotations

from math import ceil

import numpy as np

from aegisbo.arrays import Array, Index
from aegisbo.gp.output_transform import OutputScale
from aegisbo.gp.quadratic_model import Posterior

SHARE = 0.75  # how many data count as the lowest, for each coefficient of a quadratic
MOST = 120  # data that count as the lowest at most, as many as a model of the lowest points has


def lowest(measured: Array, d: int) -> Index:
    """The rows of the lowest values, the lowest first, for d coordinates."""
    return np.argsort(measured, kind="stable")[: min(max(d + 2, ceil(SHARE * (d + 1) * (d + 2) / 2)), MOST)]


def skill(gp: Posterior, scale: OutputScale, measured: Array, rows: Index) -> float:
    """log p of the values measured (n,) in these rows of the model's data, each predicted from all other data.

    It is in the units in which they were measured, so that models on different scales can be compared.
    """
    return float((log_densities(gp, rows) + scale.log_slope(measured[rows])).sum())


def log_densities(gp: Posterior, rows: Index) -> Array:
    """log p(y_i | all other data) (m,) in these rows (m,), at the hyper-parameters that the model has."""
    errors, variances = left_out(gp, rows)
    return np.asarray(-0.5 * (np.log(2.0 * np.pi * variances) + errors**2 / variances))


def left_out(gp: Posterior, rows: Index) -> tuple[Array, Array]:
    """By how much each y_i in these rows (m,) exceeds its prediction from all other data (m,), and its variance (m,).

    With Q = K⁻¹, y_i is predicted with error α_i/Q_ii and variance 1/Q_ii, noise included (Rasmussen and Williams,
    2006, eq. 5.12).
    """
    units = np.zeros((len(gp.alpha), len(rows)))
    units[rows, np.arange(len(rows))] = 1.0
    precisions = (gp.factor.whiten(units) ** 2).sum(axis=0)  # Q_ii
    return gp.alpha[rows] / precisions, 1.0 / precisions
