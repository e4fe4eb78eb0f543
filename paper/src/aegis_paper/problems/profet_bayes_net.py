"""A Bayesian neural network for the error of any configuration on any task, and draws of its weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegis_paper.problems.profet_network import Layers, Output
from aegis_paper.problems.profet_sghmc import Float32, sghmc
from aegisbo.arrays import Array, Index

_BATCH = 5
_LOG_VARIANCE_START = math.log(1e-3)
_LOG_VARIANCE_MEAN, _LOG_VARIANCE_SPREAD = math.log(1e-6), 0.1  # its prior


@dataclass(frozen=True)
class Chain:
    """How large the network is, and how long and how often it is sampled."""

    units: int = 150
    burn_in: int = 50_000
    spacing: int = 2_000  # so 51 draws span the 100,000 steps in which the public sets took 1,000

    @property
    def step(self) -> float:
        """Of the sampler: 0.01 for the public networks of 500 units; fewer need more to ripple alike.

        The exponent was found on the SVM sweep: with it, instances of 150 units stray from their tasks by about as
        much as the public ones do.
        """
        return float(0.01 * (500 / self.units) ** 0.6)


def draw_layers(X: Array, y: Array, output: Output, chain: Chain, rng: Generator) -> Iterator[Layers]:
    """Weights that explain y (n,) at the standardized inputs X (n, d + q), drawn from their posterior without end."""
    posterior = _Posterior(X.astype(np.float32), y.astype(np.float32), chain.units, output, rng)
    draws = sghmc(posterior.start(), posterior.gradient, chain.step, chain.burn_in, chain.spacing, rng)
    return map(posterior.layers, draws)


class _Posterior:
    """The negative log posterior of all weights, known by its gradient on five random data at a time.

    The weights lie in one vector: W1, b1, W2, b2, w3, b3, and last the logarithm of the noise variance. Their prior
    is Gaussian, but its weight is divided by their number, as in the public pipeline: it hardly counts.
    """

    def __init__(self, X: Float32, y: Float32, units: int, output: Output, rng: Generator) -> None:
        self.X, self.y, self.output, self.rng = X, y, output, rng
        inputs = X.shape[1]
        self.shapes = ((units, inputs), (units,), (units, units), (units,), (units,), (), ())
        self.ends = np.cumsum([math.prod(shape) for shape in self.shapes])
        self.slope = np.empty(self.ends[-1], dtype=np.float32)
        self.slope_parts = self.parts(self.slope)
        self.order = self._batches()

    def parts(self, weights: Float32) -> list[Float32]:
        """Views of the vector, in the shapes of the layers."""
        pieces = np.split(weights, self.ends[:-1])
        return [piece.reshape(shape) for piece, shape in zip(pieces, self.shapes, strict=True)]

    def start(self) -> Float32:
        """Small uniform weights and offsets, the smaller the more inputs a unit has."""
        weights = np.empty(self.ends[-1], dtype=np.float32)
        units, inputs = self.shapes[0]
        for part, fan_in in zip(self.parts(weights), (inputs, inputs, units, units, units, units), strict=False):
            part[...] = self.rng.uniform(-1, 1, part.shape) / math.sqrt(fan_in)
        weights[-1] = _LOG_VARIANCE_START
        return weights

    def layers(self, weights: Float32) -> Layers:
        """The weights as layers, without the noise variance."""
        W1, b1, W2, b2, w3, b3, _ = self.parts(weights)
        return Layers(W1, b1, W2, b2, w3, float(b3))

    def gradient(self, weights: Float32) -> Float32:
        """The gradient, estimated on the next batch; the array is overwritten by the next call."""
        W1, b1, W2, b2, w3, b3, log_variance = self.parts(weights)
        rows = next(self.order)
        X, y = self.X[rows], self.y[rows]
        first = np.tanh(X @ W1.T + b1)  # (batch, units)
        second = np.tanh(first @ W2.T + b2)
        mean = second @ w3 + b3
        inner = np.float32(1)
        if self.output == "sigmoid":
            mean = 1 / (1 + np.exp(-mean))
            inner = mean * (1 - mean)
        residual = mean - y
        precision = np.exp(-log_variance)

        share = np.float32(len(self.y) / len(y))  # the batch stands for all data
        by_last = share * precision * residual * inner  # (batch,)
        by_second = by_last[:, None] * w3 * (1 - second**2)
        by_first = (by_second @ W2) * (1 - first**2)
        out_W1, out_b1, out_W2, out_b2, out_w3, out_b3, out_log_variance = self.slope_parts
        np.matmul(by_first.T, X, out=out_W1)
        np.sum(by_first, axis=0, out=out_b1)
        np.matmul(by_second.T, first, out=out_W2)
        np.sum(by_second, axis=0, out=out_b2)
        np.matmul(by_last, second, out=out_w3)
        out_b3[...] = by_last.sum()
        self.slope += weights * np.float32(1 / len(weights))
        misfit = share * (1 - precision * residual**2).sum() / 2
        out_log_variance[...] = misfit + (log_variance - _LOG_VARIANCE_MEAN) / _LOG_VARIANCE_SPREAD**2
        return self.slope

    def _batches(self) -> Iterator[Index]:
        """Rows of the data, five at a time, each once a round."""
        while True:
            order = self.rng.permutation(len(self.y))
            for end in range(_BATCH, len(order) + 1, _BATCH):
                yield order[end - _BATCH : end]
