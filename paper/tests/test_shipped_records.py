"""The runs that the repository ships: all there, small, made by this code, and what the pages say of them."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from aegis_paper.analysis import marks
from aegis_paper.campaign import unfinished
from aegis_paper.claims import CLAIMS
from aegis_paper.cli.claims import as_markdown
from aegis_paper.judgement import Evidence, judge
from aegis_paper.plan import load_plan
from aegis_paper.published import paper_name, published_counts
from aegis_paper.records import Cell, Records
from aegis_paper.reproduction import agreement, reproduce
from aegis_paper.results import Results

from aegisbo.simulation.problems import names
from aegisbo.simulation.runs import simulate

PAPER = Path(__file__).parents[2] / "paper"
RECORDS = Records(PAPER / "records")


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(RECORDS)


def test_the_campaign_is_complete_and_within_its_25_megabytes() -> None:
    assert unfinished(load_plan("campaign"), RECORDS) == []
    assert sum(file.stat().st_size for file in RECORDS.folder.rglob("*.npz")) < 25e6


def test_what_was_run_gives_the_published_medians(results: Results) -> None:
    pairs = reproduce(results, "synthetic", 8, ["reference"])
    for strategy, least, of in (("aegis", 12, 15), ("kriging-believer", 5, 5), ("thompson", 5, 5)):
        agreed, judged = agreement([pair for pair in pairs if pair.published.strategy == strategy], "reference")
        assert len(judged) == of
        assert agreed >= least


def test_every_disagreement_has_a_reason(results: Results) -> None:
    for study, workers in (("synthetic", 8), ("ablation", 8), ("epsilon", 8), ("sequential", 1)):
        for pair in reproduce(results, study, workers, ["paper"]):
            ours = pair.ours["paper"]
            assert ours.verdict == "agrees" or ours.reason, pair


@pytest.mark.parametrize("problem", ["Branin", "Rosenbrock10", "push4#3"])
def test_a_run_done_again_is_the_same(problem: str) -> None:
    """Of random search, which no other processor or library rounds differently."""
    if problem.startswith("push"):
        pytest.importorskip("Box2D", reason="needs the extra: pip install 'aegis-paper[push]'", exc_type=ImportError)
    (shipped, *_) = RECORDS.load(Cell(problem, "random", "paper", 8))
    again = simulate(shipped.spec)
    assert [each.value for each in again.evaluations] == [each.value for each in shipped.evaluations]
    assert [each.number for each in again.evaluations] == [each.number for each in shipped.evaluations]
    assert again.makespan == shipped.makespan


def test_the_page_of_claims_is_what_the_command_prints(results: Results) -> None:
    judgements = [judge(claim, Evidence(results)) for claim in CLAIMS]
    assert as_markdown(judgements).strip() in (PAPER / "README.md").read_text()


def test_the_script_beside_the_records_counts_as_the_tables_do(
    results: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(PAPER / "aegis_as_published.py"), run_name="__main__")
    rows = {row[0]: row[1:] for row in (line.split() for line in capsys.readouterr().out.splitlines()[2:])}
    published = published_counts("synthetic", 8)
    expected = {paper_name(each, "synthetic"): [count, 0, 0, 0] for each, count in published.items()}
    for problem in names():
        for place, preset in enumerate(("paper", "reference", "reference:paths"), 1):  # of AEGiS
            presets = dict.fromkeys(published, "paper") | {"aegis": preset}
            scores = {each: results.finals(Cell(problem, each, presets[each], 8)) for each in published}
            for strategy, mark in marks(scores).items():
                expected[paper_name(strategy, "synthetic")][place] += bool(mark)
    assert {name: [int(count) for count in counts] for name, counts in rows.items()} == expected
