"""The model of a run at one moment, for questions in the user's units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from aegisbo.arrays import Array
from aegisbo.optimizer.best import row_of_best
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.explanation import Explanation, Influence
from aegisbo.optimizer.prediction import Prediction, predicted
from aegisbo.optimizer.trial import Trial
from aegisbo.search.blocks import by_blocks
from aegisbo.space import Params, Space
from aegisbo.space.parameters import sweep
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.beliefs import Beliefs
from aegisbo.strategies.exact import Exact

FEW = 15  # results from which it was measured whether predictions hold: docs/experiments/predictions.md
SWEPT = 65  # values tried for a parameter; odd, so that the middle is among them


@dataclass(frozen=True)
class Model:
    """What a run has learned from finished evaluations. Make one with `Optimizer.model`."""

    belief: Belief | Exact  # on the unit cube, everything minimized
    evidence: Evidence  # from which it was learned: the points of `done` and of `failed`
    done: tuple[Trial, ...]
    failed: tuple[Trial, ...]
    direction: Direction
    space: Space
    noisy: bool
    objective: str | None = None  # its name, if there are several
    several: Beliefs | None = None  # what is believed of all of them together

    def predict(self, points: Any) -> Prediction:
        """See `Optimizer.predict`."""
        given, one = _listed(points)
        units = [self.space.to_unit(each.params if isinstance(each, Trial) else each) for each in given]
        Z = np.array(units).reshape(-1, self.space.cube.width)
        prediction = replace(self._predicted(Z), front=self._chance_of_front(Z))
        return prediction.at(0) if one else prediction

    def _chance_of_front(self, Z: Array) -> Array | None:  # (m, width) -> (m,)
        """The chance that an evaluation at Z joins the front; None with one number."""
        if self.several is None:
            return None
        told = self.several.exploring
        F = told.F if self.evidence.kept.any() else told.F[:0]  # as long as nothing keeps all limits, all do
        chance = by_blocks(lambda rows: told.chance_beyond(F, rows), Z)
        return chance if told.chance is None else chance * np.exp(told.chance.log_value(Z))

    def explain(self, params: Params, trial: Trial | None) -> Explanation:
        """Explain one point, which may be that of a trial."""
        nearest, distance = self._nearest(self.space.to_unit(params), trial)
        prediction, influence = self.predict(params), self._influence(params)
        broken = tuple(self.space.broken(params))
        told = Explanation(params, trial, prediction, self.best, nearest, distance, influence)
        return replace(told, objective=self.objective, broken=broken, doubt=self._doubt(prediction))

    def _doubt(self, prediction: Prediction) -> str:
        """A sentence if the prediction says little."""
        if isinstance(self.belief, Exact):
            return ""
        if (count := len(self.evidence.y)) < FEW:
            return f"{count} results are few: whether predictions hold was measured from {FEW} on"
        if prediction.high - prediction.low > np.ptp(self.evidence.y):
            return "the band is wider than all results: they say next to nothing about this point"
        return ""

    @property
    def best(self) -> Trial | None:
        """The best so far, as the result has it; None if there is none yet."""
        row = self._best[0]
        return None if row is None else self.done[row]

    @cached_property
    def _best(self) -> tuple[int | None, float]:
        """The row of the best, and the level to beat, as measured; infinity without a best."""
        X, losses, told = self.evidence.X, self.evidence.y, self.belief.exploring
        smooth = self.belief.smoothed(X) if self.noisy else losses
        row = row_of_best(self.evidence, smooth)
        if row is None:
            return None, math.inf
        return row, float(told.law(X[[row]]).quantiles([0.5])[0, 0] if self.noisy else losses[row])

    def _predicted(self, Z: Array) -> Prediction:  # (m, width)
        return predicted(self.belief.exploring, Z, self._best[1], self.direction)

    def _influence(self, params: Params) -> dict[str, Influence]:
        """How each parameter alone, going through its range, would change the prediction; the most influential first.

        Values that break a constraint are left out, unless the point itself breaks one.
        """
        found, forbidden = {}, bool(self.space.broken(params))
        for name, here in params.items():
            swept = [(v, self.space.changed(params, {name: v})) for v in sweep(self.space.parameters[name], SWEPT)]
            points = [(here, params), *(pair for pair in swept if forbidden or not self.space.broken(pair[1]))]
            Z = np.array([self.space.to_unit(point) for _, point in points])
            means = self.direction.turned(self.belief.exploring.law(Z).quantiles([0.5])[0])
            best = points[int(self.direction.turned(means).argmin())][0]
            found[name] = Influence(float(means.min()), float(means.max()), best)
        return dict(sorted(found.items(), key=lambda item: -item[1].span))

    def _nearest(self, x: Array, trial: Trial | None) -> tuple[Trial | None, float | None]:
        """The evaluated trial nearest to x (width,) other than the given one, and its distance in length scales."""
        belief = self.belief.exploring
        if isinstance(belief, Exact):  # which has no length scales
            return None, None
        away = np.vstack([self.evidence.X, self.evidence.failed]) - x
        distances = np.sqrt(((away / belief.widths) ** 2).sum(axis=1))
        number = None if trial is None else trial.number
        others = [
            (d, each) for d, each in zip(distances, (*self.done, *self.failed), strict=True) if each.number != number
        ]
        if not others:
            return None, None
        distance, nearest = min(others, key=lambda pair: pair[0])
        return nearest, float(distance)


def _listed(points: Any) -> tuple[list[Any], bool]:
    """The points as a list, and whether a single point was given."""
    if not _holds_values(points):
        return [points], True
    entries = list(points)
    many = all(isinstance(each, Trial | Mapping) or _holds_values(each) for each in entries)
    return (entries, False) if many else ([entries], True)


def _holds_values(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | Mapping)
