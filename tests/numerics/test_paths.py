"""Sample paths against the exact posterior, at the rate at which features and samples converge.

Given its frequencies a path is Gaussian, its mean is the posterior mean for any frequencies, and its covariance

    C_f(z, z') = (1/F) Σ_j 2 s a_j(z) a_j(z') + noise k(z)' K⁻² k(z'),    a_j(z) = c_j(z) − k(z)' K⁻¹ c_j(X),
    c_j(x) = cos(ω_j·x + τ_j),

is the posterior covariance on average over the frequencies. So all moments below are unbiased for any number of
features F, draws D and paths a draw S, and an average over D S paths strays by a Gaussian part of order (D S)^-1/2 and
a part from the features of order (D F)^-1/2. Both sizes are computed here from the paper's formulas, without the code
under test; how many standard deviations are allowed follows from the number of moments looked at.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.stats import multivariate_t, norm

from aegisbo.numerics import paths
from aegisbo.numerics.gp import condition
from aegisbo.numerics.kernels import Matern52

FALSE_ALARM = 1e-3  # chance that correct code fails one test, were the seed not fixed
NOISE = 1e-4  # as in the paper
ISOTROPIC = np.array([0.3])
ARD = np.array([0.2, 0.4, 0.9])
DRAWS, PATHS, FEATURES = 64, 64, 1000


def posterior(n, s, lengthscale=ISOTROPIC, noise=NOISE, d=3):
    rng = np.random.default_rng([n, d])
    X = rng.random((n, d))
    y = np.sqrt(s) * np.sin(X @ np.array([7.0, -4.0, 2.0])[:d])
    return condition(Matern52(lengthscale, s), noise, X, y)


def probes(gp):
    """(7, d): a datum, a point a third of a length scale from it, corners, and points between the data."""
    d = gp.X.shape[1]
    beside = np.clip(gp.X[0] + gp.kernel.lengthscale / 3 / np.sqrt(d), 0.0, 1.0)
    return np.vstack([gp.X[0], beside, np.zeros(d), np.ones(d), np.random.default_rng(8).random((3, d))])


def deviations(gp, Z, seed, features=FEATURES):
    """(D, S, m): how far paths lie from the posterior mean."""
    mu = gp.predict(Z)[0]
    rngs = np.random.default_rng(seed).spawn(DRAWS)
    return np.stack([paths.draw(gp, rng, PATHS, features)(Z) - mu for rng in rngs])


def allowed(count):
    """Standard deviations that none of `count` Gaussian averages exceeds, but for a chance of FALSE_ALARM."""
    return norm.isf(0.5 * FALSE_ALARM / count)


def spread_of_one_feature(gp, Z):
    """(m, m) standard deviations of 2 s a_j(z) a_j(z') over frequencies drawn by SciPy and uniform phases."""
    rng = np.random.default_rng(99)
    d = Z.shape[1]
    shape = np.diag(np.broadcast_to(gp.kernel.lengthscale, (d,)) ** -2.0)
    frequencies = multivariate_t(shape=shape, df=5, seed=rng).rvs(20_000).reshape(-1, d)
    waves = np.cos(np.vstack([gp.X, Z]) @ frequencies.T + rng.uniform(0.0, 2.0 * np.pi, len(frequencies)))  # (n + m, J)
    n = len(gp.X)
    K = gp.kernel(gp.X, gp.X) + (gp.noise + gp.jitter) * np.eye(n)
    a = waves[n:] - np.linalg.solve(K, gp.kernel(gp.X, Z)).T @ waves[:n]  # (m, J)
    second = a @ a.T / a.shape[1]
    fourth = (a * a) @ (a * a).T / a.shape[1]
    return 2.0 * gp.kernel.outputscale * np.sqrt(fourth - second**2)


def spread_of_one_product(C):
    """(m, m) standard deviations of g(z) g(z') for a Gaussian g with covariance C."""
    variances = np.diagonal(C)
    return np.sqrt(np.outer(variances, variances) + C**2)


@pytest.mark.parametrize("lengthscale", [ISOTROPIC, ARD], ids=["isotropic", "ard"])
@pytest.mark.parametrize("s", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("n", [5, 50, 200])
def test_moments_are_those_of_the_posterior(n, s, lengthscale):
    gp = posterior(n, s, lengthscale)
    Z = probes(gp)
    C = gp.covariance(Z, Z)
    np.testing.assert_allclose(np.diagonal(C), gp.predict(Z)[1], rtol=1e-6)
    moved = deviations(gp, Z, seed=n).reshape(DRAWS * PATHS, len(Z))

    rate = np.sqrt(np.diagonal(C) / len(moved))
    assert (np.abs(moved.mean(axis=0)) <= allowed(len(Z)) * rate).all()

    by_samples = spread_of_one_product(C) / np.sqrt(len(moved))
    by_features = spread_of_one_feature(gp, Z) / np.sqrt(DRAWS * FEATURES)
    error = np.abs(moved.T @ moved / len(moved) - C)
    assert (error <= allowed(len(Z) * (len(Z) + 1) / 2) * (by_samples + by_features)).all()
