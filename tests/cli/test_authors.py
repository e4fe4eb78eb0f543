"""Who proposed a point, on the command line and in a report; and how `aegisbo mcp` refuses what it cannot use."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest
from commands import call, refuse
from driven import ask

from aegisbo.events import Added, Caused
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.review.landscape import models_of
from aegisbo.review.payload import facts_of
from aegisbo.review.record import Record
from aegisbo.study import Study
from aegisbo.study.reading import read_events
from aegisbo.study.store import Store

SETTINGS = Settings.checked([(-5, 10), (2, 3)], strategy="random", seed=7)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    go_on(tmp_path / "run.db", 3)
    return tmp_path / "run.db"


def go_on(path: Path, count: int) -> None:
    with Study.open(path, SETTINGS) as study:
        for _ in range(count):
            study.take_in(study.ended(ask(study, 0.0).number, Outcome("done", 1.5), 0.1))
        study.closed("Enough.", [])


def test_a_name_given_is_kept_and_shown(path: Path) -> None:
    call("add", path, "x0=1", "x1=2.5", "--author", "ann")
    call("add", path, "x0=2", "x1=2.5")
    call("set", path, "budget=30", "--author", "ann")
    go_on(path, 2)
    call("retry", path, "3", "--author", "bob")
    call("forget", path, "0", "--author", "bob")
    told = [(event.kind, event.author) for event in read_events(path) if isinstance(event, Caused)]
    assert told == [("added", "ann"), ("added", None), ("set", "ann"), ("retried", "bob"), ("forgotten", "bob")]
    trial = call("show", path, "--trial", 3)
    assert "author    ann" in trial
    assert "retried by bob" in trial
    assert "author    user" in call("show", path, "--trial", 4)
    assert "author" not in call("show", path, "--trial", 1)
    table = call("show", path)
    assert "added by ann" in table
    assert "by user" not in table
    header, *rows = call("export", path).splitlines()
    column = header.split(",").index("author")
    assert [row.split(",")[column] for row in rows] == ["", "", "", "ann", "user"]


def test_a_study_without_authors_has_no_column_of_them(path: Path) -> None:
    assert "author" not in call("export", path).splitlines()[0]


def test_a_report_names_the_author_of_each_point_that_was_added(path: Path) -> None:
    call("add", path, "x0=1", "x1=2.5", "--author", "ann")
    go_on(path, 1)
    record = Record.of_study(path)
    assert facts_of(record, models_of(record.optimizer))["trials"]["author"] == [None, None, None, "ann"]


def test_the_name_of_a_stranger_is_shown_without_control_characters(path: Path) -> None:
    with closing(Store(path, print, beside=True)) as store, store.transaction():
        store.append(Added({"x0": 1.0, "x1": 2.5}, author="\x1b[31mred" + "d" * 99))
    go_on(path, 1)
    for words in (("show", path), ("show", path, "--trial", 3)):
        assert "\x1b" not in call(*words)
        assert "\N{REPLACEMENT CHARACTER}[31mred" in call(*words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--may", "run"], "Unknown right 'run'"),
        (["--may", "add,budget"], "The right 'budget' cannot be read: write a range, such as budget=10-100."),
        (["--share", "2"], "share is 2.0: give a part of the evaluations, from 0 to 1, such as 0.2."),
        (["--author", "\n"], "author is '\\n': give a name of 1 to 60 printable characters, or None."),
    ],
)
def test_a_seat_that_cannot_be_is_refused(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], sentence: str
) -> None:
    assert sentence in refuse(capsys, monkeypatch, "mcp", path, *words)


def test_without_the_extra_it_says_what_to_install(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "aegisbo.integrations.mcp_server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)
    told = refuse(capsys, monkeypatch, "mcp", path)
    assert told == "Error: aegisbo mcp needs an optional package: pip install 'aegisbo[mcp]'\n"
