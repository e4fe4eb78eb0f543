"""AegisSearchCV with several scores: its front by brute force, everything else as GridSearchCV has it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from aegisbo.errors import EvaluationFailed, InvalidInput, StudyError
from aegisbo.integrations import AegisSearchCV

pytestmark = pytest.mark.long

X, y = load_iris(return_X_y=True)


class Two(BaseEstimator):
    """Good in one respect where it is bad in the other, slower with a, and broken beyond a limit."""

    def __init__(self, a: float = 0.0, b: float = 0.0, limit: float = 2.0) -> None:
        self.a, self.b, self.limit = a, b, limit

    def fit(self, X: Any, y: Any = None) -> Two:
        if self.a > self.limit:
            raise ValueError(f"a is {self.a}")
        time.sleep(0.02 * self.a)
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return self.a - (self.b - 0.5) ** 2


def left(estimator: Two, X: Any, y: Any = None) -> float:
    return -((estimator.a - 0.2) ** 2) - estimator.b


def right(estimator: Two, X: Any, y: Any = None) -> float:
    return -((estimator.a - 0.8) ** 2) - estimator.b


def sometimes(estimator: Two, X: Any, y: Any = None) -> float:
    return float("nan") if estimator.a < 0.5 else estimator.a


def search(**options: Any) -> AegisSearchCV:
    space = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
    defaults = {"scoring": {"left": left, "right": right}, "refit": "left", "objectives": ["left", "right"]}
    return AegisSearchCV(Two(), space, **{"n_iter": 10, "cv": 2, "random_state": 0, **defaults, **options})


def front(results: dict[str, Any], *columns: str) -> set[int]:
    """By the definition: the rows that no other beats in all columns, of which times are to be small."""
    L = np.stack([results[name] * (1 if name.endswith("time") else -1) for name in columns], axis=1)
    L[np.isnan(L).any(axis=1)] = np.inf
    beaten = [any((other <= row).all() and (other < row).any() for other in L) for row in L]
    return {k for k, row in enumerate(L) if np.isfinite(row).all() and not beaten[k]}


def test_results_are_those_of_grid_search_and_the_front_is_that_of_its_scores() -> None:
    estimator = LogisticRegression(max_iter=300)
    options = {"scoring": ["accuracy", "neg_log_loss", "f1_macro"], "refit": "f1_macro", "cv": 3}
    space = {"C": stats.loguniform(1e-4, 1e3), "class_weight": [None, {0: 9, 1: 1, 2: 1}]}
    found = AegisSearchCV(
        estimator, space, n_iter=9, random_state=0, objectives=["neg_log_loss", "accuracy"], **options
    ).fit(X, y)
    grid = [{name: [value] for name, value in params.items()} for params in found.cv_results_["params"]]
    own = GridSearchCV(estimator, grid, **options).fit(X, y)
    assert set(found.cv_results_) == set(own.cv_results_)
    for key, expected in own.cv_results_.items():
        if "time" not in key:
            assert_array_equal(found.cv_results_[key], expected, err_msg=key)
    assert (found.best_index_, found.best_params_, found.best_score_) == (
        own.best_index_, own.best_params_, own.best_score_
    )  # fmt: skip
    assert_array_equal(found.predict(X), own.predict(X))
    assert set(found.front_) == front(own.cv_results_, "mean_test_neg_log_loss", "mean_test_accuracy")
    assert (np.diff(own.cv_results_["mean_test_neg_log_loss"][found.front_]) < 0).all()
    for trial, f1 in zip(found.result_.trials, own.cv_results_["mean_test_f1_macro"], strict=True):
        assert trial.measured["f1_macro"] == pytest.approx(f1)


def test_the_search_looks_for_the_front_of_its_objectives() -> None:
    found = search(n_iter=22).fit(X)
    assert [objective.text for objective in found.result_.objectives] == ["left max", "right max"]
    a, b = (found.cv_results_[f"param_{name}"][found.front_].astype(float) for name in "ab")
    assert len(found.front_) > 8
    assert a.min() < 0.35 < 0.65 < a.max()  # the best for left is 0.2, for right 0.8
    assert b.max() < 0.05


def test_times_are_minimized_and_one_score_is_enough() -> None:
    found = search(scoring=None, refit=True, objectives=["score", "fit_time"], n_iter=8).fit(X)
    results = found.cv_results_
    assert [objective.text for objective in found.result_.objectives] == ["score max", "fit_time min"]
    assert set(found.front_) == front(results, "mean_test_score", "mean_fit_time")
    assert found.best_score_ == results["mean_test_score"].max()
    for trial, seconds in zip(found.result_.trials, results["mean_fit_time"], strict=True):
        assert trial.measured["fit_time"] == pytest.approx(seconds)
        assert seconds >= 0.02 * trial.params["a"]


def test_a_fit_that_fails_is_not_on_the_front_for_being_quick() -> None:
    unstable = search(scoring=None, refit=True, objectives=["score", "fit_time"], error_score=-9.0)
    with pytest.warns(FitFailedWarning):
        found = unstable.set_params(estimator__limit=0.5).fit(X)
    failed = np.array([params["a"] > 0.5 for params in found.cv_results_["params"]])
    assert failed.any()
    assert_array_equal(found.cv_results_["mean_test_score"] == -9.0, failed)
    assert [trial.state == "invalid" for trial in found.result_.trials] == failed.tolist()
    assert not failed[found.front_].any()


def test_what_is_no_objective_is_kept_and_decides_nothing() -> None:
    with pytest.warns(UserWarning, match="non-finite"):
        found = search(scoring={"left": left, "sometimes": sometimes, "right": right}).fit(X)
    plain = search().fit(X)
    assert found.cv_results_["params"] == plain.cv_results_["params"]
    assert_array_equal(found.front_, plain.front_)
    for trial in found.result_.trials:
        a = trial.params["a"]
        assert trial.measured.get("sometimes") == (None if a < 0.5 else pytest.approx(a))


def test_a_function_may_return_the_scores() -> None:
    def both(estimator: Two, X: Any, y: Any) -> dict[str, float]:
        return {"left": left(estimator, X), "right": right(estimator, X)}

    assert search(scoring=both).fit(X, y).cv_results_["params"] == search().fit(X, y).cv_results_["params"]
    with pytest.warns(FitFailedWarning):
        found = search(scoring=both, error_score=-5.0).set_params(estimator__limit=0.5).fit(X, y)
    values = [tuple(trial.measured.values()) for trial in found.result_.trials if trial.params["a"] > 0.5]
    assert values
    assert set(values) == {(-5.0, -5.0)}
    unknown = {"scoring": both, "objectives": ["left", "rigth"]}
    with pytest.raises(InvalidInput, match="objectives has 'rigth': there are left, right, fit_time, score_time"):
        search(**unknown).fit(X, y)
    with pytest.raises(EvaluationFailed, match="objectives has 'rigth': there are left, right"):
        search(**unknown, executor="threads", n_jobs=2).fit(X, y)
    with pytest.raises(InvalidInput, match="objectives has 'left': there are score, fit_time, score_time"):
        search(scoring=left, objectives=["left", "fit_time"]).fit(X, y)


def test_refit_says_which_candidate_is_the_best() -> None:
    chosen = search(refit=lambda results: 3).fit(X)
    assert chosen.best_index_ == 3
    assert not hasattr(chosen, "best_score_")
    unfitted = search(refit=False).fit(X)
    assert not hasattr(unfitted, "best_index_")
    assert_array_equal(unfitted.front_, chosen.front_)
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        search(refit=True).fit(X)
    assert not hasattr(search(objectives=None).fit(X), "front_")


def test_a_study_continues_for_the_same_objectives_only(tmp_path: Path) -> None:
    options = {"study": tmp_path / "run.db", "executor": "threads", "n_jobs": 2}
    first = search(n_iter=4, **options).fit(X)
    second = clone(search(n_iter=7, **options)).fit(X)
    assert second.cv_results_["params"][:4] == first.cv_results_["params"]
    assert len(second.result_.trials) == 7
    with pytest.raises(StudyError, match=r"objectives is \['left max', 'right max'\] in the study and \['right max'"):
        search(objectives=["right", "left"], **options).fit(X)


@pytest.mark.parametrize(
    ("objectives", "message"),
    [
        ("left", r"a list of scores, such as \['accuracy', 'fit_time'\], got 'left': scores are maximized"),
        ({"left": "max"}, "objectives must be a list of scores"),
        (2, "objectives must be a list of scores"),
        (["left"], "'left' is the only objective: leave objectives out, and name a score in refit"),
        (["left", "rihgt"], "objectives has 'rihgt': there are left, right, fit_time, score_time"),
        (["left", "left"], "'left' is given twice"),
    ],
)
def test_mistakes_are_named_before_anything_is_fitted(objectives: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):  # what a worker raises would be an EvaluationFailed
        search(objectives=objectives, executor="threads", n_jobs=2).fit(X)


def test_a_strategy_for_one_number_is_refused() -> None:
    with pytest.raises(InvalidInput, match="objectives go with the strategies aegis"):
        search(strategy="ei").fit(X)
