"""A study file in Optuna's hands, and back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState
from typer.testing import CliRunner

import aegisbo
from aegisbo.cli import app
from aegisbo.errors import AegisError, InvalidInput
from aegisbo.integrations.optuna_export import export
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome, Report
from aegisbo.study import Study, forget, retry

SPACE = {
    "lr": aegisbo.Real(1e-4, 1e-1, log=True),
    "units": aegisbo.Int(4, 20, step=4),
    "act": aegisbo.Choice(["relu", "tanh"]),
}


def score(lr: float, units: int, act: str) -> float:
    if units == 20:
        raise MemoryError("too big")
    return -abs(math.log10(lr) + 2) + (act == "tanh") + units / 100


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    path = tmp_path / "run.db"
    options = {"executor": "serial", "raise_errors": False, "strategy": "random", "seed": 1, "maximize": True}
    aegisbo.minimize(score, SPACE, budget=15, study=path, **options)
    return path


@pytest.mark.long
@pytest.mark.parametrize("storage", ["sqlite:///{}/optuna.db", "{}/optuna.log"])
def test_every_trial_arrives_with_its_outcome_and_its_reason(study_file: Path, storage: str) -> None:
    url = storage.format(study_file.parent)
    result = CliRunner().invoke(
        app, ["export", str(study_file), "--to", "optuna", "--storage", url], catch_exceptions=False
    )
    assert "15 trials are in study 'run'" in result.output
    backend = url if "://" in url else optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(url))
    exported = optuna.load_study(study_name="run", storage=backend)
    ours = aegisbo.load(study_file)
    assert exported.best_value == ours.fun
    assert exported.best_params == ours.x
    for theirs, trial in zip(exported.trials, ours.trials, strict=True):
        assert theirs.params == trial.params
        assert theirs.state == (TrialState.COMPLETE if trial.state == "done" else TrialState.FAIL)
        assert theirs.user_attrs["aegisbo:move"] == trial.note["move"]
        assert theirs.datetime_complete >= theirs.datetime_start
        if trial.state == "failed":
            assert "too big" in theirs.user_attrs["aegisbo:reason"]
    assert exported.trials[0].distributions == {
        "lr": FloatDistribution(1e-4, 1e-1, log=True),
        "units": IntDistribution(4, 20, step=4),
        "act": CategoricalDistribution(["relu", "tanh"]),
    }


def test_limits_arrive_as_constraints(tmp_path: Path) -> None:
    def loss(x: float) -> tuple[float, dict[str, float]]:
        return x, {"sd": 0.1, "heat": 1.0 - x}

    path, options = tmp_path / "run.db", {"executor": "serial", "strategy": "random", "seed": 1}
    ours = aegisbo.minimize(loss, {"x": (0, 1)}, budget=8, limits=["heat <= 0.5"], study=path, **options)
    exported = export(path, f"sqlite:///{tmp_path}/optuna.db")
    assert exported.best_value == ours.fun == min(trial.value for trial in ours.trials if trial.value >= 0.5)
    for theirs, trial in zip(exported.trials, ours.trials, strict=True):
        assert theirs.constraints == {"heat <= 0.5": trial.measured["heat"] - 0.5}
        assert theirs.user_attrs["aegisbo:measured"] == {"heat": 1.0 - trial.value}
        assert theirs.user_attrs["aegisbo:sd"] == 0.1


def test_what_was_exported_can_be_taken_up_again(study_file: Path) -> None:
    from aegisbo.integrations.optuna_export import export

    optimizer = aegisbo.from_optuna(export(study_file, f"sqlite:///{study_file.parent}/o.db"), seed=0)
    assert optimizer.settings.maximize
    assert optimizer.best is not None
    assert optimizer.best.value == aegisbo.load(study_file).fun
    assert len(optimizer.observed) == 15


def test_only_trials_that_count_are_exported(study_file: Path) -> None:
    from aegisbo.integrations.optuna_export import export

    retry(study_file, [2])
    forget(study_file, [5, 6])
    exported = export(study_file, f"sqlite:///{study_file.parent}/o.db")
    counting = [trial for trial in aegisbo.load(study_file).trials if trial.number not in (2, 5, 6)]
    assert [theirs.params for theirs in exported.trials] == [trial.params for trial in counting]


def test_an_export_that_cannot_be_made_says_why(study_file: Path) -> None:
    def call(*extra: str) -> None:
        CliRunner().invoke(app, ["export", str(study_file), *extra], catch_exceptions=False)

    url = f"sqlite:///{study_file.parent}/o.db"
    call("--to", "optuna", "--storage", url)
    with pytest.raises(AegisError, match="already has a study 'run': choose another --name"):
        call("--to", "optuna", "--storage", url)
    call("--to", "optuna", "--storage", url, "--name", "again")
    with pytest.raises(InvalidInput, match="go together"):
        call("--to", "optuna")
    with pytest.raises(InvalidInput, match="go together"):
        call("--storage", url)


@pytest.mark.parametrize(
    "storage", ["foo://x", "plainname", "", "sqlite:////nonexistent/o.db", "/nonexistent/x.log", "mysql://u@h/db"]
)
def test_a_storage_that_cannot_be_used_gets_one_sentence(study_file: Path, storage: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"cannot be used \(.*\): give a URL such as sqlite:///optuna.db, or a journal"
    ):
        export(study_file, storage)


def test_no_study_of_ours_becomes_a_database_of_optuna(study_file: Path) -> None:
    before = study_file.read_bytes()
    with pytest.raises(InvalidInput, match=r"run\.db is already a study: name another file for Optuna's"):
        export(study_file, f"sqlite:///{study_file}")
    journal = study_file.rename(study_file.with_suffix(".log"))
    with pytest.raises(InvalidInput, match=r"run\.log is already a study"):
        export(journal, str(journal))
    assert journal.read_bytes() == before


def test_steps_on_a_logarithmic_scale_are_left_out(tmp_path: Path) -> None:
    space = {"units": aegisbo.Int(8, 64, log=True, step=8)}
    aegisbo.minimize(lambda units: 1.0 / units, space, budget=4, executor="serial", study=tmp_path / "run.db")
    trials = export(tmp_path / "run.db", f"sqlite:///{tmp_path}/optuna.db").trials
    assert trials[0].distributions == {"units": IntDistribution(8, 64, log=True)}
    assert len(trials) == 4


def test_optunas_distributions_are_a_space() -> None:
    optimizer = aegisbo.Optimizer(
        {
            "lr": FloatDistribution(1e-4, 1e-1, log=True),
            "units": IntDistribution(4, 20, step=4),
            "act": CategoricalDistribution(["relu", "tanh"]),
        }
    )
    assert optimizer.space.parameters == SPACE
    with pytest.raises(InvalidInput, match=r"Parameter 'x': FloatDistribution.* has no counterpart"):
        aegisbo.Optimizer({"x": FloatDistribution(0.0, 1.0, step=0.25)})


def test_several_objectives_arrive_with_their_directions(tmp_path: Path) -> None:
    def both(x: float) -> dict[str, float]:
        return {"score": math.nan if x > 0.9 else x, "price": x * x}

    path, objectives = tmp_path / "run.db", {"score": "max", "price": "min"}
    options: dict[str, Any] = {"executor": "serial", "strategy": "random", "seed": 1, "objectives": objectives}
    options["limits"] = ["price <= 0.5", "score >= 0.1"]
    ours = aegisbo.minimize(both, {"x": (0, 1)}, budget=20, study=path, **options)
    exported = export(path, f"sqlite:///{tmp_path}/optuna.db")
    assert [direction.name for direction in exported.directions] == ["MAXIMIZE", "MINIMIZE"]
    assert exported.metric_names == ["score", "price"]
    assert 1 < len(ours.front) < sum(trial.state == "done" for trial in ours.trials)
    assert sorted(trial.number for trial in exported.best_trials) == sorted(trial.number for trial in ours.front)
    for theirs, trial in zip(exported.trials, ours.trials, strict=True):
        done = trial.state == "done"
        assert theirs.values == ([trial.measured["score"], trial.measured["price"]] if done else None)
        if done:
            limits = {"price <= 0.5": trial.measured["price"] - 0.5, "score >= 0.1": 0.1 - trial.measured["score"]}
            assert theirs.constraints == limits


def test_stopped_trials_arrive_as_pruned_with_what_they_reported(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    settings = Settings.checked({"x": (0.0, 1.0)}, strategy="random", seed=1)
    with Study.open(path, settings) as study:
        for number in range(3):
            study.ask()
            for step, value in ((1.0, 3.0 + number), (1.5, 2.5), (2.0, None)):
                study.take_in(study.reported(number, Report(step, value)))
        study.take_in(study.ended(0, Outcome("done", 1.0)))
        study.take_in(study.ended(1, Outcome("stopped", reason="It fell behind.")))
    done, pruned = export(path, f"sqlite:///{tmp_path}/o.db").trials
    assert (done.state, pruned.state) == (TrialState.COMPLETE, TrialState.PRUNED)
    assert pruned.user_attrs["aegisbo:stopped"] == "It fell behind."
    for trial, value in ((done, 3.0), (pruned, 4.0)):  # Optuna's steps are whole
        assert set(trial.intermediate_values) == {1, 2}
        assert trial.intermediate_values[1] == value
        assert math.isnan(trial.intermediate_values[2])
    assert done.value == 1.0
