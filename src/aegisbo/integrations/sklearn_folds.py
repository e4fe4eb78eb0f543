"""Cross-validation of one candidate, wherever a worker runs, and its record in a study."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection._validation import _fit_and_score

from aegisbo.errors import InvalidInput
from aegisbo.integrations.sklearn_space import SklearnSpace
from aegisbo.integrations.sklearn_steps import in_steps
from aegisbo.outcome import Answer
from aegisbo.runners.reports import report

Fold = dict[str, Any]  # scikit-learn's record of one split: scores, times, the error if the fit failed
SCORES = ("test_scores", "train_scores")
SCORE = "score"  # what scikit-learn calls the only score
TIMES = ("fit_time", "score_time")  # which it measures beside the scores


@dataclass(frozen=True)
class Folds:
    """The function that is optimized: the mean score of a candidate over all splits, or several means by name."""

    name: str
    estimator: Any
    X: Any
    y: Any
    splits: Sequence[tuple[Any, Any]]
    metric: str | None  # which of several scores; None for the only one, or the first
    objectives: Sequence[str]  # the scores and times that are optimized at once; empty if it is one score
    converted: SklearnSpace
    options: Mapping[str, Any]  # of scikit-learn's `_fit_and_score`
    steps: int | None  # in which an estimator is trained, with a report after each; None to call `fit`
    config: Mapping[str, Any]  # of scikit-learn, as it was where the search was called

    @property
    def __name__(self) -> str:
        """The name by which a study identifies it: another estimator or other data make another function."""
        return self.name

    def __call__(self, **params: Any) -> Answer:
        """The mean score, with every fold."""
        values = self.converted.values(params)
        with config_context(**self.config):
            folds = self._at_once(values) if self.steps is None else self._in_steps(values, self.steps)
        value: Any = self._by_name(folds) if self.objectives else _mean(self._score(fold) for fold in folds)
        return Answer(value, {"folds": [_stored(fold) for fold in folds]})

    def _at_once(self, values: Mapping[str, Any]) -> list[Fold]:
        return [self._fitted(clone(self.estimator), split, values) for split in self.splits]

    def _in_steps(self, values: Mapping[str, Any], steps: int) -> list[Fold]:
        """All splits side by side, with a report of their mean score after each step."""
        estimators = [clone(self.estimator).set_params(**clone(values, safe=False)) for _ in self.splits]
        for estimator in estimators:
            estimator.fit = in_steps(estimator, steps, self.y)  # so that scikit-learn measures and scores each step
        folds: list[Fold] = [{"fit_error": None, "fit_time": 0.0} for _ in self.splits]
        for step in range(1, steps + 1):
            for k, split in enumerate(self.splits):
                if not folds[k]["fit_error"]:
                    spent = folds[k]["fit_time"]
                    folds[k] = self._fitted(estimators[k], split)
                    folds[k]["fit_time"] += spent
            if not self.objectives:
                report(_mean(self._score(fold) for fold in folds), step)
        return folds

    def _fitted(self, estimator: Any, split: tuple[Any, Any], values: Mapping[str, Any] | None = None) -> Fold:
        train, test = split
        fold: Fold = _fit_and_score(
            estimator, self.X, self.y, train=train, test=test, parameters=values, **self.options
        )
        return fold

    def _score(self, fold: Fold) -> float:
        scores = fold["test_scores"]
        if not isinstance(scores, dict):
            return float(scores)
        return float(scores[next(iter(scores)) if self.metric is None else self.metric])

    def _by_name(self, folds: Sequence[Fold]) -> dict[str, float]:
        """The means of all objectives, and of the other scores if they are numbers, which decide nothing."""
        scores = dict.fromkeys(name for fold in folds for name in _names(fold))
        means = {name: _mean(_measured(fold, name) for fold in folds) for name in (*scores, *self.objectives)}
        return {name: mean for name, mean in means.items() if name in self.objectives or math.isfinite(mean)}


def require_scores(objectives: Iterable[str], scores: Iterable[str]) -> None:
    """Refuse an objective that is neither one of the scores nor a time."""
    known = (*scores, *TIMES)
    for name in objectives:
        if name not in known:
            raise InvalidInput(f"objectives has {name!r}: there are {', '.join(known)}.")


def _mean(numbers: Iterable[float]) -> float:
    return float(np.mean(list(numbers)))


def _names(fold: Fold) -> Iterable[str]:
    """The names of the scores of a split; if its fit failed, they may not be known."""
    scores = fold["test_scores"]
    return scores if isinstance(scores, dict) else () if fold["fit_error"] else (SCORE,)


def _measured(fold: Fold, name: str) -> float:
    """A score or a time of a split. A fit that failed took no time that could be compared."""
    scores = fold["test_scores"]
    if name in TIMES:
        return math.nan if fold["fit_error"] else float(fold[name])
    if fold["fit_error"] and not isinstance(scores, dict):
        return float(scores)
    require_scores([name], _names(fold))
    return float(scores[name] if isinstance(scores, dict) else scores)


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
