"""What to tell of the function at any point: all models that the results leave open, each as far as it has held nearby.

Choices are made by one model, the likeliest. With few results others are nearly as likely, and its band is too narrow;
and where values span orders of magnitude, the scale on which it is good far away is too coarse near the best. So a
prediction is a mixture: models on several scales of the output, with several draws of their hyper-parameters, weighted
by how well they predicted the results around the point, each from all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import default_rng

from aegisbo.arrays import Array
from aegisbo.gp.additive_draws import draws
from aegisbo.gp.additive_model import AdditiveHyperparameters, AdditiveLikelihood, AdditiveModel
from aegisbo.gp.low_values import left_out
from aegisbo.gp.output_transform import OutputScale, noise_on, soft_scale_of
from aegisbo.gp.posterior import GP
from aegisbo.gp.rank_scale import rank_scale_of
from aegisbo.gp.thinning import evenly_spread
from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.law import Law

DRAWS = 3  # of the hyper-parameters on each scale
MANY = 300  # results from which one draw will do
DRAWN_FROM = 100  # results at most, evenly spread over their order; the posteriors know all
HEARD = 5.0  # what the results around a point say counts as much as so many: no model is true
REACH = 1.0  # no value is told beyond the worst measured by more than so many times the range of all
TIGHT = 0.3  # weight, before anything was predicted, of a scale whose tail begins close to the lowest values


@dataclass(frozen=True)
class Candidate:
    """One model that the results leave open."""

    scale: OutputScale
    gp: GP
    log_slope: Array  # (n,) of the scale, at the results
    constant_precision: float  # of the prior of the constant, which is not known for certain either
    prior: float  # its weight before it has predicted anything
    rough: float  # variance that is the function's own, because values are said to have no noise

    @cached_property
    def _ones(self) -> Array:  # (n,) K^-1 1
        return self.gp.factor.solve(np.ones(len(self.gp.y)))

    def predict(self, Z: Array) -> Array:
        """Mean and standard deviation (m, 2) at Z (m, width), on its scale."""
        mean, variance = self.gp.predict(Z)
        open_constant = (1.0 - self._ones @ self.gp.covariances(Z)) ** 2 / (self._ones.sum() + self.constant_precision)
        return np.stack([mean, np.sqrt(self._widened(variance + open_constant + self.rough))], axis=1)

    def _widened(self, variance: Array) -> Array:
        """Student's law has this variance: the output scale is known from n results only."""
        n = len(self.gp.y)
        return variance * (n + 1.0) / (n - 1.0)

    @cached_property
    def left_out(self) -> tuple[Array, Array, Array]:
        """Mean and standard deviation (n,) of each result given all others, on its scale, and log p as measured."""
        n = len(self.gp.y)
        errors, variances = left_out(self.gp, np.arange(n))
        y = self.gp.y + self.gp.constant
        log_p = -0.5 * np.log(variances) - 0.5 * (n + 1) * np.log1p(errors**2 / variances / n)
        return y - errors, np.sqrt(self._widened(variances)), log_p + self.log_slope


@dataclass(frozen=True)
class Outlook:
    """All models that the results leave open."""

    candidates: tuple[Candidate, ...]
    X: Array  # (n, width) of the results that they know
    ceiling: float  # beyond which no value is told

    def law(self, Z: Array) -> Law:
        """What is believed at Z (m, width)."""
        both = np.array([by_blocks(each.predict, Z) for each in self.candidates])  # (k, m, 2)
        return self._law(both[..., 0], both[..., 1], self._nearness(Z))

    @cached_property
    def left_out(self) -> Law:
        """What is believed of each result from all others."""
        nearness = self._nearness(self.X)
        np.fill_diagonal(nearness, 0.0)
        mean, sd, _ = (np.array(each) for each in zip(*(each.left_out for each in self.candidates), strict=True))
        return self._law(mean, sd, nearness)

    def _law(self, mean: Array, sd: Array, nearness: Array) -> Law:
        nearness = nearness / self._crowd
        heard = HEARD / np.maximum(nearness.sum(axis=1), 1.0)
        skill = (np.array([each.left_out[2] for each in self.candidates]) @ nearness.T) * heard  # (k, m)
        skill += np.log([[each.prior] for each in self.candidates])
        weight = np.exp(skill - skill.max(axis=0))
        return Law([each.scale for each in self.candidates], mean, sd, weight / weight.sum(axis=0), self.ceiling)

    @cached_property
    def _crowd(self) -> Array:  # (n,)
        """How many results there are around each, which say much the same."""
        return np.asarray(self._nearness(self.X).sum(axis=1))

    def _nearness(self, Z: Array) -> Array:  # (m, width) -> (m, n)
        """How near each result is to each point: 1 at it, and little beyond a length scale."""
        scales = np.exp(np.mean([np.log(each.gp.kernel.lengthscale) for each in self.candidates], axis=0))
        Z, X = Z / scales, self.X / scales
        squares = (Z**2).sum(axis=1)[:, None] + (X**2).sum(axis=1) - 2.0 * Z @ X.T
        return np.asarray(np.exp(-0.5 * np.maximum(squares, 0.0)))


def outlook_of(
    X: Array, measured: Array, model: AdditiveModel, learned: AdditiveHyperparameters, sd: Array | None, *, exact: bool
) -> Outlook:
    """The models that values measured (n,) at X (n, width) leave open; the same data give the same.

    Args:
        X: the points.
        measured: their values.
        model: bounds and priors.
        learned: the likeliest hyper-parameters, where the draws begin.
        sd: standard deviations (n,) of the values, as measured; None if unknown.
        exact: whether values have no noise. What a model takes for noise is then the function's own roughness.
    """
    rng, some = default_rng(0), evenly_spread(len(X), DRAWN_FROM)
    found, start = list[Candidate](), np.array(learned.phi)
    for scale, prior in _scales(measured, X.shape[1], exact):
        y, extra = scale.standardized(measured), None if sd is None else noise_on(scale, sd, measured)
        share = np.zeros(len(y)) if extra is None else extra / learned.s
        likelihood, known = (AdditiveLikelihood(X[rows], y[rows], model, share[rows]) for rows in (some, slice(None)))
        phis = list(draws(likelihood, start, DRAWS if len(X) < MANY else 1, rng))
        start = phis[-1]
        for phi in phis:
            drawn = known.hyperparameters(phi)
            gp = drawn.given(X, y, extra)
            rough = gp.noise if exact else 0.0
            slope, precision = scale.log_slope(measured), model.constant_precision / drawn.s
            found.append(Candidate(scale, gp, slope, precision, prior, rough))
    with np.errstate(over="ignore"):
        ceiling = float(measured.max() + REACH * np.ptp(measured))
    return Outlook(tuple(found), X, ceiling)


def _scales(measured: Array, width: int, exact: bool) -> list[tuple[OutputScale, float]]:
    """Those of the models that `adaptive` compares and one without a tail, each with its weight to begin with."""
    wide, straight = soft_scale_of(measured, early=2 * width), soft_scale_of(measured, 1.0)
    tight = [soft_scale_of(measured, share) for share in (0.5, 0.25)]
    even = [] if exact else [(rank_scale_of(measured), 1.0)]
    return [(wide, 1.0), *((scale, TIGHT) for scale in tight), (straight, 1.0), *even]
