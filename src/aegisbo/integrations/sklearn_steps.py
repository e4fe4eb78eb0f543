"""Estimators that are trained step by step: by `partial_fit`, or as an ensemble that grows.

A step is a pass over the data, or an equal share of the ensemble's members. After its last step an ensemble is what
`fit` makes of it at once. What `partial_fit` makes is the estimator's own matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline

from aegisbo.errors import InvalidInput

Step = Callable[..., Any]  # called like `fit`, it trains its estimator a step further


def in_steps(estimator: Any, steps: int, y: Any) -> Step:
    """What trains an estimator in so many steps; of a pipeline, the parts before the last are fitted by the first one.

    Args:
        estimator: it is changed.
        steps: how often the step will be called, with the same data.
        y: all targets, among which are classes that the data may lack.

    Raises:
        InvalidInput: the estimator cannot be trained in steps.
    """
    if isinstance(estimator, Pipeline):
        return _behind_the_others(estimator, in_steps(estimator.steps[-1][1], steps, y))
    if hasattr(estimator, "partial_fit"):
        return partial(estimator.partial_fit, **({"classes": np.unique(y)} if is_classifier(estimator) else {}))
    return _growing(estimator, steps)


def _growing(ensemble: Any, steps: int) -> Step:
    name = _name_of_size(ensemble)
    size, warm, fit = getattr(ensemble, name), ensemble.warm_start, ensemble.fit
    sizes = pairwise(math.ceil(size * step / steps) for step in range(steps + 1))

    def grow(X: Any, *targets: Any, **params: Any) -> None:
        before, after = next(sizes)
        if after > before:
            ensemble.set_params(**{name: after, "warm_start": True})
            fit(X, *targets, **params)
            ensemble.set_params(warm_start=warm)

    return grow


def _name_of_size(ensemble: Any) -> str:
    """The parameter that says how many members an ensemble has."""
    if isinstance(ensemble, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        return "max_iter"
    if hasattr(ensemble, "warm_start") and hasattr(ensemble, "n_estimators"):
        return "n_estimators"
    raise InvalidInput(
        f"{type(ensemble).__name__} cannot be trained in steps, because it has neither partial_fit nor warm_start with "
        "n_estimators: leave steps out."
    )


def _behind_the_others(pipeline: Any, step: Step) -> Step:
    prepared: list[Any] = []  # the data as the last part sees them

    def train(X: Any, *targets: Any, **params: Any) -> None:
        if not prepared:
            before, last = pipeline[:-1], pipeline.steps[-1]
            prepared.append(before.fit_transform(X, *targets) if before.steps else X)
            pipeline.steps = [*before.steps, last]  # with a memory, the fitted parts are copies
        step(prepared[0], *targets, **params)

    return train
