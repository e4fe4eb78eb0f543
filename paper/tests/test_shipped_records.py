"""The runs that the repository ships: all there, small, made by this code, and what the pages say of them."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from aegis_paper.campaign import unfinished
from aegis_paper.claim_rules import Evidence
from aegis_paper.claims import CLAIMS, judge
from aegis_paper.cli import app
from aegis_paper.cli.claims import as_markdown
from aegis_paper.comparison import agreement, compare
from aegis_paper.plans import load_plan
from aegis_paper.published import paper_name, published, published_counts
from aegis_paper.records import Records
from aegis_paper.runs import Cell
from aegis_paper.scores import Results
from aegis_paper.statistics import marks, verdict
from typer.testing import CliRunner

from aegisbo.simulation.problems import names
from aegisbo.simulation.runs import simulate

PAPER = Path(__file__).parents[2] / "paper"
RECORDS = Records(PAPER / "records.sqlite")


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(RECORDS)


@pytest.mark.long
def test_the_campaign_is_complete_and_small() -> None:
    assert unfinished(load_plan("campaign"), RECORDS) == []
    assert len(RECORDS.headers()) == 11_883
    assert RECORDS.file.stat().st_size < 220 * 11_883  # bytes


def test_what_was_run_gives_the_published_medians(results: Results) -> None:
    pairs = compare(results, "synthetic", 8, ["reference"])
    for strategy, least, of in (("aegis", 12, 15), ("kriging-believer", 5, 5), ("thompson", 5, 5)):
        agreed, judged = agreement([pair for pair in pairs if pair.published.strategy == strategy], "reference")
        assert len(judged) == of
        assert agreed >= least


@pytest.mark.long
def test_every_disagreement_has_a_reason_that_was_tried(results: Results) -> None:
    """Tried is what has runs with one deviation alone, and with as many workers."""
    for study, workers in dict.fromkeys((cell.study, cell.workers) for cell in published()):
        for pair in compare(results, study, workers, ["paper"]):
            cell, ours = pair.published, pair.ours["paper"]
            if ours.verdict == "agrees":
                continue
            assert ours.reason is not None, pair
            assert not ours.reason.startswith("probably"), pair
            deviation = "paths" if "sample paths" in ours.reason else "pending"
            runs = results.finals(Cell(cell.problem, cell.strategy, f"reference:{deviation}", workers))
            assert verdict([*runs.values()], cell.median) == "agrees", pair


@pytest.mark.long
@pytest.mark.parametrize("problem", ["Branin", "Rosenbrock10", "push4#3"])
def test_a_run_done_again_is_the_same(problem: str) -> None:
    """Of random search, which no other processor or library rounds differently; the float32 of Box2D may."""
    if problem.startswith("push"):
        pytest.importorskip("Box2D", reason="needs the extra: pip install 'aegis-paper[push]'", exc_type=ImportError)
    cell = Cell(problem, "random", "paper", 8)
    headers = RECORDS.headers()
    shipped = headers[(headers["problem"] == problem) & (headers["strategy"] == "random") & (headers["workers"] == 8)]
    run, makespan = shipped.iloc[0][["run", "makespan"]]
    again = simulate(cell.spec(run))
    where_they_were_made = (sys.platform, platform.machine()) == ("linux", "x86_64")
    tolerance = 5e-3 if problem.startswith("push") and not where_they_were_made else 0.0  # as in test_push.py
    np.testing.assert_allclose(again.scores, RECORDS.curves(cell)[run], rtol=0, atol=tolerance)
    assert again.makespan == makespan


@pytest.mark.long
def test_the_page_of_claims_is_what_the_command_prints(results: Results) -> None:
    judgements = [judge(claim, Evidence(results)) for claim in CLAIMS]
    assert as_markdown(judgements).strip() in (PAPER / "README.md").read_text()


@pytest.mark.long
def test_counts_with_aegis_as_published_follow_from_the_marks(results: Results) -> None:
    """The marks of all methods, with those runs of AEGiS, counted here."""
    outcome = CliRunner().invoke(app, ["counts", "--records", str(RECORDS.file)], catch_exceptions=False)
    table = [line.split() for line in outcome.stdout.splitlines() if line]
    published = published_counts("synthetic", 8)
    expected = {paper_name(each, "synthetic"): [count, 0, 0, 0] for each, count in published.items()}
    numbers = (line for line in table if line[-1].isdigit())
    rows = {name: [int(count) for count in counts] for name, *counts in numbers if name in expected}
    for problem in names():
        for place, preset in enumerate(("paper", "reference", "reference:paths"), 1):  # of AEGiS
            presets = dict.fromkeys(published, "paper") | {"aegis": preset}
            scores = {each: results.finals(Cell(problem, each, presets[each], 8)) for each in published}
            for strategy, mark in marks(pd.DataFrame(scores)).items():
                expected[paper_name(strategy, "synthetic")][place] += bool(mark)
    assert rows == expected
