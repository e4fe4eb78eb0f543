"""The page of `aegis-paper report`, from a few made-up runs: read by a parser of HTML."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from aegis_paper.claims import CLAIMS
from aegis_paper.cli import app
from aegis_paper.page import Cell as Field
from aegis_paper.page import Section, page, paragraph, table
from aegis_paper.records import Records
from aegis_paper.runs import Cell
from made_up import record
from typer.testing import CliRunner

LEVELS = {"aegis": 1e-3, "kriging-believer": 1e-5, "random": 1.0}  # final regrets on Branin
OTHERS = (  # preset, workers, strategy and final regret on Branin
    ("adaptive", 8, "aegis", 1e-9),
    ("paper", 16, "aegis", 1e-3),
    ("paper", 16, "ei", 4e-3),
    ("factors:paths=tempered,pending=ignored", 16, "aegis", 2e-4),
)
RUNS = 8


class Reader(HTMLParser):
    """Tables as lists of rows of (text, class), links, sections and the sources of images; and whether tags match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[tuple[str, str]]]] = []
        self.open: list[str] = []
        self.links, self.sections, self.images = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in ("meta", "img"):
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append(("", given.get("class") or ""))
        for name, found in (("href", self.links), ("src", self.images)):
            found += [given[name]] if name in given else []
        self.sections += [given["id"]] if tag == "section" else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            text, look = self.tables[-1][-1][-1]
            self.tables[-1][-1][-1] = text + data, look


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder = tmp_path_factory.mktemp("report")
    records = Records(folder / "records.sqlite")
    for strategy, level in LEVELS.items():
        for run in range(RUNS):
            scores = level * 1.05**run * np.linspace(30, 1, 200)
            cell = Cell("Branin", strategy, "paper", 8)
            records.add(record(scores, **asdict(cell), run=run), {})
    for preset, workers, strategy, level in OTHERS:
        for run in range(RUNS):
            scores = level * 1.05**run * np.linspace(30, 1, 200)
            records.add(record(scores, **asdict(Cell("Branin", strategy, preset, workers)), run=run), {})
    outcome = CliRunner().invoke(
        app, ["report", "--records", str(records.file), "-o", str(folder / "page.html")], catch_exceptions=False
    )
    assert outcome.exit_code == 0
    return Reader((folder / "page.html").read_text("utf-8"))


@pytest.mark.long
def test_every_claim_has_a_verdict(made: Reader) -> None:
    claims = made.tables[0][1:]
    assert [row[0][0] for row in claims] == [claim.text for claim in CLAIMS]
    assert all(row[1][0] for row in claims)


@pytest.mark.long
def test_medians_are_those_of_the_runs_and_the_best_is_marked(made: Reader) -> None:
    of_methods = [rows for rows in made.tables if [text for text, _ in rows[0]][:2] == ["problem", "Random"]]
    found = next(rows for rows in of_methods if "KB" in [text for text, _ in rows[0]])
    methods = [text for text, _ in found[0]]
    (branin,) = [row for row in found if row[0][0] == "Branin"]
    median = 1e-5 * np.median(1.05 ** np.arange(RUNS))
    text, look = branin[methods.index("KB")]
    assert (text.split()[0], look) == (f"{median:.2e}", "best")
    assert branin[methods.index("AEGiS")][1] == ""
    assert branin[methods.index("LP")][0] == "–"


@pytest.mark.long
def test_what_a_user_has_today_stands_beside_the_papers_methods(made: Reader) -> None:
    (found,) = [rows for rows in made.tables if rows[0][1][0] == "AEGiS (adaptive)"]
    methods = [text for text, _ in found[0]]
    (branin,) = [row for row in found if row[0][0] == "Branin"]
    looks = {method: look for method, (_, look) in zip(methods, branin, strict=True)}
    assert looks["AEGiS (adaptive)"] == "best"
    assert looks["KB"] == ""


@pytest.mark.long
def test_the_combinations_of_factors_stand_relative_to_the_papers(made: Reader) -> None:
    tables = {rows[0][0][0]: [[text for text, _ in row] for row in rows] for rows in made.tables}
    assert ["correct", "ignored", "1.00 ", "–"] in tables["paths"]
    assert ["tempered", "ignored", "0.20*", "–"] in tables["paths"]
    (improvement,) = tables["instead of the paper's"][1:]
    assert improvement == ["expected improvement instead of AEGiS", "8", "0", "8", "4.00", f"{2 / 2**8:.2g}"]


@pytest.mark.long
def test_published_medians_stand_beside_ours(made: Reader) -> None:
    found = [rows for rows in made.tables if rows[0][0][0] == "method and problem"]
    row, *_ = [row for rows in found for row in rows if row[0][0] == "AEGiS, Branin"]
    assert row[1][0] == "5.32e-06"
    assert "higher" in row[2][0]


@pytest.mark.long
def test_nothing_is_loaded_from_elsewhere_and_links_lead_somewhere(made: Reader) -> None:
    assert {link.removeprefix("#") for link in made.links} == set(made.sections)
    kinds = {source.partition(",")[0] for source in made.images}
    assert kinds == {"data:image/svg+xml;base64"}
    assert all(b"<svg" in b64decode(source.partition(",")[2]) for source in made.images)


def test_texts_cannot_become_html() -> None:
    hostile = "<script>alert(1)</script>"
    parts = [paragraph(hostile), table([hostile], [[hostile, Field(hostile, "best")]], hostile)]
    text = page(hostile, "", [Section("one", hostile, parts)])
    assert "<script" not in text
    Reader(text)


def test_a_file_without_runs_is_refused(tmp_path: Path) -> None:
    Records(tmp_path / "empty.sqlite").headers()
    outcome = CliRunner().invoke(app, ["report", "--records", str(tmp_path / "none.sqlite"), "-o", str(tmp_path / "p")])
    assert outcome.exit_code != 0
    assert "is no file" in str(outcome.exception)
