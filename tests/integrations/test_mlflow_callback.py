"""A study in MLflow, read back by its own client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tracked import require, run

require("mlflow")
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]  # of MLflow and what it imports


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("sqlalchemy")
    return f"sqlite:///{tmp_path_factory.mktemp('mlflow')}/mlflow.db"  # it takes seconds to make


def client(uri: str) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=uri)


def runs(uri: str, experiment: str) -> tuple[Any, list[Any]]:
    """The run of the study, and those of its trials by number."""
    found = client(uri).search_runs([client(uri).get_experiment_by_name(experiment).experiment_id])
    (parent,) = [each for each in found if "mlflow.parentRunId" not in each.data.tags]
    trials = [each for each in found if each.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    assert len(trials) == len(found) - 1
    return parent, sorted(trials, key=lambda each: each.info.run_name)


def test_a_trial_is_a_run_below_that_of_the_study(tmp_path: Path, uri: str) -> None:
    from aegisbo.integrations import MLflowCallback

    result = run(tmp_path, 4, MLflowCallback(tracking_uri=uri, experiment_name="one"))
    parent, (good, failed, *others) = runs(uri, "one")
    assert len(others) == 2
    assert (parent.info.run_name, parent.info.status) == ("run", "FINISHED")
    assert parent.data.params["seed"] == "1"
    assert (good.info.run_name, good.info.status) == ("trial 0", "FINISHED")
    assert good.data.params == {"lr": "1.0", "act": "a", "n": "2"}
    assert good.data.metrics["value"] == 6.0
    assert good.data.metrics["latency"] == 1.0
    assert good.data.tags["move"] == "initial"
    assert abs(good.info.end_time - 1000 * (result.trials[0].ended or 0.0)) <= 1.0
    curve = client(uri).get_metric_history(good.info.run_id, "reported")
    assert [(each.step, each.value) for each in curve] == [(1, 1.0), (2, 0.5)]
    assert failed.info.status == "FAILED"
    assert failed.data.tags["reason"] == "ValueError: diverged"
    assert failed.data.params == {"lr": "8.0", "act": "b"}
    best = [each.value for each in client(uri).get_metric_history(parent.info.run_id, "best")]
    assert len(best) == 4
    assert best[-1] == result.fun


def test_a_call_that_continues_a_study_goes_on_in_its_run(tmp_path: Path, uri: str) -> None:
    from aegisbo.integrations import MLflowCallback

    for budget in (2, 4, 4):
        run(tmp_path, budget, MLflowCallback(tracking_uri=uri, experiment_name="two", run_name="mine"))
    parent, trials = runs(uri, "two")
    assert parent.info.run_name == "mine"
    assert [each.info.run_name for each in trials] == ["trial 0", "trial 1", "trial 2", "trial 3"]
    steps = [each.step for each in client(uri).get_metric_history(parent.info.run_id, "best")]
    assert steps == [1, 2, 3, 4]


def test_a_run_that_was_cut_short_is_completed(tmp_path: Path, uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from aegisbo.integrations import MLflowCallback, mlflow_callback

    callback = MLflowCallback(tracking_uri=uri, experiment_name="three")
    with monkeypatch.context() as patch:
        patch.setattr(mlflow_callback.MlflowClient, "log_batch", lambda *given, **rest: 1 / 0)
        run(tmp_path, 2, callback)
    run(tmp_path, 2, callback)
    found = client(uri).search_runs([client(uri).get_experiment_by_name("three").experiment_id])
    assert sorted(each.info.run_name for each in found) == ["run", "trial 0", "trial 1"]
    assert all(each.info.status != "RUNNING" for each in found)
    assert all(each.data.params for each in found)


def test_names_that_mlflow_does_not_allow_are_changed() -> None:
    from aegisbo.integrations.mlflow_callback import _allowed

    assert _allowed("svc__C (€), x/y.z-1") == "svc__C ____ x/y.z-1"
