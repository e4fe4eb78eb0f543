"""Cross-validation of one candidate, wherever a worker runs, and its record in a study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection._validation import _fit_and_score

from aegisbo.integrations.sklearn_space import SklearnSpace
from aegisbo.outcome import Answer

Fold = dict[str, Any]  # scikit-learn's record of one split: scores, times, the error if the fit failed
SCORES = ("test_scores", "train_scores")


@dataclass(frozen=True)
class Folds:
    """The function that is maximized: the mean score of a candidate over all splits."""

    name: str
    estimator: Any
    X: Any
    y: Any
    splits: Sequence[tuple[Any, Any]]
    metric: str | None  # which of several scores; None for the only one, or the first
    converted: SklearnSpace
    options: Mapping[str, Any]  # of scikit-learn's `_fit_and_score`
    config: Mapping[str, Any]  # of scikit-learn, as it was where the search was called

    @property
    def __name__(self) -> str:
        """The name by which a study identifies it: another estimator or other data make another function."""
        return self.name

    def __call__(self, **params: Any) -> Answer:
        """The mean score, with every fold."""
        values = self.converted.values(params)
        with config_context(**self.config):
            folds: list[Fold] = [
                _fit_and_score(
                    clone(self.estimator), self.X, self.y, train=train, test=test, parameters=values, **self.options
                )
                for train, test in self.splits
            ]
        mean = float(np.mean([self._score(fold["test_scores"]) for fold in folds]))
        return Answer(mean, {"folds": [_stored(fold) for fold in folds]})

    def _score(self, scores: Any) -> float:
        if not isinstance(scores, dict):
            return float(scores)
        return float(scores[next(iter(scores)) if self.metric is None else self.metric])


def folds_of(details: Mapping[str, Any] | None, splits: int, missing: float, *, train: bool) -> list[Fold]:
    """The folds that a trial keeps; if its evaluation never ended by itself, failed ones, whose score is `missing`."""
    if details is None:
        lost = {"fit_error": "The evaluation was stopped, or its worker died.", "fit_time": math.nan}
        scores = dict.fromkeys(SCORES if train else SCORES[:1], missing)
        return [{**lost, **scores, "score_time": math.nan, "n_test_samples": 0} for _ in range(splits)]
    return [{**fold, **{name: _read(fold[name]) for name in SCORES if name in fold}} for fold in details["folds"]]


def _stored(fold: Fold) -> Fold:
    """The fold in JSON types, which have no NaN."""
    return {**fold, **{name: _written(fold[name]) for name in SCORES if name in fold}}


def _written(score: Any) -> Any:
    if isinstance(score, dict):
        return {name: _written(each) for name, each in score.items()}
    return float(score) if math.isfinite(score) else str(float(score))


def _read(score: Any) -> Any:
    return {name: float(each) for name, each in score.items()} if isinstance(score, dict) else float(score)
