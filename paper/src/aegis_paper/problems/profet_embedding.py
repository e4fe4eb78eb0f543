"""Tasks as points: a Gaussian-process latent-variable model that places alike tasks near each other.

Every configuration is an output of one Gaussian process over the task's place z, all with the same Matern-5/2 kernel:
Y[:, j] ~ N(0, K(Z)), Z ~ N(0, I). Places and kernel are found at the maximum of their joint density; how sure each
coordinate is follows from the curvature there (Laplace). Exact, since there are only some dozens of tasks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from aegisbo.arrays import Array

_STARTS = 5
_LOG_BOUNDS = (math.log(1e-3), math.log(1e3))  # of length scales, signal and noise
_DIFFERENCE = 1e-4


@dataclass(frozen=True, eq=False)
class Embedding:
    """A Gaussian for the place of every task, in units of the kernel's length scales."""

    mean: Array  # (T, Q)
    sd: Array  # (T, Q)

    def draw(self, task: int, rng: Generator) -> Array:  # (Q,)
        """A place for this task."""
        return np.asarray(self.mean[task] + self.sd[task] * rng.standard_normal(self.mean.shape[1]))


def embed_tasks(Y: Array, q: int, rng: Generator) -> Embedding:  # Y (T, N)
    """Place T tasks in q dimensions by the shapes of their results; level and scale of a task do not count."""
    shapes = (Y - Y.mean(axis=1, keepdims=True)) / Y.std(axis=1, keepdims=True)
    model = _LatentModel(shapes @ shapes.T, outputs=Y.shape[1], q=q)
    start = _principal_components(shapes, q)  # (T, q)
    scales = np.zeros(q + 2)  # logarithms
    scales[-1] = math.log(0.1)
    fits = []
    for attempt in range(_STARTS):
        jitter = 0.3 * attempt * rng.standard_normal(start.shape)
        theta = np.concatenate([(start + jitter).ravel(), scales])
        bounds = [(None, None)] * start.size + [_LOG_BOUNDS] * len(scales)
        fits.append(minimize(model.loss, theta, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 2000}))
    best = min(fits, key=lambda fit: float(fit.fun)).x
    Z, lengthscales, _, _ = model.unpack(best)
    return Embedding(mean=Z / lengthscales, sd=model.place_sd(best) / lengthscales)


def _principal_components(shapes: Array, q: int) -> Array:  # (T, q)
    left = np.linalg.svd(shapes, full_matrices=False)[0][:, :q]
    return np.asarray(left * math.sqrt(len(shapes)))


@dataclass(frozen=True, eq=False)
class _LatentModel:
    scatter: Array  # (T, T) Y Y^T, all that the likelihood needs of the data
    outputs: int
    q: int

    def unpack(self, theta: Array) -> tuple[Array, Array, float, float]:
        """Places (T, q), length scales (q,), signal variance, noise variance."""
        Z, scales = np.split(theta, [len(self.scatter) * self.q])
        values = np.exp(scales)
        return Z.reshape(-1, self.q), values[: self.q], float(values[-2]), float(values[-1])

    def loss(self, theta: Array) -> tuple[float, Array]:
        """The negative log density of data and places, and its gradient."""
        Z, lengthscales, signal, noise = self.unpack(theta)
        differences = (Z[:, None, :] - Z[None, :, :]) / lengthscales  # (T, T, q)
        root = np.sqrt(5 * (differences**2).sum(axis=2))
        decay = np.exp(-root)
        kernel = signal * (1 + root + root**2 / 3) * decay
        slope = -5 / 6 * signal * (1 + root) * decay  # d kernel / d squared distance
        factor = cho_factor(kernel + (noise + 1e-8) * np.eye(len(Z)), lower=True)
        inverse = cho_solve(factor, np.eye(len(Z)))
        solved = inverse @ self.scatter
        log_det = 2 * np.log(np.diag(factor[0])).sum()
        value = (self.outputs * log_det + np.trace(solved) + (Z**2).sum()) / 2

        by_kernel = (self.outputs * inverse - solved @ inverse) / 2  # (T, T)
        by_distance = by_kernel * slope
        by_place = 4 * np.einsum("ij,ijq->iq", by_distance, differences) / lengthscales + Z
        by_scale = -2 * np.einsum("ij,ijq->q", by_distance, differences**2)
        by_signal = (by_kernel * kernel).sum()
        by_noise = np.trace(by_kernel) * noise
        return float(value), np.concatenate([by_place.ravel(), by_scale, [by_signal, by_noise]])

    def place_sd(self, theta: Array) -> Array:  # (T, q)
        """Standard deviations of the places, from the diagonal of the Hessian at the optimum."""
        places = len(self.scatter) * self.q
        curvature = np.empty(places)
        for i in range(places):
            step = np.zeros_like(theta)
            step[i] = _DIFFERENCE
            rise = self.loss(theta + step)[1][i] - self.loss(theta - step)[1][i]
            curvature[i] = rise / (2 * _DIFFERENCE)
        return 1 / np.sqrt(np.maximum(curvature, 1.0)).reshape(-1, self.q)  # data cannot widen the prior, whose sd is 1
