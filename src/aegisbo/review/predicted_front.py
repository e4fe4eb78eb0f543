"""The front that the models of several objectives predict: the best combinations of their means, found by a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator, default_rng

from aegisbo.arrays import Array, Index
from aegisbo.optimizer import Trial
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.review.landscape import Landscape
from aegisbo.search.blocks import by_blocks
from aegisbo.search.designs import sobol
from aegisbo.search.hypervolume import front

SAMPLES = 1024  # of the space, with which the search begins
ROUNDS, CHILDREN, KEPT = 16, 256, 300
FIRST_STEP, LAST_STEP = 0.2, 0.003  # of a mutation, in shares of a parameter's range
RESOLUTION = 0.002  # of the front's range: smaller gains count for nothing
LEAST_CHANGED = 0.3  # share of the coordinates, where there are many
LIKELY = 0.5  # smallest chance to succeed and to keep all limits


@dataclass(frozen=True)
class PredictedFront:
    """Points that no other beats in all means; values in the user's units, those to be maximized negated."""

    Z: Array  # (k, width)
    F: Array  # (k, m) the means there, sorted by the first objective
    spread: Array  # (s, m) the means at points that are spread over the space


def predicted_front(models: Mapping[str | None, Landscape], known: Iterable[Trial]) -> PredictedFront | None:
    """The front of the means, where evaluations probably succeed and keep all limits; None if that is nowhere.

    Args:
        models: of each objective.
        known: trials near which there may be points of the front.
    """
    space = next(iter(models.values())).space
    rng = default_rng(0)
    spread = space.cube.fill(sobol(SAMPLES, space.cube.parameters, rng))
    start = np.array([space.to_unit(trial.params) for trial in known]).reshape(-1, space.cube.width)
    with one_blas_thread():
        means = partial(_means, tuple(models.values()))
        Z, F = search(means, np.vstack([start, spread]), rng)
        everywhere = means(spread)
    everywhere = everywhere[np.isfinite(everywhere[:, 0])]
    Z, F = _noticeable(Z, F)
    return PredictedFront(space.cube.round(Z), F, everywhere) if len(F) else None


def search(values: Callable[[Array], Array], X: Array, rng: Generator) -> tuple[Array, Array]:
    """The points (k, d), and their values (k, m), that no other dominates of those that a search comes upon.

    Args:
        values: to be minimized (n, d) -> (n, m); infinite where a point does not count.
        X: the first points (n, d) of the unit cube.
        rng: for children, which differ from a parent in some coordinates, round by round by less.
    """
    X = np.clip(X, 0.0, 1.0)
    X, F = _undominated(X, values(X))
    for step in np.geomspace(FIRST_STEP, LAST_STEP, ROUNDS) if len(X) else ():
        children = X[rng.integers(len(X), size=CHILDREN)]
        changed = rng.random(children.shape) < max(2.0 / X.shape[1], LEAST_CHANGED)
        children = np.clip(children + changed * rng.normal(0.0, step, children.shape), 0.0, 1.0)
        X, F = _undominated(np.vstack([X, children]), np.vstack([F, values(children)]))
    return X, F


def _undominated(X: Array, F: Array) -> tuple[Array, Array]:
    counting = np.flatnonzero(np.isfinite(F).all(axis=1))
    rows = counting[front(F[counting])]
    rows = rows[far_apart(F[rows], KEPT)]
    return X[rows], F[rows]


def _noticeable(Z: Array, F: Array) -> tuple[Array, Array]:
    """Without points that are better than others by next to nothing, for which they are much worse elsewhere."""
    if not len(F):
        return Z, F
    rows = np.sort(front(np.round(F / (RESOLUTION * _ranges(F)))))
    return Z[rows], F[rows]


def far_apart(F: Array, count: int) -> Index:  # (n, m) -> (at most count,)
    """Rows that are far from each other, in shares of the ranges, among them the lowest in each column; in order."""
    if len(F) <= count:
        return np.arange(len(F))
    F = F / _ranges(F)
    chosen = list(dict.fromkeys(F.argmin(axis=0).tolist()))
    away = np.min([((F - F[row]) ** 2).sum(axis=1) for row in chosen], axis=0)
    while len(chosen) < count:
        chosen.append(int(away.argmax()))
        away = np.minimum(away, ((F - F[chosen[-1]]) ** 2).sum(axis=1))
    return np.sort(chosen)


def _ranges(F: Array) -> Array:  # (n, m) -> (m,)
    ranges = np.ptp(F, axis=0)
    return np.where(ranges > 0.0, ranges, 1.0)


def _means(models: tuple[Landscape, ...], Z: Array) -> Array:  # (n, width) -> (n, m)
    """The means in the user's units, to be minimized; infinite where nothing may be or is likely to be measured."""
    cube, chance = models[0].space.cube, models[0].belief.chance
    Z = cube.round(Z)
    counts = cube.allowed(Z)
    if chance is not None:
        counts &= by_blocks(chance.log_value, Z) >= np.log(LIKELY)
    F = [model.belief.scale.measured(by_blocks(model.belief.gp.mean, Z)) for model in models]
    return np.where(counts[:, None], np.stack(F, axis=1), np.inf)
