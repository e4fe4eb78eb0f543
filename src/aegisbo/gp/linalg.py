"""Cholesky factors: made with the least jitter that works, extended by rows, solved against.

LAPACK is called directly: at the sizes that users have (tens to hundreds of points) SciPy's convenience wrappers
cost as much as the arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas, lapack

from aegisbo.arrays import Array
from aegisbo.errors import AegisError

JITTERS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)  # relative to the mean of the diagonal


class NotPositiveDefinite(AegisError):
    """A matrix that is no covariance, whatever reasonable jitter is added."""


@dataclass(frozen=True)
class Factor:
    """Lower Cholesky factor of K with up to `jitter` added to its diagonal."""

    L: Array  # (n, n), Fortran order, zeros above the diagonal
    jitter: float  # the most that was added to an entry to make it work; 0 in the usual case
    lasting: bool = False  # it will be extended again and again: its extensions build on its inverse
    base: Factor | None = None  # the lasting factor that this one extends

    @cached_property
    def _inverse(self) -> Array:
        if self.base is None:
            return np.asarray(lapack.dtrtri(self.L, lower=1)[0])  # (n, n)
        n = len(self.base.L)
        corner = lapack.dtrtri(self.L[n:, n:], lower=1)[0]
        inverse = np.zeros_like(self.L)
        inverse[:n, :n] = self.base._inverse
        inverse[n:, :n] = -corner @ (self.L[n:, :n] @ self.base._inverse)
        inverse[n:, n:] = corner
        return inverse

    def whiten(self, B: Array) -> Array:
        """L^-1 B for B of shape (n,) or (n, m)."""
        return _triangular(self.L, B, transposed=False)

    def whiten_again(self, B: Array) -> Array:
        """L^-1 B for one B (n, m) after the other: by the inverse of L, which is several times as fast as solving."""
        return np.asarray(blas.dtrmm(1.0, self._inverse, B.T, side=1, lower=1, trans_a=1).T)

    def solve(self, B: Array) -> Array:
        """(L L^T)^-1 B for B of shape (n,) or (n, m)."""
        return _triangular(self.L, self.whiten(B), transposed=True)

    def unwhiten(self, V: Array) -> Array:
        """L^-T V: turns whitened columns into solved ones."""
        return _triangular(self.L, V, transposed=True)


def factorize(K: Array, scale: float | None = None) -> Factor:
    """Factor a symmetric matrix (n, n), adding the smallest jitter of the ladder that makes it positive definite.

    Jitter is measured in `scale`, the mean of the diagonal unless given.
    """
    if scale is None:
        scale = float(np.diagonal(K).mean()) if K.size else 1.0
    for relative in JITTERS:
        A = np.array(K, order="F")
        A[np.diag_indices_from(A)] += relative * scale
        L, info = lapack.dpotrf(A, lower=1, clean=1, overwrite_a=1)
        if info == 0 and np.isfinite(L[-1:, -1:]).all():
            return Factor(L, relative * scale)
    raise NotPositiveDefinite(
        f"A covariance matrix of size {K.shape[0]} is not positive definite even with jitter {JITTERS[-1] * scale:g}; "
        "raise the noise or remove repeated points."
    )


def extend(factor: Factor, cross: Array, corner: Array) -> Factor:
    """Factor of [[K, cross], [cross^T, corner]] from the factor of K in O(n^2 m) instead of O((n + m)^3).

    cross is (n, m), corner (m, m). The old jitter is kept on the new diagonal, so that the result equals the
    factor of the larger matrix with that jitter.
    """
    n, m = cross.shape
    if m == 0:
        return factor
    below = factor.whiten(cross)  # (n, m)
    schur = corner - below.T @ below
    schur[np.diag_indices(m)] += factor.jitter
    added = factorize(schur, scale=float(np.diagonal(corner).mean()))  # little may be left of schur's own diagonal
    L = np.zeros((n + m, n + m), order="F")
    L[:n, :n] = factor.L
    L[n:, :n] = below.T
    L[n:, n:] = added.L
    return Factor(L, factor.jitter + added.jitter, base=factor if factor.lasting else None)


def _triangular(L: Array, B: Array, *, transposed: bool) -> Array:
    if B.size == 0:
        return np.array(B, dtype=np.float64)
    if B.ndim == 1:
        return np.asarray(blas.dtrsv(L, B, lower=1, trans=int(transposed)))
    # A C-ordered right-hand side is solved from the right on its transpose, which spares BLAS a copy.
    if B.flags.c_contiguous:
        return np.asarray(blas.dtrsm(1.0, L, B.T, side=1, lower=1, trans_a=int(not transposed)).T)
    return np.asarray(blas.dtrsm(1.0, L, B, lower=1, trans_a=int(transposed)))
