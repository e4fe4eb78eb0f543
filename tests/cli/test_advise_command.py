"""`aegisbo advise`: what it prints and draws, against the advice itself."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import call
from driven import ask, end
from typer.testing import CliRunner

from aegisbo import plot
from aegisbo.advice import Advice, Forecast, advise
from aegisbo.cli import app
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.review.health import Finding
from aegisbo.study import Study

BEGAN = 1_800_000_000.0
POOR = Finding("model", "warning", "It comes 5% closer than the median.", "Try log=True.")


@pytest.fixture(scope="module")
def study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("advise") / "run.db"
    with Study.open(path, Settings.checked({"x": (-5.0, 10.0), "y": (2.0, 3.0)}, strategy="random", seed=0)) as study:
        for k in range(12):
            trial = ask(study, 0.0)
            value = (trial.params["x"] - 3.0) ** 2 + trial.params["y"]
            outcome = Outcome("done", value, seconds=60.0 + 30.0 * (k % 3), began=BEGAN + 60.0 * k, worker=k % 2)
            end(study, trial.number, outcome, 1.0)
    return path


def printed(*arguments: str) -> str:
    return call("advise", *arguments)


def test_the_table_has_a_line_for_each_team(study_file: Path) -> None:
    found = advise(study_file, [4], runs=3)
    output = printed(str(study_file), "--workers", "4", "--runs", "3")
    assert f"To reach {found.target:.6g}, 1 % of the way from the best value to the median one" in output
    lines = re.findall(r"^(\d+(?:, in batches)?(?: \(as it ran\))?)  +(.*)$", output, re.MULTILINE)
    assert [title for title, _ in lines] == ["2 (as it ran)", "2, in batches", "4", "4, in batches"]
    for (_, cells), forecast in zip(lines, found.forecasts, strict=True):
        if math.isfinite(forecast.time.median):
            assert cells.startswith(f"{forecast.time.median:.2g} s")


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


def advice_of(forecasts: Sequence[Forecast], **given: Any) -> Advice:
    common: dict[str, Any] = {"name": "a $run", "target": 0.5, "chosen": True, "results": 40, "took": None}
    common |= {"given_up_after": 120, "aims": (0.5,), "had_aim": None, "predictions": None, "suggestion": 0.0}
    return Advice(**{**common, "evaluation": 1.0, "forecasts": tuple(forecasts), **given})


def said_of(monkeypatch: pytest.MonkeyPatch, found: Advice) -> str:
    monkeypatch.setattr("aegisbo.advice.advise", lambda *given, **more: found)
    return " ".join(printed("run.db").split())


def test_the_table_fits_into_eighty_columns_whatever_the_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    times = ((16, False, 12.0), (16, True, 99.0), (8, True, 4e5))
    teams = [Forecast(size, batches, (s, 1.33 * s, 1.77 * s), (111.0,) * 3) for size, batches, s in times]
    monkeypatch.setattr("aegisbo.advice.advise", lambda *given, **more: advice_of(teams, aims=(0.5,) * 3))
    header, _, *lines = printed("run.db").splitlines()[2:7]
    assert [line.split("  ")[0] for line in lines] == ["16 (as it ran)", "16, in batches", "8, in batches"]
    assert re.search("16 s +12 s to 21 s", lines[0])
    assert re.search("2.2 min +1.6 min to 2.9 min", lines[1])
    assert max(map(len, [header, *lines])) <= 80


def test_what_is_simulated_is_said(study_file: Path) -> None:
    found, output = advise(study_file, [], runs=3), printed(str(study_file), "--workers", "2", "--runs", "3")
    assert "each on a stand-in for the function: every other one is the model's mean, the rest are drawn" in output
    spread = f"({found.aim.low:.4g} to {found.aim.high:.4g})"
    assert f"the equivalent of the target: {found.aim.median:.4g} in the median {spread}." in output


def test_of_several_objectives_the_target_is_a_hypervolume(monkeypatch: pytest.MonkeyPatch) -> None:
    team, reference = Forecast(2, False, (100.0,), (10.0,)), {"gain": -3.0, "cost": 12.5}
    found = advice_of([team], reference=reference)
    assert said_of(monkeypatch, found).startswith(
        "To reach a hypervolume of 0.5 up to gain=-3, cost=12.5 (learned from 40 evaluations):"
    )
    chosen = said_of(monkeypatch, replace(found, chosen=False))
    assert "cost=12.5, 99 % of what the study reached (learned" in chosen
    doubted = said_of(monkeypatch, replace(found, predictions=replace(POOR, topic="model of cost")))
    assert doubted.startswith("Warning: the model of cost does not predict well, so do not trust what follows.")
    assert "a \\$run: how long it would take to reach a hypervolume of 0.5\n" in plot.advice(found).get_suptitle()


def test_doubts_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    team = Forecast(2, False, (100.0,), (10.0,))
    output = said_of(monkeypatch, advice_of([team], predictions=POOR))
    assert output.startswith("Warning: the model of this study does not predict well, so do not trust what follows.")
    assert f"{POOR.text} {POOR.remedy} To reach 0.5" in output
    for finding in (None, replace(POOR, level="note"), replace(POOR, level="good")):
        assert "Warning" not in said_of(monkeypatch, advice_of([team], predictions=finding))


def test_what_the_model_smooths_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    team = Forecast(2, False, (100.0,), (10.0,))
    output = said_of(monkeypatch, advice_of([team], took=(45.0, 31), aims=(0.7,), had_aim=2))
    assert "took 45 s and 31 evaluations. It reached 0.7 after 2 evaluations. The model smooths" in output
    assert "smooths" not in said_of(monkeypatch, advice_of([team], took=(45.0, 31), had_aim=31))


def test_suggestions_that_hold_teams_up_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    teams = [Forecast(size, batches, (9.0,), (9.0,)) for size in (2, 8, 16) for batches in (False, True)]
    output = said_of(monkeypatch, advice_of(teams, suggestion=0.5, evaluation=2.25))
    assert "Suggestions are the bottleneck with 8 and 16 workers: a point takes 0.5 s to choose and 2.2 s" in output
    assert "so at most 4 can be kept busy" in output
    assert "bottleneck" not in said_of(monkeypatch, advice_of(teams, suggestion=0.1, evaluation=2.25))


def test_the_picture_shows_medians_and_quartiles() -> None:
    forecasts = (
        Forecast(2, False, (100.0, 120.0, 200.0, 300.0), (10.0, 12.0, 20.0, 30.0)),
        Forecast(2, True, (150.0, 160.0, 170.0, math.inf), (15.0, 16.0, 17.0, math.inf)),
        Forecast(16, False, (math.inf,) * 4, (math.inf,) * 4),
    )
    figure = plot.advice(advice_of(forecasts, took=(240.0, 25)))
    time, effort, speedup = figure.axes
    assert time.get_ylabel() == "time (min)"
    assert [text.get_text() for text in time.get_xticklabels()] == ["2", "16"]
    for axis, medians, own in ((time, [2.0, 160.0 / 60.0], 4.0), (effort, [12.0, 16.0], 25.0)):
        drawn = [bars.lines[0].get_ydata() for bars in axis.containers[:2]]
        assert np.concatenate(drawn).tolist() == pytest.approx(medians)
        (star,) = [line for line in axis.lines if line.get_marker() == "*"]
        assert list(star.get_ydata()) == [own]
    low, high = time.containers[0].lines[2][0].get_segments()[0][:, 1]
    assert (low, high) == pytest.approx((100.0 / 60.0, 200.0 / 60.0))
    ratios = [bars.lines[0].get_ydata().tolist() for bars in speedup.containers[:2]]
    assert ratios == [pytest.approx([1.0, 0.0]), pytest.approx([100.0 / 150.0])]  # run by run; 16 workers gave up
    figure.draw_without_rendering()


def test_the_picture_says_what_was_simulated() -> None:
    team = Forecast(2, False, (100.0, 120.0), (10.0, 12.0))
    title = plot.advice(advice_of([team], aims=(0.4, 0.6))).get_suptitle()
    assert "a \\$run: how long it would take to reach 0.5" in title
    assert "2 simulated runs of each team on stand-ins for the function, each with its own target" in title
    assert "(0.4 to 0.6)" in title
    assert "do not hold" not in title
    doubtful = plot.advice(advice_of([team], aims=(0.4, 0.6), predictions=POOR))
    assert "This model does not predict well" in doubtful.get_suptitle()


def test_teams_that_wait_for_suggestions_have_hollow_marks() -> None:
    forecasts = [Forecast(size, False, (100.0, 120.0), (10.0, 12.0)) for size in (2, 4, 8)]
    time = plot.advice(advice_of(forecasts, suggestion=0.5, evaluation=2.0)).axes[0]
    (hollow,) = [line for line in time.lines if line.get_color() == "white" and len(line.get_xdata())]
    assert hollow.get_xdata().round().tolist() == [2.0]  # the third of the three sizes
    assert "waits for suggestions" in [text.get_text() for text in time.figure.legends[0].get_texts()]
    swift = plot.advice(advice_of(forecasts))
    assert "waits for suggestions" not in [text.get_text() for text in swift.legends[0].get_texts()]


def test_a_study_that_stopped_early_says_what_that_means(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with Study.open(path, Settings.checked({"x": (0.0, 1.0)}, strategy="random", seed=1)) as study:
        for number in range(8):
            x = study.ask().params["x"]
            outcome = Outcome("done", x, seconds=3.0) if number % 4 else Outcome("stopped", reason="Bad.", seconds=1.0)
            study.take_in(study.ended(number, outcome))
    said = call("advise", str(path), "--workers", "1", "--runs", "1")
    assert "learned from 6 evaluations, and 2 that were stopped early" in said
    assert "Simulated evaluations report nothing: they are stopped where those of the study were" in said
