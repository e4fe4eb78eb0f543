"""Stochastic-gradient Hamiltonian Monte Carlo that finds its own step size for every weight.

After Springenberg, Klein, Falkner and Hutter (Bayesian optimization with robust Bayesian neural networks, NeurIPS
2016): a momentum follows noisy gradients, friction brakes it, and noise replaces the energy that friction takes. Each
weight is measured in units of its gradient's spread, which is estimated during burn-in and kept from then on.

Hundreds of thousands of weights pass here a hundred thousand times, so all arithmetic is float32 and in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Float32 = NDArray[np.float32]

_FRICTION = 0.05
_EPSILON = 1e-10


def sghmc(
    weights: Float32,  # (P,)
    gradient: Callable[[Float32], Float32],  # of the negative log density; noisy; a fresh or reused array
    step: float,
    burn_in: int,
    spacing: int,
    rng: Generator,
) -> Iterator[Float32]:
    """Draws from the density, one every `spacing` steps after `burn_in`, without end."""
    weights = weights.copy()
    momentum = np.zeros_like(weights)
    spread = _GradientSpread(len(weights), step)
    for _ in range(burn_in):
        slope = gradient(weights)
        spread.update(slope)
        _move(weights, momentum, slope, spread, rng)
    while True:
        for _ in range(spacing):
            _move(weights, momentum, gradient(weights), spread, rng)
        yield weights.copy()


def _move(weights: Float32, momentum: Float32, slope: Float32, spread: _GradientSpread, rng: Generator) -> None:
    momentum *= 1 - _FRICTION
    slope *= spread.inverse
    slope *= spread.step**2
    momentum -= slope
    # For small steps only the mean and the variance of the noise matter; uniform costs a quarter of Gaussian.
    noise = rng.random(out=slope, dtype=np.float32)
    noise -= 0.5
    noise *= spread.noise_width
    momentum += noise
    weights += momentum


class _GradientSpread:
    """Running means of the gradient and its square, over a window that shrinks where the gradient is mostly noise."""

    def __init__(self, size: int, step: float) -> None:
        self.step = step
        self.window, self.mean, self.square = (np.ones(size, dtype=np.float32) for _ in range(3))
        self.inverse, self.noise_width, self._scratch = (np.empty(size, dtype=np.float32) for _ in range(3))

    def update(self, slope: Float32) -> None:
        """Take one more gradient into account."""
        scratch = self._scratch
        rate = np.add(self.window, 1, out=self.inverse)  # borrowed until it is set below
        np.reciprocal(rate, out=rate)

        np.multiply(self.mean, self.mean, out=scratch)  # window += 1 - window mean^2 / square
        scratch /= self.square
        scratch *= self.window
        self.window += 1
        self.window -= scratch

        np.subtract(slope, self.mean, out=scratch)  # mean += rate (slope - mean)
        scratch *= rate
        self.mean += scratch

        np.multiply(slope, slope, out=scratch)  # square += rate (slope^2 - square)
        scratch -= self.square
        scratch *= rate
        self.square += scratch

        np.sqrt(self.square, out=self.inverse)
        self.inverse += _EPSILON
        np.reciprocal(self.inverse, out=self.inverse)

        # The gradient is noisy itself; where that noise is more than enough, none is added.
        variance = np.multiply(self.inverse, 2 * self.step**2 * _FRICTION, out=self.noise_width)
        variance -= self.step**4
        np.maximum(variance, 0, out=variance)
        variance *= 12  # a uniform law of width w has variance w^2 / 12
        np.sqrt(variance, out=self.noise_width)
