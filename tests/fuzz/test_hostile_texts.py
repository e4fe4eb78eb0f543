"""A stranger's study may hold any text: no terminal, page, spreadsheet or shell obeys it."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from sealed import seal
from typer.testing import CliRunner

import aegisbo
from aegisbo.cli import app
from aegisbo.cli.export import export
from aegisbo.study import Earlier
from aegisbo.study.reading import read_events

CODES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x08\r\u202e"
MARKUP = "[/bold][link=http://x]"
PAGE = "</script><script>window.hacked = true</script><img src=x onerror=alert(1)>"
FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "'", "plain"]
HOSTILE = f"{CODES}{MARKUP}{PAGE}"


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose every text is hostile, as only somebody with a mind to could make it."""
    path = tmp_path_factory.mktemp("stranger") / "run.db"
    name = f"p{HOSTILE}"
    space = {name: aegisbo.Real(0, 1), "kind": aegisbo.Choice([HOSTILE, "=2+5"])}

    def function(**params: Any) -> float:
        if params[name] > 0.5:
            raise ValueError(HOSTILE)
        print(HOSTILE)  # noqa: T201 - it is kept with the trial
        return params[name]

    options = {"strategy": "random", "seed": 1, "executor": "serial", "raise_errors": False, "progress": False}
    aegisbo.minimize(function, space, budget=12, study=path, **options)
    with closing(sqlite3.connect(path)) as connection, connection:
        for id, body in connection.execute("SELECT id, body FROM events").fetchall():
            changed = json.loads(body)
            hostile(changed)
            connection.execute("UPDATE events SET body = ? WHERE id = ?", (json.dumps(changed), id))
    seal(path)
    return path


def hostile(body: dict[str, Any]) -> None:
    for key in {"message", "reason", "traceback", "output", "host"} & set(body):
        body[key] = HOSTILE
    if "note" in body:
        body["note"] = {"move": HOSTILE, HOSTILE: HOSTILE}
    if "objective" in body:
        body["objective"]["name"] = HOSTILE
    if "call" in body:
        body["call"] = {**body["call"], "function": HOSTILE}


COMMANDS = [
    ["show", "RUN"],
    ["show", "RUN", "--failed"],
    ["show", "RUN", "--best", "3"],
    ["show", "RUN", "--trial", "0"],
    ["show", "RUN", "--trial", "3"],
    ["replay", "RUN"],
    ["report", "RUN", "-o", "OUT"],
    ["forget", "RUN", "999"],
    ["add", "RUN", "kind=no"],
    ["set", "RUN", "budget=x"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: "_".join(command))
def test_no_command_lets_the_terminal_obey_a_study(stranger: Path, tmp_path: Path, command: list[str]) -> None:
    words = [{"RUN": str(stranger), "OUT": str(tmp_path / "o.html")}.get(word, word) for word in command]
    found = CliRunner().invoke(app, words)
    shown = found.output + str(found.exception or "") * (not isinstance(found.exception, aegisbo.errors.AegisError))
    assert not [letter for letter in shown if not letter.isprintable() and letter not in "\n\t"]
    assert found.exception is None or isinstance(found.exception, SystemExit | aegisbo.errors.AegisError)


def test_what_a_loaded_study_says_of_itself_is_plain(stranger: Path) -> None:
    result = aegisbo.load(stranger)
    for text in (str(result), str(result.optimizer), str(result.trials), result.message, str(result.explain(0))):
        assert not [letter for letter in text if not letter.isprintable() and letter != "\n"]


def test_errors_of_the_command_line_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    from aegisbo.cli import run_app

    def fail() -> None:
        raise aegisbo.errors.InvalidInput(f"bad {HOSTILE}")

    with pytest.raises(SystemExit):
        run_app(fail)  # type: ignore[arg-type]
    assert not [letter for letter in capsys.readouterr().err if not letter.isprintable() and letter != "\n"]


def test_the_page_holds_no_markup_of_a_study(stranger: Path) -> None:
    from aegisbo.review.html import report
    from aegisbo.review.record import Record

    page = report(Record.of_study(stranger))
    assert "window.hacked" in page  # it is there, as data
    assert "<script>window" not in page
    assert "<img src=x" not in page
    assert len(re.findall(r"<script", page)) == 2  # the data and the script
    assert "<img" not in aegisbo.load(stranger)._repr_html_()


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A CSV file of a study whose choices look like formulas."""
    path, file = tmp_path / "run.db", tmp_path / "run.csv"
    space = {"u": aegisbo.Real(-5, 10), "kind": aegisbo.Choice(FORMULAS)}
    initial = [{"u": -k / 10, "kind": each} for k, each in enumerate(FORMULAS)]
    aegisbo.minimize(
        lambda u, kind: u,
        space,
        budget=len(initial),
        initial=initial,
        strategy="random",
        seed=1,
        study=path,
        executor="serial",
        progress=False,
    )
    assert CliRunner().invoke(app, ["export", str(path), "-o", str(file)]).exit_code == 0
    return file


def test_no_cell_is_a_formula_and_all_come_back(exported: Path) -> None:
    with exported.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        texts = [cell for name, cell in row.items() if not re.fullmatch(r"-?[\d.e+-]+", cell)]
        assert not [cell for cell in texts if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert [params["kind"] for params, _ in Earlier(exported).table().rows] == FORMULAS


def test_a_study_is_data_and_never_code(stranger: Path) -> None:
    """Every body is JSON text; nothing was pickled."""
    with closing(sqlite3.connect(stranger)) as connection:
        kinds = {row[0] for row in connection.execute("SELECT DISTINCT typeof(body) FROM events")}
    assert kinds == {"text"}
    assert all(isinstance(event.body, dict) for event in read_events(stranger))


def control_codes(text: str) -> list[str]:
    return [letter for letter in text if not letter.isprintable() and letter not in "\n\t"]


SERIAL: dict[str, Any] = {"budget": 1, "strategy": "random", "executor": "serial", "progress": False}


def test_what_is_said_of_earlier_results_is_plain(stranger: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Some fit, and the rest and another function are told in the log; if none fit, an error says why."""
    name = f"p{HOSTILE}"
    space = {name: aegisbo.Real(0, 1), "kind": aegisbo.Choice(["=2+5", "other"])}
    aegisbo.minimize(lambda **params: 1.0, space, observed=stranger, **SERIAL)
    told = [record.getMessage() for record in caplog.records]
    assert any("earlier results used" in line for line in told)
    assert any("was made for" in line for line in told)
    assert not control_codes("".join(told))
    with pytest.raises(aegisbo.errors.InvalidInput, match="none of 12 earlier results used") as caught:
        aegisbo.minimize(lambda kind: 1.0, {"kind": space["kind"]}, observed=stranger, **SERIAL)
    assert not control_codes(str(caught.value))


def test_columns_of_a_strangers_table_are_plain(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = tmp_path / "table.csv"
    table.write_text(f"x,value,{CODES[:-2]}\n0.5,1,2\n", encoding="utf-8", newline="")
    aegisbo.minimize(lambda x: x, {"x": (0.0, 1.0)}, observed=table, **SERIAL)
    assert "Columns that are no parameters" in caplog.text
    assert not control_codes(caplog.records[0].getMessage())
    with pytest.raises(aegisbo.errors.InvalidInput, match="has no column 'loss'") as caught:
        aegisbo.minimize(lambda x: x, {"x": (0.0, 1.0)}, observed=Earlier(table, value="loss"), **SERIAL)
    assert not control_codes(str(caught.value))


class Screen(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_table_is_plain_on_a_screen_and_exact_elsewhere(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: dict[type[StringIO], str] = {}
    for kind in (Screen, StringIO):
        monkeypatch.setattr("sys.stdout", kind())
        export(stranger)
        shown[kind] = sys.stdout.getvalue()  # type: ignore[attr-defined]
    monkeypatch.undo()
    export(stranger, output=tmp_path / "run.csv")
    assert not control_codes(shown[Screen])
    assert shown[StringIO] == (tmp_path / "run.csv").read_bytes().decode()
    assert CODES in shown[StringIO]
    assert len(shown[Screen]) == len(shown[StringIO])
