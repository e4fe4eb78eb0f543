"""Points of which nearly all coordinates are 0: those of a choice with dozens of values or more.

Distances, angles and main effects are sums over the coordinates. Where all coordinates are 0 they are known, so only
the few others are looked at: a point then costs the same however many values a choice has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from aegisbo.arrays import Array, Floats
from aegisbo.gp.main_effects import WAVES, by_coordinate, waves, waves_and_slopes

WIDE = 64  # coordinates; points of fewer are not worth the trouble
RARE = 16  # at most one in this many coordinates is not 0


def sparse(Z: Floats) -> csr_array | None:
    """Z (m, d) as a sparse matrix in the same precision; None unless it is wide and nearly all of it is 0."""
    m, d = Z.shape
    if d < WIDE:
        return None
    flat = Z.ravel()
    places = np.flatnonzero(flat != 0.0)  # many times as fast as asking for rows and columns
    if RARE * len(places) > Z.size:
        return None
    return csr_array((flat[places], places % d, np.searchsorted(places, d * np.arange(m + 1))), (m, d))


def scaled(A: csr_array, lengthscale: Array) -> csr_array:
    """A (m, d) in units of the length scales (1,) or (d,)."""
    scales = np.broadcast_to(lengthscale, A.shape[1:])[A.indices].astype(A.dtype)
    return csr_array((A.data / scales, A.indices, A.indptr), A.shape)


def squared_distances(A: csr_array, B: csr_array) -> Floats:
    """Between the rows of A (m, d) and of B (n, d): (m, n).

    By |a − b|² = |a|² + |b|² − 2ab, measured from the corner 0, where sparse points are.
    """
    squares = (A @ B.T).toarray()
    squares *= -2.0
    squares += _squares(A)[:, None]
    squares += _squares(B)
    return np.asarray(np.maximum(squares, 0.0, out=squares))


def _squares(A: csr_array) -> Floats:
    return np.asarray(csr_array((A.data**2, A.indices, A.indptr), A.shape).sum(axis=1))


@dataclass(frozen=True)
class AllWaves:
    """The waves of the main effects at points, one by one."""

    phi: Floats  # (B d, m)
    phi_slopes: Array | None = None  # (B d, m)

    def weighted(self, weights: Floats) -> Floats:
        """Σ weights φ, (S, m) or (m,), for weights (S, B d) or (B d,)."""
        return np.asarray(weights @ self.phi)

    def squared(self, variances: Array) -> Array:
        """Σ variances φ² (m,), for variances (B d,)."""
        return np.asarray(variances @ self.phi**2)

    def slopes(self, weights: Array) -> Array:
        """The gradient (m, d) of Σ weights φ, for weights (B d,)."""
        assert self.phi_slopes is not None
        return by_coordinate(weights[:, None] * self.phi_slopes, len(weights) // WAVES)


@dataclass(frozen=True)
class FewWaves:
    """The waves of the main effects at sparse points: as they are at 0, and how they differ at other coordinates."""

    points: csr_array  # (m, d)

    def weighted(self, weights: Floats) -> Floats:
        at_zero, others = self._values
        return self._sums(weights, at_zero, others)

    def squared(self, variances: Array) -> Array:
        at_zero, others = self._values
        return self._sums(variances, at_zero**2, others**2)

    def slopes(self, weights: Array) -> Array:
        (m, d), rows = self.points.shape, np.repeat(np.arange(self.points.shape[0]), np.diff(self.points.indptr))
        by_wave = weights.reshape(WAVES, d)
        (_, at_zero), (_, others) = waves_and_slopes(np.zeros((1, 1))), waves_and_slopes(self.points.data[:, None])
        gradients = np.tile((by_wave * at_zero).sum(axis=0), (m, 1))
        gradients[rows, self.points.indices] = (by_wave[:, self.points.indices] * others).sum(axis=0)
        return gradients

    @cached_property
    def _values(self) -> tuple[Floats, Floats]:
        """φ at 0 (B, 1), and at all coordinates that are not (B, entries)."""
        data = self.points.data
        return waves(np.zeros((1, 1), data.dtype)), waves(data[:, None])

    def _sums(self, weights: Floats, at_zero: Floats, others: Floats) -> Floats:
        (m, d), points = self.points.shape, self.points
        columns = points.indices[:, None] + d * np.arange(WAVES)  # (entries, B)
        differences = csr_array(((others - at_zero).T.ravel(), columns.ravel(), WAVES * points.indptr), (m, WAVES * d))
        base = weights @ np.repeat(at_zero[:, 0], d)  # () or (S,)
        return np.asarray((differences @ weights.T).T + base[..., None])


def waves_at(Z: Floats) -> AllWaves | FewWaves:
    """The waves at Z (m, d), in the precision of Z."""
    few = sparse(Z)
    return AllWaves(waves(Z)) if few is None else FewWaves(few)


def waves_and_slopes_at(Z: Array) -> AllWaves | FewWaves:
    """The waves at Z (m, d), and their slopes."""
    few = sparse(Z)
    return AllWaves(*waves_and_slopes(Z)) if few is None else FewWaves(few)
