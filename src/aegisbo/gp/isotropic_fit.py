"""Hyper-parameters of the paper's model by maximum likelihood: many starts looked at, few polished.

Looking at a start takes a Cholesky factor; polishing takes an inverse at every step. Seen along the length scale the
likelihood has a few hills (smooth with large scale, rough with small scale) and, where the scale is so short that no
two points are related, a plateau. So the starts are spread over the length scales, and a climb begins only where one
stands higher than both of its neighbors; the tops already reached count as neighbors, too. Starts on the plateau are
left out, because they hide the hill at its foot. The plateau itself is one more candidate, whose best output scale is
known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Index
from aegisbo.gp.isotropic_model import IsotropicLikelihood, IsotropicModel
from aegisbo.gp.posterior import GP
from aegisbo.search.descent import descend
from aegisbo.search.designs import latin_hypercube

PAPER_STARTS = 10  # looked at
CLIMBED = 3  # hills at most; with a warm start, that one and one other
ON_PLATEAU = 1e-3  # difference per data point from the plateau's height
WINDOW = 1.4  # a factor of four: longer steps jump over a hill onto the plateau where all is noise
ROUNDS = 20  # windows at most
LEVEL = 1e-4  # slope per data point below which a top has been reached
SAME_TOP = 0.25  # a climb that comes as close as this to a known top, in logarithms, belongs to it
GAIN = 1e-8  # improvement per data point below which another window is not worth it

Point = tuple[float, Array]  # log likelihood, and phi where it was looked at


@dataclass(frozen=True)
class IsotropicFit:
    """A posterior at the best hyper-parameters found, and how they were found."""

    gp: GP
    phi: Array  # (2,) what was learned: the warm start of the next fit
    log_likelihood: float
    notes: tuple[str, ...]  # what was out of the ordinary; empty when all went well


def fit(X: Array, y: Array, model: IsotropicModel, rng: Generator, warm: Array | None = None) -> IsotropicFit:
    """Fit the model to standardized y (n,) at X (n, d), starting also from `warm` (an earlier phi) if given."""
    likelihood, default = IsotropicLikelihood(X, y, model), _default(model, X.shape[1])
    notes = []
    if np.ptp(y) == 0.0:
        notes.append(f"{len(y)} equal outputs teach nothing: hyper-parameters left at their defaults")
        value, phi = likelihood.value(default), default
    else:
        value, phi = _search(likelihood, default, rng, warm)
        if not np.isfinite(value):
            notes.append("no start could be factored: hyper-parameters left at their defaults")
    gp = model.posterior(X, y, phi)
    if gp.factor.jitter:
        notes.append(f"jitter {gp.factor.jitter:g} added to the diagonal")
    return IsotropicFit(gp, phi, value, tuple(notes))


def _search(likelihood: IsotropicLikelihood, default: Array, rng: Generator, warm: Array | None) -> Point:
    """The highest top found; the defaults, at minus infinity, if no start could be factored."""
    n, bounds = len(likelihood.y), likelihood.model.bounds
    plateau = likelihood.rescaled(np.array([bounds[0, 0], default[1]]))
    looked = [likelihood.rescaled(phi) for phi in spread_starts(likelihood.model, rng)]
    looked = [start for start in looked if np.isfinite(start[0]) and abs(start[0] - plateau[0]) > ON_PLATEAU * n]
    tops = []
    if warm is not None:
        tops.append(climb(likelihood, np.clip(warm, bounds[:, 0], bounds[:, 1]), bounds))
    while len(tops) < (CLIMBED if warm is None else 2) and (hill := _next_hill(looked, tops)) is not None:
        tops.append(climb(likelihood, looked.pop(hill)[1], bounds, tops))
    value, phi = max([*tops, (likelihood.value(plateau[1]), plateau[1])], key=lambda top: top[0])
    return (value, phi) if np.isfinite(value) else (-np.inf, default)


def _next_hill(looked: list[Point], tops: list[Point]) -> int | None:
    """Which start is the highest of those that a valley, along the length scale, separates from all tops reached."""
    points = [*tops, *looked]
    ranked = hills(np.array([phi[0] for _, phi in points]), np.array([value for value, _ in points]))
    return next((int(i) - len(tops) for i in ranked if i >= len(tops)), None)


def spread_starts(model: IsotropicModel, rng: Generator) -> Array:
    """Starts (10, 2): a Latin hypercube over the box, uniform in natural units."""
    low, high = np.exp(model.bounds.T)
    return np.asarray(np.log(low + latin_hypercube(PAPER_STARTS, 2, rng) * (high - low)))


def hills(positions: Array, heights: Array) -> Index:
    """Indices of the points that no neighbor along `positions` exceeds, highest first."""
    order = np.argsort(positions, kind="stable")
    fenced = np.concatenate([[-np.inf], heights[order], [-np.inf]])
    tops = order[(fenced[1:-1] >= fenced[:-2]) & (fenced[1:-1] >= fenced[2:])]
    return np.asarray(tops[np.argsort(-heights[tops], kind="stable")])


def climb(likelihood: IsotropicLikelihood, phi: Array, bounds: Array, tops: Sequence[Point] = ()) -> Point:
    """The nearest local maximum: L-BFGS-B inside a window that moves along until the top is level.

    A climb that comes up to one of `tops` from below ends there.
    """
    n = len(likelihood.y)

    def descent(phi: Array) -> tuple[float, Array]:
        value, gradient = likelihood.value_and_gradient(phi)
        for top in tops:
            if value <= top[0] and np.abs(phi - top[1]).max() < SAME_TOP:
                raise _Arrived(top)
        return -value / n, -gradient / n

    height = np.inf
    try:
        for _ in range(ROUNDS):
            window = np.stack([np.maximum(bounds[:, 0], phi - WINDOW), np.minimum(bounds[:, 1], phi + WINDOW)], axis=1)
            found = descend(descent, phi, window, flat=1e-9)
            phi = found.x
            # SciPy may also stop short on a curved ridge beside a bound; a fresh start from there continues.
            uphill = np.abs(phi - np.clip(phi - found.gradient, bounds[:, 0], bounds[:, 1])).max()
            if uphill < LEVEL or not height - found.value > GAIN:
                break
            height = found.value
    except _Arrived as arrived:
        return arrived.top
    return -found.value * n, phi


class _Arrived(Exception):
    """A climb has come up to a top that is known already."""

    def __init__(self, top: Point) -> None:
        super().__init__()
        self.top = top


def _default(model: IsotropicModel, d: int) -> Array:
    """The length scale at the typical distance of two points in the cube, the output scale at 1."""
    low, high = model.bounds.T
    return np.asarray(np.clip([0.5 * np.log(d / 6.0), 0.0], low, high))
