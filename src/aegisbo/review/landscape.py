"""The function as the model sees it, in the user's units: importance, slices, contours, leave-one-out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, cast

import numpy as np
from numpy.random import default_rng

from aegisbo.arrays import Array, Mask
from aegisbo.errors import NoModel
from aegisbo.gp.low_values import left_out
from aegisbo.optimizer import Core
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.objectives import require_objective
from aegisbo.optimizer.policy import Role, require_enough_values
from aegisbo.optimizer.prediction import SHARES, Prediction, band, predicted
from aegisbo.review.reasons import CheckedPrediction
from aegisbo.search.blocks import by_blocks
from aegisbo.search.designs import sobol
from aegisbo.space import Params, Space
from aegisbo.space.parameters import sweep
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief, Believer
from aegisbo.strategies.exact import Exact, exact_of
from aegisbo.strategies.presets import DEFAULT_PRESET, preset_named

SAMPLES = 1024  # of the cube, for importance
SLICE = 49  # points of a slice along a parameter without levels, or with more levels than that
CONTOUR = 25  # likewise, of each side of a contour
CROSSED = 4  # most important parameters of which each pair has a contour


@dataclass(frozen=True)
class Importance:
    """How much of the variation of the model's mean over the whole space is due to one parameter."""

    parameter: str
    main: float  # share that is due to it alone (first-order Sobol index)
    total: float  # share that it takes part in (total Sobol index)
    # In shares of its range, the shortest one of a choice: small means that the function is wavy. None without a model.
    lengthscale: float | None


@dataclass(frozen=True)
class Slice:
    """The model along one parameter, all others as at one point."""

    parameter: str
    values: tuple[Any, ...]  # of the parameter, as the user writes them
    predicted: Prediction
    allowed: Mask  # (m,) which of the points keep the constraints

    @property
    def shown(self) -> dict[str, Array]:
        """The median and the ends of the 95 % band (m,), by name, without those at forbidden points."""
        return {name: np.where(self.allowed, getattr(self.predicted, name), np.nan) for name in ("mean", "low", "high")}


@dataclass(frozen=True)
class Contour:
    """The model's mean over two parameters, all others as at one point."""

    x: str
    y: str
    x_values: tuple[Any, ...]
    y_values: tuple[Any, ...]
    mean: Array  # (y values, x values)
    allowed: Mask  # (y values, x values) which of the points keep the constraints


@dataclass(frozen=True)
class Landscape:
    """The belief of a strategy about a function, in the user's values and units. Make one with `needed_landscape`."""

    belief: Belief | Exact
    space: Space
    direction: Direction
    own: bool  # whether the strategy chooses by this model; else it was fitted for the reader only
    fitted: int  # results that it was given
    numbers: tuple[int, ...]  # of the trials whose values the belief knows, in the order of its data

    def measured(self, z: Array) -> Array:  # (m,)
        """Values on the scale of the model as the user would measure them."""
        return self.direction.turned(self.belief.scale.measured(z))

    @cached_property
    def importances(self) -> tuple[Importance, ...]:
        """The parameters by importance, the most important first."""
        main, total = self._indices
        columns, exact = self.space.cube.columns, isinstance(self.belief, Exact)
        scales = np.broadcast_to(1.0 if isinstance(self.belief, Exact) else self.belief.widths, self.space.cube.width)
        found = [
            Importance(name, float(main[k]), float(total[k]), None if exact else float(scales[columns[k]].min()))
            for k, name in enumerate(self.space.parameters)
        ]
        return tuple(sorted(found, key=lambda importance: -importance.total))

    @cached_property
    def _indices(self) -> tuple[Array, Array]:
        """First-order and total Sobol indices (d,) of the mean, by Saltelli's and Jansen's estimators."""
        cube = self.space.cube
        d = cube.parameters
        U = sobol(SAMPLES, 2 * d, default_rng(0))
        A, B = U[:, :d], U[:, d:]
        with one_blas_thread():
            f_A, f_B = self._means(A), self._means(B)
            variance = float(np.var(np.append(f_A, f_B)))
            if variance <= 0.0:
                return np.zeros(d), np.zeros(d)
            main, total = np.empty(d), np.empty(d)
            for k in range(d):
                mixed = A.copy()
                mixed[:, k] = B[:, k]
                f = self._means(mixed)
                main[k] = np.mean(f_B * (f - f_A)) / variance
                total[k] = 0.5 * np.mean((f_A - f) ** 2) / variance
        return np.clip(main, 0.0, 1.0), np.clip(total, 0.0, 1.0)

    def _means(self, U: Array) -> Array:  # (m, d) -> (m,)
        """The mean at points that have one number for each parameter, on the scale of the model."""
        return by_blocks(self.belief.gp.mean, self.space.cube.fill(U))

    def slices(self, params: Params, names: Sequence[str] | None = None) -> tuple[Slice, ...]:
        """The model along each parameter that exists at a point, through the point."""
        return tuple(self._slice(name, params) for name in (params if names is None else names))

    def _slice(self, name: str, params: Params) -> Slice:
        values = tuple(sweep(self.space.parameters[name], SLICE))
        U = np.array([self.space.to_unit(self.space.changed(params, {name: value})) for value in values])
        level = self.belief.scale.measured(np.array([self.belief.best]))
        with one_blas_thread():
            along = predicted(self.belief, U, float(level[0]), self.direction)
        return Slice(name, values, along, self.space.keeps_constraints(U))

    def contour(self, x: str, y: str, params: Params, count: int = CONTOUR) -> Contour:
        """The mean over two parameters, all others as at `params`, with at most this many values of each."""
        x_values, y_values = (tuple(sweep(self.space.parameters[name], count)) for name in (x, y))
        points = [self.space.changed(params, {x: left, y: up}) for up in y_values for left in x_values]
        U = np.array([self.space.to_unit(point) for point in points])
        with one_blas_thread():
            mean = self.direction.turned(self.belief.law(U).quantiles([0.5])[0])
        shape = len(y_values), len(x_values)
        return Contour(x, y, x_values, y_values, mean.reshape(shape), self.space.keeps_constraints(U).reshape(shape))

    def contours(self, params: Params) -> tuple[Contour, ...]:
        """The mean over every pair of the most important parameters."""
        there = [importance.parameter for importance in self.importances if importance.parameter in params]
        return tuple(self.contour(x, y, params) for x, y in combinations(there[:CROSSED], 2))

    @cached_property
    def left_out(self) -> tuple[CheckedPrediction, ...]:
        """The prediction of each result from all others, on the scale of the model; none where nothing is uncertain."""
        if isinstance(self.belief, Exact):
            return ()
        y = self.belief.gp.y + self.belief.gp.constant
        means, stds = self._of_each_other()
        return tuple(
            CheckedPrediction(number, float(mean), float(std), float(value))
            for number, mean, std, value in zip(self.numbers, means, stds, y, strict=False)
        )

    def _of_each_other(self) -> tuple[Array, Array]:
        """The median (n,) of each result from all others and half of the middle 68 %, on the scale of the model."""
        belief = cast("Belief", self.belief)
        if belief.told is None:
            errors, variances = left_out(belief.gp, np.arange(len(belief.gp.y)))
            return belief.gp.y + belief.gp.constant - errors, np.sqrt(variances)
        with one_blas_thread():
            _, less, _, middle, _, more, _ = map(belief.scale.standardized, belief.told.left_out.quantiles(SHARES))
        return middle, 0.5 * more - 0.5 * less


def told_of(models: Iterable[Landscape], Z: Array) -> list[Prediction]:
    """What each model tells at points of the cube (m, width), with all chances left at 1."""
    with one_blas_thread():
        return [band(model.belief.law(Z), model.direction) for model in models]


# By name of the objective, None for the only number; empty without a model.
Models = Mapping[str | None, Landscape]


def models_of(optimizer: Core) -> Models:
    """What the models of the strategy believe now, or the default ones if it has none. Empty with too few values."""
    try:
        return needed_landscapes(optimizer)
    except NoModel:
        return {}


def needed_landscape(optimizer: Core, objective: str | None = None) -> Landscape:
    """What the model of the strategy believes now, or the default one if it has none.

    Raises:
        NoModel: there are too few values for one.
        SeveralObjectives, UnknownName, OneNumber: as for `Core.model`.
    """
    require_objective(objective, optimizer.settings.objectives)
    return needed_landscapes(optimizer)[objective]


def needed_landscapes(optimizer: Core) -> Models:
    """The landscape of each objective by name, from one fit; of one number the only one, under None.

    Raises:
        NoModel: there are too few values for one.
    """
    evidence, directions = optimizer.evidence().askable, optimizer.settings.directions
    require_enough_values(evidence)
    own = isinstance(optimizer.strategy, Believer)
    models = [model.belief for model in optimizer.models().values()] if own else exact_of(evidence)
    done = [trial.number for trial in (*optimizer.observed, *optimizer.trials) if trial.state == "done"]

    def landscape(believed: Belief | Exact | None, alone: Evidence, direction: Direction) -> Landscape:
        belief = (believed or _default_belief(optimizer, alone)).exploring
        rows = None if isinstance(belief, Exact) else belief.rows
        numbers = tuple(done if rows is None else (done[row] for row in rows if row < len(done)))
        return Landscape(belief, optimizer.space, direction, own, len(numbers) + len(evidence.failed), numbers)

    asked = zip(directions.items(), models, evidence.each, strict=True)
    return {name: landscape(believed, alone, direction) for (name, direction), believed, alone in asked}


def _default_belief(optimizer: Core, evidence: Evidence) -> Belief:
    """What the default model believes in a run whose strategy has none."""
    rng = default_rng([optimizer.seed, Role.ASIDE, len(optimizer.trials)])
    with one_blas_thread():
        return preset_named(DEFAULT_PRESET).surrogate.fit(evidence, {}, rng)[0]
