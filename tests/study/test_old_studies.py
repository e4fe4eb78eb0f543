"""A study file that version 0.1 wrote still opens, replays as far as it can, and continues."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import aegisbo
from aegisbo.errors import StudyError
from aegisbo.strategies import Aegis
from aegisbo.study import forget, retry
from aegisbo.study.export import rows
from aegisbo.study.replay import replay

# Written by 0.1.0 with minimize(..., budget=12, seed=7, strategy="aegis:gamma=0.2", executor="serial").
WITNESS = Path(__file__).parent / "data" / "study-0.1.db"
SPACE = {
    "lr": aegisbo.Real(1e-4, 1e-1, log=True),
    "units": aegisbo.Int(16, 512, log=True),
    "act": aegisbo.Choice(["relu", "tanh"]),
}
SETTINGS = {"seed": 7, "initial": [{"lr": 1e-3, "units": 64, "act": "relu"}], "executor": "serial"}


def loss(lr: float, units: int, act: str) -> float:
    """What was minimized then."""
    if act == "tanh" and units > 300:
        raise ValueError("diverged")
    return (lr * 10 - 0.3) ** 2 + abs(units - 100) / 100 + (act == "relu") * 0.1


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return Path(shutil.copy(WITNESS, tmp_path / "old.db"))


def test_its_result_is_read(study: Path) -> None:
    result = aegisbo.load(study)
    assert [trial.state for trial in result.trials] == ["done"] * 3 + ["failed"] + ["done"] * 8
    assert result.trials[3].reason == "ValueError: diverged"
    assert result.fun == 0.04559668649258469
    for trial in result.trials:
        if trial.state == "done":
            assert trial.value == loss(**trial.params)


def test_its_decisions_are_made_again(study: Path) -> None:
    found = replay(study)
    assert found.decisions == 12
    if not set(found.rebuilt) - {"aegisbo"}:  # other processors and libraries round differently
        # Since 0.2 a failure is no bad value any more. What knew of none is decided as it was then.
        failed = next(trial.number for trial in aegisbo.load(study).trials if trial.state == "failed")
        assert [each.number for each in found.differences if each.number <= failed] == []


@pytest.mark.parametrize("strategy", ["aegis:gamma=0.2", Aegis(preset="modern", gamma=0.2)])
def test_it_goes_on(study: Path, strategy: str | Aegis) -> None:
    result = aegisbo.minimize(loss, SPACE, budget=14, study=study, strategy=strategy, **SETTINGS)
    assert result.nfev == 14
    assert [trial.params for trial in result.trials[:12]] == [trial.params for trial in aegisbo.load(WITNESS).trials]


def test_its_trials_are_listed_with_the_times_that_it_knows(study: Path) -> None:
    for row in rows(study):
        assert row["asked_at"] < row["ended_at"]
        assert row["ended_at"] - row["started_at"] == pytest.approx(row["seconds"], abs=1e-6)
        assert row["worker"] is None
    assert aegisbo.load(study).idle is not None


def test_its_trials_can_be_retried_and_forgotten(study: Path) -> None:
    assert retry(study) == (3,)
    assert forget(study, [7]) == (7,)
    given = {**SETTINGS, "strategy": "aegis:gamma=0.2", "executor": "threads", "workers": 1}
    result = aegisbo.minimize(loss, SPACE, budget=12, study=study, **given)
    assert (result.nfev, len(result.trials)) == (12, 13)
    assert (result.trials[3].state, result.trials[7].state) == ("failed", "forgotten")


def test_another_strategy_is_refused(study: Path) -> None:
    with pytest.raises(StudyError, match=r"strategy is 'aegis:gamma=0.2' in the study and 'aegis' in this call"):
        aegisbo.minimize(loss, SPACE, budget=14, study=study, **SETTINGS)
