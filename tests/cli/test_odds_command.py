"""`aegisbo odds`: what it prints, against the odds themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import call
from typer.testing import CliRunner

import aegisbo
from aegisbo.cli import app
from aegisbo.review.odds import in_percent, odds
from aegisbo.strategies import continuation


@pytest.fixture(autouse=True)
def _few_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuation, "FUNCTIONS", 4)


@pytest.fixture(scope="module")
def study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("odds") / "run.db"
    aegisbo.minimize(
        lambda x, y: (x - 3.0) ** 2 + y,
        {"x": (-5.0, 10.0), "y": (2.0, 3.0)},
        budget=14, n_initial=12, study=path, executor="serial", seed=0, progress=False,
    )  # fmt: skip
    return path


def test_it_prints_the_chance_and_how_it_grows(study_file: Path) -> None:
    found = odds(study_file, 10, workers=2, better=0.1)
    question, growth, worth = call(
        "odds", str(study_file), "--evaluations", "10", "--workers", "2", "--better", "0.1"
    ).splitlines()
    assert question == found.text
    assert question.startswith("10 more evaluations with 2 workers, about ")
    assert "chance of more than 0.1 better" in question
    assert growth.startswith(f"The chance by number of evaluations: 2: {in_percent(found.chances[1])}, 4: ")
    assert growth.endswith(f", 10: {in_percent(found.chances[9])}.")
    assert worth.endswith(f"promised {found.promised:.3g} improvements of this size, and {found.kept} came.")


def test_without_options_it_is_about_half_as_many_again(study_file: Path) -> None:
    assert call("odds", str(study_file)).startswith("7 more evaluations with 1 worker, about ")


@pytest.mark.parametrize(
    ("better", "said"), [("1%%", "better is '1%%': give a share of what the run has gained, such as \"1%\"")]
)
def test_bad_input_is_refused(study_file: Path, better: str, said: str) -> None:
    done = CliRunner().invoke(app, ["odds", str(study_file), "--better", better])
    assert done.exit_code != 0
    assert said in str(done.exception)


def test_where_nothing_can_be_said_it_says_why(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    aegisbo.minimize(lambda x: x, {"x": (0.0, 1.0)}, budget=3, study=path, executor="serial", seed=0, progress=False)
    assert "no odds. There are too few results: it takes 10 values, and there are 3." in call("odds", str(path))
