"""The chance that an evaluation succeeds, learned from where some have succeeded and others have failed.

A GP of labels, 1 and −1, says where failures lie, and a logistic curve turns its mean into a chance,

    p(x) = σ(a + b μ(x)),

with a and b fitted to predictions of each label from all others. So the chance is calibrated, and the same predictions
tell whether failures depend on x at all: if they are better guessed by their frequency, there is no model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from aegisbo.arrays import Array, Floats
from aegisbo.gp import additive_fit
from aegisbo.gp.additive_model import AdditiveHyperparameters, AdditiveModel
from aegisbo.gp.low_values import left_out
from aegisbo.gp.posterior import GP

# By how much, in log p of all labels, a model must beat the frequency of failures, and how much more per coordinate:
# its hyper-parameters know the labels that it predicts. Flaky failures pass in one of twenty runs.
GAIN, GAIN_PER_COORDINATE = 3.0, 1.0
STEEPEST = 8.0  # standard deviation of the prior of a and b: with clear-cut labels, b would grow without end


@dataclass(frozen=True)
class LearnedSuccess:
    """What was learned from successes and failures: the warm start of the next fit."""

    phi: list[float]
    s: float
    constant: float
    a: float
    b: float
    gain: float  # in log p of all labels, over the frequency of failures

    def given(self, X: Array, labels: Array) -> SuccessModel:
        """The chance to succeed, given labels (n,) at X (n, d)."""
        learned = AdditiveHyperparameters(tuple(self.phi), self.s, self.constant)
        return SuccessModel(learned.given(X, labels), self.a, self.b)

    @property
    def is_credible(self) -> bool:
        """Whether failures depend on where they happen."""
        coordinates = len(self.phi) // 2 - 1
        return self.b > 0.0 and self.gain > GAIN + GAIN_PER_COORDINATE * coordinates


@dataclass(frozen=True)
class SuccessModel:
    """The chance to succeed anywhere in the cube."""

    gp: GP  # of labels
    a: float
    b: float

    def log_value(self, Z: Floats) -> Floats:
        """log p (m,) at Z (m, d), in the precision of Z."""
        return np.asarray(log_expit(self.a + self.b * self.gp.mean(Z)))

    def log_value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """log p (m,) at Z (m, d), and its gradient (m, d)."""
        mean, gradient = self.gp.mean_and_gradient(Z)
        t = self.a + self.b * mean
        return np.asarray(log_expit(t)), (expit(-t) * self.b)[:, None] * gradient


def learn(X: Array, labels: Array, model: AdditiveModel, rng: Generator, warm: Array | None = None) -> LearnedSuccess:
    """Learn from labels (n,), 1 where an evaluation succeeded and −1 where it failed, at X (n, d); both occur."""
    found = additive_fit.fit(X, labels, model, rng, warm)
    means = labels - left_out(found.gp, np.arange(len(X)))[0]  # of each label, by all others
    a, b = _fitted_curve(means, labels)
    log_p = float(log_expit(labels * (a + b * means)).sum())
    best = found.hyperparameters
    return LearnedSuccess(list(best.phi), best.s, best.constant, a, b, log_p - _by_frequency(labels))


def _fitted_curve(means: Array, labels: Array) -> tuple[float, float]:
    """The most likely a and b, given labels (n,) and their predicted means (n,)."""

    def descent(ab: Array) -> tuple[float, Array]:
        t = labels * (ab[0] + ab[1] * means)
        slopes = -labels * expit(-t)
        gradient = np.array([slopes.sum(), slopes @ means]) + ab / STEEPEST**2
        return float(-log_expit(t).sum() + 0.5 * ab @ ab / STEEPEST**2), gradient

    a, b = minimize(descent, np.array([0.0, 1.0]), jac=True, method="L-BFGS-B").x.tolist()
    return a, b


def _by_frequency(labels: Array) -> float:
    """log p of the labels (n,), each guessed by how frequent its kind is among all others."""
    n = len(labels)
    counts = [int((labels > 0).sum()), int((labels < 0).sum())]
    return float(sum(count * np.log((count - 0.5) / n) for count in counts))
