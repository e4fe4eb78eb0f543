"""Factors against NumPy and SciPy, jitter against the ladder, extensions against factoring the larger matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg as scipy_linalg

from aegisbo.errors import AegisError
from aegisbo.gp.linalg import JITTERS, NotPositiveDefinite, extend, factorize


def covariance(n, rng):
    """(n, n), well conditioned, with a lopsided diagonal."""
    A = rng.standard_normal((n, n + 3)) * rng.uniform(0.5, 3.0, (n, 1))
    return A @ A.T + 0.1 * np.eye(n)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_a_good_matrix_is_rebuilt_from_its_factor_without_jitter(n):
    K = covariance(n, np.random.default_rng(n))
    given = K.copy()
    factor = factorize(K)
    np.testing.assert_array_equal(K, given)
    assert factor.jitter == 0.0
    np.testing.assert_array_equal(factor.L, np.tril(factor.L))
    np.testing.assert_allclose(factor.L @ factor.L.T, K, rtol=1e-13, atol=1e-13)


RIGHT_SIDES = {
    "vector": lambda B: B[:, 0],
    "strided vector": lambda B: np.repeat(B, 2, axis=0)[::2, 1],
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "one column": lambda B: B[:, :1],
    "strided": lambda B: np.repeat(B, 2, axis=1)[:, ::2],
    "no column": lambda B: B[:, :0],
}


@pytest.mark.parametrize("n", [1, 9])
@pytest.mark.parametrize("right_side", RIGHT_SIDES.values(), ids=RIGHT_SIDES)
def test_solves_agree_with_scipy_whatever_the_memory_order(right_side, n):
    rng = np.random.default_rng(n)
    K, B = covariance(n, rng), right_side(rng.standard_normal((n, 5)))
    given, factor = B.copy(), factorize(K)
    C = np.linalg.cholesky(K)
    wanted = {
        factor.solve: np.linalg.solve(K, B),
        factor.whiten: scipy_linalg.solve_triangular(C, B, lower=True),
        factor.unwhiten: scipy_linalg.solve_triangular(C.T, B, lower=False),
    }
    if B.ndim == 2:
        wanted[factor.whiten_again] = wanted[factor.whiten]
    for solver, answer in wanted.items():
        got = solver(B)
        assert got.shape == B.shape
        np.testing.assert_allclose(got, answer, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(B, given)


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_without_rows_there_is_nothing_to_solve(shape):
    factor = factorize(np.empty((0, 0)))
    for solver in (factor.solve, factor.whiten, factor.unwhiten):
        assert solver(np.empty(shape)).shape == shape
    assert factor.whiten_again(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("scale", [4.0**-10, 1.0, 4.0**10])  # powers of four, whose roots are exact
@pytest.mark.parametrize(("excess", "step"), [(0.0, 1), (5e-11, 2), (5e-9, 3), (5e-7, 4), (5e-5, 5)])
def test_jitter_is_the_first_of_the_ladder_that_suffices(excess, step, scale):
    K = scale * np.array([[1.0, 1.0 + excess], [1.0 + excess, 1.0]])  # its smaller eigenvalue is -excess
    factor = factorize(K)
    assert factor.jitter == pytest.approx(JITTERS[step] * scale, rel=1e-12)
    np.testing.assert_allclose(factor.L @ factor.L.T, K + factor.jitter * np.eye(2), rtol=1e-14)


def test_repeated_points_are_factored_with_the_least_jitter():
    K = np.kron([[4.0, 2.0], [2.0, 5.0]], np.ones((3, 3)))  # pivots 4, 0, ... without rounding
    factor = factorize(K)
    assert factor.jitter == pytest.approx(4.5 * JITTERS[1])
    np.testing.assert_allclose(factor.L @ factor.L.T, K + factor.jitter * np.eye(6), rtol=1e-14)


@pytest.mark.parametrize(
    "K",
    [np.diag([1.0, 1.0, -0.5]), np.array([[1.0, 2.0], [2.0, 1.0]]), -np.eye(2), np.full((2, 2), np.nan)],
    ids=["negative entry", "correlation above one", "negative", "not a number"],
)
def test_what_is_no_covariance_is_refused_with_size_and_remedy(K):
    with pytest.raises(
        NotPositiveDefinite, match=rf"size {len(K)} .*raise the noise or remove repeated points"
    ) as error:
        factorize(K)
    assert isinstance(error.value, AegisError)


@pytest.mark.parametrize("sizes", [(4, 1), (1, 6), (5, 3, 1, 1, 7), (3, 0)])
def test_extensions_in_a_row_equal_factoring_the_whole(sizes):
    K = covariance(sum(sizes), np.random.default_rng(sizes))
    n = sizes[0]
    factor = factorize(K[:n, :n])
    for m in sizes[1:]:
        factor = extend(factor, K[:n, n : n + m], K[n : n + m, n : n + m])
        n += m
    assert factor.jitter == 0.0
    np.testing.assert_allclose(factor.L, np.linalg.cholesky(K), rtol=1e-10, atol=1e-12)
    b = np.arange(1.0, n + 1.0)
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(K, b), rtol=1e-9, atol=1e-12)


def test_extensions_keep_the_jitter_of_the_first_factor_on_the_new_diagonal():
    rng = np.random.default_rng(6)
    K = np.ones((12, 12))  # eight equal points first, whose pivots are exactly zero
    K[8:, 8:] += covariance(4, rng)
    factor = factorize(K[:8, :8])
    jitter = factor.jitter
    assert jitter == pytest.approx(JITTERS[1])
    factor = extend(factor, K[:8, 8:11], K[8:11, 8:11])
    factor = extend(factor, K[:11, 11:], K[11:, 11:])
    assert factor.jitter == jitter
    raised = K + jitter * np.eye(12)
    np.testing.assert_allclose(factor.L @ factor.L.T, raised, rtol=0.0, atol=1e-13)


def test_extending_by_points_that_are_already_there_adds_jitter_too():
    K = np.array([[4.0, 2.0], [2.0, 5.0]])  # all roots exact: nothing is left of the new diagonal
    again = [0, 1, 1]
    factor = extend(factorize(K), K[:, again], K[np.ix_(again, again)])
    whole = K[np.ix_([0, 1, *again], [0, 1, *again])]
    assert 0.0 < factor.jitter <= 5.0 * JITTERS[1]
    np.testing.assert_allclose(factor.L @ factor.L.T, whole, atol=2.0 * factor.jitter)


def test_whitening_again_keeps_its_digits_on_nearly_singular_matrices():
    t = np.linspace(0.0, 1.0, 30)[:, None]
    K = np.exp(-((t - t.T) ** 2)) + 1e-8 * np.eye(30)  # condition number 3e9
    factor, B = factorize(K), np.exp(-((t - np.linspace(0.0, 1.0, 7)) ** 2))
    once, again = factor.whiten(B), factor.whiten_again(B)
    # The variance that is explained, of 1: the rounding of an inverse grows with the root of the condition number.
    np.testing.assert_allclose((again**2).sum(axis=0), (once**2).sum(axis=0), rtol=0.0, atol=1e-10)
    np.testing.assert_array_equal(again, factor.whiten_again(B))


@pytest.mark.parametrize("m", [0, 1, 4])
def test_an_extension_of_a_lasting_factor_builds_on_its_inverse(m):
    rng = np.random.default_rng(m)
    K, B = covariance(9 + m, rng), rng.standard_normal((9 + m, 5))
    base = replace(factorize(K[:9, :9]), lasting=True)
    first, second = (extend(base, K[:9, 9:], K[9:, 9:]) for _ in range(2))
    for factor in (first, second):
        np.testing.assert_allclose(factor.whiten_again(B), np.linalg.solve(np.linalg.cholesky(K), B), atol=1e-12)
    assert "_inverse" in vars(base)  # made once, for both


def test_extending_does_not_alter_what_it_was_given():
    K = covariance(5, np.random.default_rng(5))
    factor = factorize(K[:3, :3])
    L, cross, corner = factor.L.copy(), K[:3, 3:].copy(), K[3:, 3:].copy()
    extend(factor, cross, corner)
    np.testing.assert_array_equal(factor.L, L)
    np.testing.assert_array_equal(cross, K[:3, 3:])
    np.testing.assert_array_equal(corner, K[3:, 3:])
