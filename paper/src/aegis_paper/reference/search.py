"""Deviation `search`: where the local searches started, and how a sample path was minimized.

The paper: uniform candidates, 1000 for each coordinate, of which the best ten are polished.
The code: a scrambled Sobol sequence of as many points, from which ten starts are drawn without replacement,

- for the posterior mean and the penalized acquisitions with weights exp(standardized value), the best point forced in;
- for expected improvement, known to be non-negative, among the points above 1e-4 of the maximum with weights
  exp(value/maximum − 1), the best point forced in;
- for a sample path with weights exp(standardized value) and without the best point, unless it is drawn. The ten then
  descend in separate runs, and the lowest final value wins, also if a candidate was lower.

What it changes: fewer starts in the best basin, more in others; with noisy paths, when a descent stops.

Left out: where no candidate had a positive improvement the code drew two, three and four times as many before it took
random starts; and noise that it drew once for all candidates is drawn here for each block of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from aegisbo.arrays import Array, Floats, Index
from aegisbo.search.blocks import by_blocks
from aegisbo.search.designs import sobol
from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.search.inner_search import Acquisition, Choose, Spread
from aegisbo.space.cube import Cube

WORTHWHILE = 1e-4  # of the largest improvement


def boltzmann_starts(values: Floats, count: int, rng: Generator) -> Index:
    """Points drawn without replacement with weights exp(−standardized value), the lowest among them for certain."""
    spread = values.std()
    scaled = (values - values.mean()) / spread if spread > 0.0 else np.zeros_like(values)
    weights = np.maximum(np.exp(-(scaled - scaled.min()).astype(np.float64)), 1e-300)  # all can be drawn
    chosen = rng.choice(len(values), size=min(count, len(values)), replace=False, p=weights / weights.sum())
    lowest = int(np.argmin(values))
    if lowest not in chosen:
        chosen[-1] = lowest
    return chosen


def drawn_starts(values: Floats, count: int, rng: Generator) -> Index:
    """Points drawn without replacement with weights exp(−standardized value); the lowest may be missed."""
    scaled = (values - values.mean()) / (values.std() or 1.0)
    return _drawn(np.exp(-(scaled - scaled.min())), count, rng)


def improving_starts(values: Floats, count: int, rng: Generator) -> Index:
    """Points drawn among those with a worthwhile improvement, the best for certain; `values` are −improvement."""
    improvement = -values.astype(np.float64)
    best = int(improvement.argmax())
    positive = np.flatnonzero(improvement > 0.0)
    if len(positive) < count:
        others = np.setdiff1d(np.arange(len(values)), positive)
        return np.concatenate([positive, rng.choice(others, count - len(positive), replace=False)])
    relative = improvement / improvement[best]
    share = WORTHWHILE
    while (relative >= share).sum() < count:
        share /= 10.0
    chosen = _drawn(np.where(relative >= share, np.exp(relative - 1.0), 0.0), count, rng)
    if best not in chosen:
        chosen[-1] = best
    return chosen


def _drawn(weights: Floats, count: int, rng: Generator) -> Index:
    weights = weights.astype(np.float64)
    return rng.choice(len(weights), size=count, replace=False, p=weights / weights.sum())


@dataclass(frozen=True)
class SeparateRuns:
    """Starts that descend one after the other, each until its own run stops."""

    spread: Spread
    choose: Choose
    candidates: int = 1000  # for each parameter
    starts: int = 10

    def __call__(self, objective: Acquisition, cube: Cube, rng: Generator, good: Array) -> Array:
        """Where the runs ended (k, width), rounded to what can be evaluated, the lowest first."""
        d = cube.parameters
        candidates = cube.fill(self.spread(self.candidates * d, d, rng))
        chosen = self.choose(by_blocks(objective.screen, candidates), self.starts, rng)

        def single(x: Array) -> tuple[float, Array]:
            values, gradients = objective.value_and_gradient(x[None, :])
            return float(values[0]), gradients[0]

        bounds = [(0.0, 1.0)] * cube.width
        ends = [minimize(single, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in candidates[chosen]]
        return cube.round(np.array([end.x for end in sorted(ends, key=lambda end: float(end.fun))]))


OF_ACQUISITIONS = EverywhereSearch(sobol, boltzmann_starts)
OF_IMPROVEMENT = EverywhereSearch(sobol, improving_starts)
OF_PATHS = SeparateRuns(sobol, drawn_starts)
