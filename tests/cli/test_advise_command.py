"""`aegisbo advise`: what it prints and draws, against the advice itself."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from aegisbo import plot
from aegisbo.advice import Advice, Forecast, advise
from aegisbo.cli import app
from aegisbo.cli.tables import duration
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.study import Study

BEGAN = 1_800_000_000.0


@pytest.fixture(scope="module")
def study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("advise") / "run.db"
    with Study.open(path, Settings.checked({"x": (-5.0, 10.0), "y": (2.0, 3.0)}, strategy="random", seed=0)) as study:
        for k in range(12):
            trial = study.optimizer.ask()
            study.asked(trial, study.optimizer.memory, study.seen, 0.0)
            value = (trial.params["x"] - 3.0) ** 2 + trial.params["y"]
            outcome = Outcome("done", value, seconds=60.0 + 30.0 * (k % 3), began=BEGAN + 60.0 * k, worker=k % 2)
            study.ended(trial.number, outcome, 1.0)
            study.optimizer.end(trial, outcome)
    return path


def printed(*arguments: str) -> str:
    outcome = CliRunner().invoke(app, ["advise", *arguments], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def test_the_table_has_a_line_for_each_team(study_file: Path) -> None:
    found = advise(study_file, [4], runs=3)
    output = printed(str(study_file), "--workers", "4", "--runs", "3")
    assert f"To reach {found.target:.6g}, 1 % of the way from the best value to the median one" in output
    lines = re.findall(r"^(\d+(?:, in batches)?(?: \(as it ran\))?)  +(.*)$", output, re.MULTILINE)
    assert [title for title, _ in lines] == ["2 (as it ran)", "2, in batches", "4", "4, in batches"]
    for (_, cells), forecast in zip(lines, found.forecasts, strict=True):
        if math.isfinite(forecast.time.median):
            assert cells.startswith(duration(forecast.time.median))


def test_where_standard_error_is_no_terminal_it_says_at_once_what_is_simulated(study_file: Path) -> None:
    outcome = CliRunner().invoke(app, ["advise", str(study_file), "--workers", "4", "--runs", "2"])
    assert outcome.stderr.splitlines() == [
        "Simulating 8 runs, which may take minutes of processor time (--jobs shares it out) ..."
    ]  # two teams and their batches, twice each


def test_runs_that_gave_up_are_told(study_file: Path) -> None:
    output = printed(str(study_file), "--workers", "2", "--runs", "1", "--target", "-99")
    assert "To reach -99 (learned from 12 evaluations)" in output
    assert "2 workers: 1 of 1 gave up after 36 evaluations." in output
    assert "never" in output


def test_a_picture_is_written(study_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "advice.png"
    assert str(file) in printed(str(study_file), "--workers", "4", "--runs", "1", "-o", str(file))
    assert file.read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_used_is_refused(study_file: Path, tmp_path: Path) -> None:
    for arguments, kind, message in (
        ([str(study_file), "--workers", "two"], InvalidInput, "--workers 'two' cannot be read"),
        ([str(study_file), "-o", str(tmp_path / "no" / "x.png")], InvalidInput, "cannot be written"),
        ([str(tmp_path / "none.db"), "-o", str(tmp_path / "x.odd")], InvalidInput, "x.odd cannot be drawn"),
        ([str(tmp_path / "none.db")], StudyError, "none.db"),
    ):
        with pytest.raises(kind, match=message):
            CliRunner().invoke(app, ["advise", *arguments], catch_exceptions=False)


def test_the_picture_shows_medians_and_quartiles() -> None:
    forecasts = (
        Forecast(2, False, (100.0, 120.0, 200.0, 300.0), (10.0, 12.0, 20.0, 30.0)),
        Forecast(2, True, (150.0, 160.0, 170.0, math.inf), (15.0, 16.0, 17.0, math.inf)),
        Forecast(16, False, (math.inf,) * 4, (math.inf,) * 4),
    )
    figure = plot.advice(Advice("a $run", 0.5, True, 40, (240.0, 25), 120, forecasts))
    time, effort = figure.axes
    assert time.get_ylabel() == "time (min)"
    assert [text.get_text() for text in time.get_xticklabels()] == ["2", "16"]
    for axis, medians, own in ((time, [2.0, 160.0 / 60.0], 4.0), (effort, [12.0, 16.0], 25.0)):
        drawn = [bars.lines[0].get_ydata() for bars in axis.containers[:2]]
        assert np.concatenate(drawn).tolist() == pytest.approx(medians)
        (star,) = [line for line in axis.lines if line.get_marker() == "*"]
        assert list(star.get_ydata()) == [own]
    low, high = time.containers[0].lines[2][0].get_segments()[0][:, 1]
    assert (low, high) == pytest.approx((100.0 / 60.0, 200.0 / 60.0))
    figure.draw_without_rendering()
