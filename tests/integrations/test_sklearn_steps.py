"""Candidates that are trained in steps and stopped: beside scikit-learn's own training, in steps and at once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from aegisbo.errors import InvalidInput, StudyError
from aegisbo.integrations import AegisSearchCV
from aegisbo.integrations.sklearn_steps import in_steps
from aegisbo.runners import reports

X, y = load_iris(return_X_y=True)
SGD = {"alpha": stats.loguniform(1e-6, 1e2)}


def search(estimator: Any = None, space: Any = None, **options: Any) -> AegisSearchCV:
    estimator = SGDClassifier(random_state=0) if estimator is None else estimator
    return AegisSearchCV(estimator, space or SGD, **{"n_iter": 6, "cv": 3, "random_state": 0, "steps": 5, **options})


@pytest.fixture
def _all_reports_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "GAP", 0.0)
    monkeypatch.setattr(reports, "SHARE", 0.0)


@pytest.mark.usefixtures("_all_reports_are_kept")
def test_reports_are_the_mean_scores_of_partial_fit_after_each_pass() -> None:
    found = search().fit(X, y)
    splits = list(StratifiedKFold(3).split(X, y))
    for row, trial in enumerate(found.result_.trials):
        each = [clone(found.estimator).set_params(**trial.params) for _ in splits]
        curve = []
        for _ in range(5):
            for one, (train, _) in zip(each, splits, strict=True):
                one.partial_fit(X[train], y[train], classes=np.unique(y))
            curve.append(np.mean([one.score(X[test], y[test]) for one, (_, test) in zip(each, splits, strict=True)]))
        assert_allclose([report.value for report in trial.reports], curve)
        assert [report.step for report in trial.reports] == [1, 2, 3, 4, 5]
        assert found.cv_results_["mean_test_score"][row] == pytest.approx(curve[-1])
    assert found.cv_results_["steps"].tolist() == [5] * 6
    assert (found.cv_results_["mean_fit_time"] > 0).all()
    refitted = clone(found.estimator).set_params(**found.best_params_)
    for _ in range(5):
        refitted.partial_fit(X, y, classes=np.unique(y))
    assert_array_equal(found.best_estimator_.coef_, refitted.coef_)


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(n_estimators=7, random_state=0),
        GradientBoostingClassifier(n_estimators=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=3, random_state=0),
        make_pipeline(PCA(2), RandomForestRegressor(n_estimators=9, random_state=0)),
    ],
)
def test_an_ensemble_grows_into_what_fit_makes_of_it(ensemble: Any) -> None:
    grown, once = clone(ensemble), clone(ensemble).fit(X, y)
    step = in_steps(grown, 4, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that nothing has grown, say
        for _ in range(4):
            step(X, y)
    assert_allclose(grown.predict(X), once.predict(X))
    assert str(grown) == str(once)


def test_a_pipeline_fits_what_is_before_its_last_part_once(tmp_path: Path) -> None:
    for memory in (None, str(tmp_path)):
        pipeline = make_pipeline(StandardScaler(), SGDRegressor(random_state=0), memory=memory)
        step, scaled, alone = in_steps(pipeline, 3, y), StandardScaler().fit(X), SGDRegressor(random_state=0)
        for _ in range(3):
            step(X, y)
            alone.partial_fit(scaled.transform(X), y)
        assert_allclose(pipeline.predict(X), alone.predict(scaled.transform(X)))
        assert pipeline.memory == memory


def test_candidates_that_are_forests_score_as_in_cross_validation() -> None:
    space = {"n_estimators": stats.randint(2, 9), "max_depth": [1, 2, 3]}
    found = search(RandomForestClassifier(random_state=0), space, steps=3, return_train_score=True).fit(X, y)
    for row, params in enumerate(found.cv_results_["params"]):
        forest = RandomForestClassifier(random_state=0, **params)
        own = cross_validate(forest, X, y, cv=3, return_train_score=True)
        assert_allclose(found.cv_results_["mean_test_score"][row], own["test_score"].mean())
        assert_allclose(found.cv_results_["mean_train_score"][row], own["train_score"].mean())
    best = RandomForestClassifier(random_state=0, **found.best_params_).fit(X, y)
    assert_array_equal(found.predict_proba(X), best.predict_proba(X))


@pytest.mark.long
@pytest.mark.usefixtures("_all_reports_are_kept")
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("executor", [None, "threads"])
def test_stopped_candidates_have_no_scores_and_rank_last(executor: str | None, several: bool) -> None:
    data, target = load_breast_cancer(return_X_y=True)
    scoring: dict[str, Any] = {"scoring": ["accuracy", "recall"], "refit": "accuracy"} if several else {}
    model = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    space = {"sgdclassifier__alpha": stats.loguniform(1e-6, 1e4)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing has failed
        found = search(
            model, space, steps=9, n_iter=14, stop_early="ranks", error_score=-9.0, executor=executor, **scoring
        ).fit(data, target)
    name = "accuracy" if several else "score"
    stopped = np.array([trial.state == "stopped" for trial in found.result_.trials])
    results = found.cv_results_
    assert 0 < stopped.sum() < 14
    for key in (f"mean_test_{name}", f"split1_test_{name}", "mean_fit_time", *(["mean_test_recall"] * several)):
        assert_array_equal(np.isnan(results[key]), stopped)
    assert results["steps"][~stopped].tolist() == [9] * (~stopped).sum()
    if executor is None:  # else the answer may come after the last step
        assert (results["steps"][stopped] < 9).all()
    assert results[f"rank_test_{name}"][stopped].min() > results[f"rank_test_{name}"][~stopped].max()
    assert found.best_score_ == np.nanmax(results[f"mean_test_{name}"]) == found.result_.fun


@pytest.mark.usefixtures("_all_reports_are_kept")
def test_a_fit_that_fails_at_some_step_costs_what_error_score_says() -> None:
    class Breaking(SGDClassifier):
        def partial_fit(self, *data: Any, **more: Any) -> Any:
            if self.alpha > 1e-2 and getattr(self, "t_", 0) > 150:
                raise ValueError("it breaks")
            return super().partial_fit(*data, **more)

    with pytest.warns(FitFailedWarning, match="it breaks"):
        found = search(Breaking(random_state=0), error_score=-9.0).fit(X, y)
    failed = np.array([params["alpha"] > 1e-2 for params in found.cv_results_["params"]])
    assert 0 < failed.sum() < 6
    assert_array_equal(found.cv_results_["mean_test_score"] == -9.0, failed)
    trial = found.result_.trials[int(np.flatnonzero(failed)[0])]
    assert [report.value for report in trial.reports][2:] == [-9.0] * 3  # a pass adds 100 to t_, which begins at 1


def test_the_number_of_steps_is_part_of_what_a_study_stores(tmp_path: Path) -> None:
    study = tmp_path / "run.db"
    search(n_iter=2, study=study).fit(X, y)
    assert len(search(n_iter=3, study=study).fit(X, y).result_.trials) == 3
    with pytest.raises(StudyError):
        search(n_iter=4, study=study, steps=6).fit(X, y)


def test_what_cannot_be_is_refused_before_anything_is_fitted() -> None:
    with pytest.raises(InvalidInput, match=r"SVC cannot be trained in steps, .*: leave steps out\."):
        search(make_pipeline(StandardScaler(), SVC()), {"svc__C": (0.1, 1.0)}).fit(X, y)
    with pytest.raises(InvalidInput, match="stop_early needs steps, after which candidates report: say how many"):
        search(steps=None, stop_early=True).fit(X, y)
    with pytest.raises(ValueError, match="'steps' parameter of AegisSearchCV"):
        search(steps=0).fit(X, y)
    with pytest.raises(InvalidInput, match="stop_early is about one number"):
        search(stop_early=True, objectives=["score", "fit_time"]).fit(X, y)
