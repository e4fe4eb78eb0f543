from __future__ import annotations

from pathlib import Path

import pytest
from commands import call
from review.made_studies import make_study
from typer.testing import CliRunner

from aegisbo import minimize
from aegisbo.cli import app
from aegisbo.errors import InvalidInput, StudyError

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study(tmp_path_factory.mktemp("command") / "run.db", 8)


def test_the_report_is_written_beside_the_study_unless_told_otherwise(study: Path, tmp_path: Path) -> None:
    assert "open it in a browser" in call("report", study)
    call("report", study, "-o", tmp_path / "other.html")
    assert study.with_suffix(".html").read_text("utf-8").startswith("<!doctype html>")
    assert (tmp_path / "other.html").stat().st_size > 50_000


def test_a_report_replaces_a_report_and_no_other_page(study: Path, tmp_path: Path) -> None:
    page, report = tmp_path / "thesis.html", tmp_path / "report.html"
    page.write_text("<!doctype html><title>My thesis on aegisbo</title>")
    with pytest.raises(InvalidInput, match=r"thesis.html is not a report that aegisbo has written: delete it, or name"):
        call("report", study, "-o", page)
    assert "My thesis" in page.read_text()
    report.touch()
    for _ in range(2):
        call("report", study, "-o", report)
    assert report.stat().st_size > 50_000


def test_a_report_that_cannot_be_written_or_made(study: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nowhere/r\.html cannot be written"):
        call("report", study, "-o", tmp_path / "nowhere" / "r.html")
    with pytest.raises(StudyError, match="There is no study file"):
        call("report", tmp_path / "none.db")


def test_a_constraint_that_is_a_function_is_missed_by_no_other_part(tmp_path: Path) -> None:
    def loss(x: list[float]) -> float:
        return x[0] ** 2

    options = {"executor": "serial", "n_initial": 2, "seed": 0, "study": tmp_path / "run.db"}
    minimize(loss, [(-1, 1)], budget=4, constraints=[lambda x: x[0] > -0.5], **options)
    assert "open it in a browser" in call("report", tmp_path / "run.db")


def test_only_studies_that_exist_are_served(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="There is no study file"):
        call("serve", tmp_path / "none.db")


def test_a_run_can_be_shown_only_if_it_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="name its file with --study"):
        call("minimize", "--command", "echo {x}", "--space", tmp_path / "space.toml", "--serve")


def test_a_run_is_shown_while_it_lasts(tmp_path: Path) -> None:
    (tmp_path / "space.toml").write_text('[x]\ntype = "real"\nlow = 0.0\nhigh = 1.0\n')
    probe = f"import os; print(len(os.listdir({str(tmp_path)!r})) * {{x}})"
    arguments = (
        "minimize", "--command", f'python3 -c "{probe}"', "--space", tmp_path / "space.toml", "--budget", 2,
        "--workers", 1, "--study", tmp_path / "run.db", "--serve", "--quiet",
    )  # fmt: skip
    output = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False).output  # errors, too
    assert "http://127.0.0.1:" in output
    assert f"aegisbo serve {tmp_path / 'run.db'}" in output
