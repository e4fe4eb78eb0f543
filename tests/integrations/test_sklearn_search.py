"""AegisSearchCV beside scikit-learn's own searches and its checks of estimators."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, make_regression
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer, mean_squared_error
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import aegisbo
from aegisbo.errors import EvaluationFailed, InvalidInput, StudyError
from aegisbo.integrations import AegisSearchCV, sklearn_search
from aegisbo.integrations.sklearn_folds import folds_of

X, y = load_iris(return_X_y=True)
KERNELS = {
    "kernel": ["linear", "rbf"],
    "C": stats.loguniform(1e-2, 1e2),
    "gamma": aegisbo.Real(1e-3, 1e1, log=True, when={"kernel": "rbf"}),
}
TINY: dict[str, Any] = {"n_iter": 2, "cv": 2, "error_score": "raise", "random_state": 0}


class Fragile(BaseEstimator):
    """Fits below a limit only, and scores by its parameter alone."""

    def __init__(self, a: float = 0.0, limit: float = 1.0) -> None:
        self.a, self.limit = a, limit

    def fit(self, X: Any, y: Any = None) -> Fragile:
        if self.a > self.limit:
            raise ValueError(f"a is {self.a}")
        self.n_features_in_ = X.shape[1]
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return -((self.a - 0.3) ** 2)


def search(**options: Any) -> AegisSearchCV:
    return AegisSearchCV(Fragile(), {"a": (0.0, 1.0)}, **{"n_iter": 6, "cv": 3, "random_state": 0, **options})


@pytest.mark.long
@pytest.mark.parametrize(
    "estimator",
    [
        AegisSearchCV(LogisticRegression(), {"C": (0.1, 1.0)}, **TINY),
        AegisSearchCV(Ridge(), {"alpha": (0.1, 1.0)}, **TINY),
    ],
)
def test_the_checks_of_scikit_learn_pass(estimator: AegisSearchCV) -> None:
    as_its_own = {"check_supervised_y_2d": "RandomizedSearchCV fails it too: DataConversionWarning not caught"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks provoke them
        results = check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=as_its_own)
    assert [found for found in results if found["status"] == "failed"] == []
    assert sum(found["status"] == "passed" for found in results) > 40


def assert_same_as_grid(found: AegisSearchCV, estimator: Any, **options: Any) -> None:
    """The same candidates in scikit-learn's own search give the same in every respect but time."""
    grid = [{name: [value] for name, value in params.items()} for params in found.cv_results_["params"]]
    own = GridSearchCV(estimator, grid, **options).fit(X, y)
    assert set(found.cv_results_) == set(own.cv_results_)
    for key, expected in own.cv_results_.items():
        got = found.cv_results_[key]
        assert type(got) is type(expected)
        if key == "params":
            assert got == expected
        elif "time" not in key:
            assert got.dtype == expected.dtype, key
            assert_array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(expected))
            assert_array_equal(got, expected, err_msg=key)
    assert (found.best_index_, found.best_params_, found.best_score_) == (
        own.best_index_,
        own.best_params_,
        own.best_score_,
    )
    assert (found.n_splits_, found.multimetric_) == (own.n_splits_, own.multimetric_)
    assert_array_equal(found.predict(X), own.predict(X))
    assert found.score(X, y) == own.score(X, y)
    assert_array_equal(found.classes_, own.classes_)


def test_the_same_candidates_give_the_same_results_as_in_grid_search() -> None:
    found = AegisSearchCV(SVC(), KERNELS, n_iter=8, cv=3, return_train_score=True, random_state=1).fit(X, y)
    assert found.cv_results_["param_gamma"].mask.any()
    assert not found.cv_results_["param_gamma"].mask.all()
    assert_same_as_grid(found, SVC(), cv=3, return_train_score=True)


@pytest.mark.long
def test_several_metrics_are_recorded_and_the_one_of_refit_decides() -> None:
    scoring = {"accuracy": "accuracy", "doubt": "neg_log_loss"}
    estimator = LogisticRegression(max_iter=200)
    options = {"scoring": scoring, "refit": "doubt", "cv": 3}
    found = AegisSearchCV(estimator, {"C": stats.loguniform(1e-3, 1e3)}, n_iter=7, random_state=0, **options)
    found.fit(X, y)
    assert_same_as_grid(found, estimator, **options)
    assert found.result_.fun == found.best_score_


def test_a_function_may_return_several_scores() -> None:
    def both(estimator: Fragile, X: Any, y: Any) -> dict[str, float]:
        return {"first": estimator.a, "second": -estimator.a}

    with pytest.warns(FitFailedWarning):
        found = search(scoring=both, refit="second", error_score=-5.0).set_params(estimator__limit=0.6).fit(X, y)
    assert found.best_score_ == -found.best_params_["a"] == found.cv_results_["mean_test_second"].max()
    assert (found.cv_results_["mean_test_first"] == -5.0).any()
    unnamed = search(scoring=both, refit=False, n_iter=4).fit(X, y)
    assert unnamed.result_.fun == unnamed.cv_results_["mean_test_first"].max()
    assert not hasattr(unnamed, "best_index_")


def test_scores_are_maximized() -> None:
    found = search(n_iter=15).fit(X)
    assert found.best_params_["a"] == pytest.approx(0.3, abs=0.02)
    assert found.best_score_ == found.result_.fun == found.cv_results_["mean_test_score"].max()
    data, target = make_regression(80, 4, noise=1.0, random_state=0)
    ridge = AegisSearchCV(
        Ridge(), {"alpha": stats.loguniform(1e-3, 1e3)}, n_iter=8, scoring=make_scorer(
            mean_squared_error, greater_is_better=False), random_state=0
    ).fit(data, target)  # fmt: skip
    means = [cross_val_score(Ridge(**p), data, target, scoring="neg_mean_squared_error").mean()
             for p in ridge.cv_results_["params"]]  # fmt: skip
    assert ridge.best_score_ == pytest.approx(max(means))


@pytest.mark.long
def test_a_fit_that_fails_costs_what_error_score_says() -> None:
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
        found = clone(search()).set_params(estimator__limit=0.5).fit(X)
    failed = np.array([params["a"] > 0.5 for params in found.cv_results_["params"]])
    assert failed.any()
    assert_array_equal(np.isnan(found.cv_results_["mean_test_score"]), failed)
    assert found.best_params_["a"] <= 0.5
    assert len(found.result_.failures) == 1
    with pytest.warns(FitFailedWarning):
        found = search(error_score=-9.0).set_params(estimator__limit=0.5).fit(X)
    failed = np.array([params["a"] > 0.5 for params in found.cv_results_["params"]])
    assert_array_equal(found.cv_results_["split1_test_score"] == -9.0, failed)
    broken = search(error_score="raise").set_params(estimator__limit=-1.0)
    with pytest.raises(ValueError, match="a is 0"):
        broken.fit(X)
    with pytest.raises(EvaluationFailed, match="a is 0"):
        broken.set_params(executor="threads", n_jobs=2).fit(X)
    with pytest.raises(ValueError, match="All the 18 fits failed"):
        broken.set_params(error_score=np.nan, executor=None).fit(X)


def test_a_candidate_whose_worker_died_has_failed_folds() -> None:
    folds = folds_of(None, 2, -9.0, train=True)
    assert [fold[name] for fold in folds for name in ("test_scores", "train_scores")] == [-9.0] * 4
    assert all("worker died" in fold["fit_error"] for fold in folds)


@pytest.mark.parametrize("lost", [0, 2])
def test_a_lost_candidate_has_a_score_of_each_name(monkeypatch: pytest.MonkeyPatch, lost: int) -> None:
    numbers = iter(range(4))

    def forgetful(details: Any, *rest: Any, train: bool) -> Any:
        return folds_of(None if next(numbers) == lost else details, *rest, train=train)

    monkeypatch.setattr(sklearn_search, "folds_of", forgetful)
    found = search(n_iter=4, scoring={"one": own_score, "other": own_score}, refit="other", error_score=-9.0)
    with pytest.warns(FitFailedWarning):
        found.fit(X)
    expected = [-9.0 if k == lost else -((p["a"] - 0.3) ** 2) for k, p in enumerate(found.cv_results_["params"])]
    assert found.multimetric_
    for name in ("one", "other"):
        np.testing.assert_allclose(found.cv_results_[f"mean_test_{name}"], expected)


def own_score(estimator: Fragile, X: Any, y: Any = None) -> float:
    return estimator.score(X)


def test_a_wrong_parameter_name_is_an_error_as_in_scikit_learn() -> None:
    with pytest.raises(ValueError, match="Invalid parameter 'b'"):
        AegisSearchCV(Fragile(), {"b": (0.0, 1.0)}, n_iter=2).fit(X)


def test_at_least_one_candidate_is_wanted() -> None:
    with pytest.raises(
        ValueError, match=r"'n_iter' parameter of AegisSearchCV must be an int in the range \[1, inf\). Got 0"
    ):
        search(n_iter=0).fit(X)


def test_refit_chooses_the_candidate_that_its_function_names() -> None:
    found = search(refit=lambda results: 1).fit(X)
    assert found.best_index_ == 1
    assert found.best_estimator_.a == found.cv_results_["params"][1]["a"]
    assert not hasattr(found, "best_score_")
    unfitted = search(refit=False).fit(X)
    assert not hasattr(unfitted, "best_estimator_")
    assert unfitted.best_params_ == found.set_params(refit=True).fit(X).best_params_
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        search(scoring=["accuracy", "f1"]).fit(X, y)


@pytest.mark.long
def test_groups_and_weights_go_where_they_belong() -> None:
    groups, weights = np.arange(len(y)) % 5, 1.0 + np.arange(len(y)) % 3
    estimator = LogisticRegression(max_iter=300)
    found = AegisSearchCV(estimator, {"C": stats.loguniform(0.01, 1.0)}, n_iter=3, cv=GroupKFold(3), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scikit-learn, about weights of scores
        found.fit(X, y, groups=groups, sample_weight=weights)
        grid = GridSearchCV(estimator, {"C": [found.cv_results_["params"][2]["C"]]}, cv=GroupKFold(3))
        grid.fit(X, y, groups=groups, sample_weight=weights)
    assert found.cv_results_["mean_test_score"][2] == grid.best_score_
    plain = clone(found).fit(X, y, groups=groups)
    assert not np.array_equal(plain.best_estimator_.coef_, found.best_estimator_.coef_)


def test_metadata_routing_reaches_estimator_scorer_and_splitter() -> None:
    groups, weights = np.arange(len(y)) % 5, 1.0 + np.arange(len(y)) % 3
    with config_context(enable_metadata_routing=True):
        estimator = LogisticRegression(max_iter=300).set_fit_request(sample_weight=True)
        plain, weighted = (
            make_scorer(accuracy_score).set_score_request(sample_weight=asked) for asked in (False, True)
        )
        options = {"scoring": {"plain": plain, "weighted": weighted}, "cv": GroupKFold(3)}
        found = AegisSearchCV(
            estimator, {"C": (0.01, 1.0)}, n_iter=2, refit="weighted", random_state=0, executor="threads", **options
        )
        found.fit(X, y, groups=groups, sample_weight=weights)
        best = clone(estimator).set_params(**found.best_params_)
        scores = cross_validate(best, X, y, params={"groups": groups, "sample_weight": weights}, **options)
    for name in ("plain", "weighted"):
        assert found.cv_results_[f"mean_test_{name}"][found.best_index_] == scores[f"test_{name}"].mean()
    assert scores["test_plain"].mean() != scores["test_weighted"].mean()


@pytest.mark.parametrize("executor", ["threads", ThreadPoolExecutor, pytest.param("processes", marks=pytest.mark.long)])
def test_any_executor_gives_the_scores_of_cross_validation(executor: Any) -> None:
    executor = executor if isinstance(executor, str) else (lambda: ThreadPoolExecutor(2))
    found = AegisSearchCV(SVC(), KERNELS, n_iter=5, cv=3, random_state=0, n_jobs=2, executor=executor).fit(X, y)
    for params, score in zip(found.cv_results_["params"], found.cv_results_["mean_test_score"], strict=True):
        assert score == cross_val_score(SVC(**params), X, y, cv=3).mean()


def test_a_study_continues_where_it_was(tmp_path: Path) -> None:
    fits: list[float] = []

    def counted(estimator: Fragile, X: Any, y: Any = None) -> float:
        fits.append(estimator.a)
        return float("nan") if len(fits) == 4 else estimator.score(X)

    def both(**options: Any) -> AegisSearchCV:
        return search(cv=KFold(2), scoring=counted, study=tmp_path / "run.db", return_train_score=False, **options)

    with pytest.warns(UserWarning, match="non-finite"):
        first = both(n_iter=4).fit(X)
    assert len(fits) == 8
    with pytest.warns(UserWarning, match="non-finite"):
        second = both(n_iter=7).fit(X)
    assert len(fits) == 14
    for key in ("split0_test_score", "split1_test_score", "mean_test_score", "mean_fit_time"):
        assert_array_equal(second.cv_results_[key][:4], first.cv_results_[key])
    with pytest.warns(UserWarning, match="non-finite"):
        assert both(n_iter=7).fit(X).best_params_ == second.best_params_
    assert len(fits) == 14
    with pytest.raises(
        StudyError, match=r"run\.db was made for another estimator, other data, .*: use another file\.$"
    ):
        both(n_iter=8).fit(X + 1.0)
    with pytest.raises(
        StudyError, match=r"run\.db was made for another estimator, other data, .*: use another file\.$"
    ):
        both(n_iter=8).set_params(estimator__limit=0.9).fit(X)


def test_names_reach_into_pipelines_and_choices_may_be_anything() -> None:
    pipeline = Pipeline([("reduce", PCA()), ("model", SVC())])
    space = {
        "reduce__n_components": stats.randint(1, 4),
        "reduce__whiten": [True],
        "model": [SVC(), KNeighborsClassifier()],
        "model__C": aegisbo.Real(0.1, 10.0, when={"model": "SVC()"}),
    }
    found = AegisSearchCV(pipeline, space, n_iter=6, cv=2, random_state=0).fit(X, y)
    for params in found.cv_results_["params"]:
        assert params["reduce__whiten"] is True
        assert params["reduce__n_components"] in (1, 2, 3)
        assert ("model__C" in params) == isinstance(params["model"], SVC)
    assert {type(params["model"]) for params in found.cv_results_["params"]} == {SVC, KNeighborsClassifier}
    assert found.best_estimator_.named_steps["reduce"].whiten


def test_a_parameter_that_is_not_there_keeps_the_value_of_the_estimator() -> None:
    space = {"kernel": ["linear", "rbf"], "gamma": aegisbo.Real(0.1, 1.0, when={"kernel": "rbf"})}
    found = AegisSearchCV(SVC(gamma=7.0), space, n_iter=6, cv=2, refit=lambda results: first_linear(results)).fit(X, y)
    assert found.best_params_ == {"kernel": "linear"}
    assert found.best_estimator_.gamma == 7.0


def first_linear(results: dict[str, Any]) -> int:
    return [params["kernel"] for params in results["params"]].index("linear")


def test_random_states_decide() -> None:
    candidates = [search(random_state=state).fit(X).cv_results_["params"] for state in (0, 0, 1)]
    assert candidates[0] == candidates[1] != candidates[2]
    drawn = [search(random_state=np.random.RandomState(3)).fit(X).cv_results_["params"] for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_a_finite_space_ends_the_search_early() -> None:
    found = AegisSearchCV(Fragile(), {"a": [0.1, 0.2, 0.4]}, n_iter=9, cv=2, random_state=0).fit(X)
    assert sorted(params["a"] for params in found.cv_results_["params"]) == [0.1, 0.2, 0.4]


def test_callbacks_of_scikit_learn_are_refused() -> None:
    with pytest.raises(InvalidInput, match="verbose=1"):
        search().set_callbacks(print)
