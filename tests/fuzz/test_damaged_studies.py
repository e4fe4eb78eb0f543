"""Study files with flipped bits, missing ends or nonsense in them: one sentence or a right result, and no change."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fuzz.examples import tries
from hypothesis import example, given
from hypothesis import strategies as st
from sealed import seal
from typer.testing import CliRunner

import aegisbo
from aegisbo import load
from aegisbo.cli import app
from aegisbo.errors import AegisError, StudyError
from aegisbo.review.board import Board
from aegisbo.study.replay import replay

SPACE = {"u": aegisbo.Real(-5, 10), "n": aegisbo.Int(1, 9), "kind": aegisbo.Choice(["a", "b"])}
COMMANDS = (["show"], ["show", "--trial", "1"], ["replay"], ["export", "--to", "json"], ["export"], ["forget", "2"])


def bumpy(u: float, n: int, kind: str) -> float:
    if n == 5:
        raise ValueError("no fives")
    return u**2 + n


def minimized(path: Path, budget: int) -> aegisbo.Result:
    options: dict[str, Any] = {"strategy": "random", "seed": 1, "executor": "serial", "raise_errors": False}
    return aegisbo.minimize(bumpy, SPACE, budget=budget, study=path, progress=False, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "run.db"
    minimized(path, 12)
    return path


def require_sane(path: Path) -> None:
    """Readers answer or refuse, and change nothing; so does a driver that refuses."""
    before = path.read_bytes()
    for command in COMMANDS[:-1]:
        found = CliRunner().invoke(app, [*command[:1], str(path), *command[1:]])
        assert found.exception is None or isinstance(found.exception, SystemExit | AegisError), found.exc_info
        assert path.read_bytes() == before
    try:
        minimized(path, 14)
    except AegisError:
        assert path.read_bytes() == before


@pytest.mark.long
@tries(12)
@given(st.lists(st.tuples(st.integers(0), st.integers(0, 7)), min_size=1, max_size=40))
@example([(0, 0)])
@example([(18, 0)])
@example([(19, 1), (60, 3)])
def test_flipped_bits(whole: Path, tmp_path: Path, flips: list[tuple[int, int]]) -> None:
    content = bytearray(whole.read_bytes())
    for place, bit in flips:
        content[place % len(content)] ^= 1 << bit
    path = tmp_path / "run.db"
    path.write_bytes(content)
    require_sane(path)
    path.unlink()


@pytest.mark.long
@tries(8)
@given(st.floats(0, 1))
def test_a_missing_end(whole: Path, tmp_path: Path, share: float) -> None:
    path = tmp_path / "run.db"
    path.write_bytes(whole.read_bytes()[: int(share * whole.stat().st_size)])
    require_sane(path)
    path.unlink()


NONSENSE = st.sampled_from([None, {}, [], "", "x", -1, 10**9, 1e999, True, [1], {"type": "real"}, "\x1b[2J", "a < b"])


@pytest.mark.long
@tries(15)
@given(st.integers(0), st.integers(0), NONSENSE, st.booleans())
@example(0, 0, {}, True)
@example(0, 1, None, True)  # who made it is missing
def test_nonsense_in_an_event(whole: Path, tmp_path: Path, which: int, key: int, nonsense: Any, drop: bool) -> None:
    """What another program, or somebody, may have written into a file that is sound as a database."""
    path = Path(shutil.copy(whole, tmp_path / "run.db"))
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute("SELECT id, body FROM events").fetchall()
        id, text = rows[which % len(rows)]
        body = json.loads(text)
        place = body
        while isinstance(place, dict) and place:
            name = list(place)[key % len(place)]
            if not isinstance(place[name], dict) or not place[name] or key % 3 == 0:
                break
            place, key = place[name], key // 3
        if isinstance(place, dict) and place:
            name = list(place)[key % len(place)]
            place.pop(name) if drop else place.update({name: nonsense})
        connection.execute("UPDATE events SET body = ? WHERE id = ?", (json.dumps(body), id))
    seal(path)
    require_sane(path)
    path.unlink()


@pytest.mark.long
@tries(12)
@given(
    st.integers(0), st.sampled_from(["kind", "number", "at", "body"]), st.sampled_from([-1, 10**12, "x", 1.5, b"\xff"])
)
def test_nonsense_in_a_column(whole: Path, tmp_path: Path, which: int, column: str, nonsense: Any) -> None:
    path = Path(shutil.copy(whole, tmp_path / "run.db"))
    with closing(sqlite3.connect(path)) as connection, connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM events").fetchall()]
        connection.execute(f"UPDATE events SET {column} = ? WHERE id = ?", (nonsense, ids[which % len(ids)]))
    require_sane(path)
    path.unlink()


def test_the_whole_one_is_sane(whole: Path, tmp_path: Path) -> None:
    """Else nothing above would mean anything."""
    path = Path(shutil.copy(whole, tmp_path / "run.db"))
    require_sane(path)
    assert load(path).nfev == 14


def without_sense(path: Path, kind: str, name: str, value: Any) -> Path:
    """Change something in the first event of a kind."""
    with closing(sqlite3.connect(path)) as connection, connection:
        id, text = connection.execute("SELECT id, body FROM events WHERE kind = ?", (kind,)).fetchone()
        body = json.loads(text)
        (body["optimizer"] if kind == "created" else body)[name] = value
        connection.execute("UPDATE events SET body = ? WHERE id = ?", (json.dumps(body), id))
    seal(path)
    return path


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("told", "worker", 10**9),
        ("told", "worker", -5),
        ("asked", "seen", 10**9),
        ("asked", "seen", "2"),
        ("created", "n_initial", 10**9),
        ("created", "strategy", "random:n=1000000000"),
    ],
)
def test_numbers_that_would_fill_all_memory_are_refused(
    whole: Path, tmp_path: Path, kind: str, name: str, value: Any
) -> None:
    path = without_sense(Path(shutil.copy(whole, tmp_path / "run.db")), kind, name, value)
    with pytest.raises(AegisError, match=r"damaged|too large"):
        replay(path)


@pytest.mark.parametrize(
    ("preset", "memory"),
    [
        ("modern", {"phi": "x"}),
        ("modern", {"learned_at": 6}),
        ("modern", {"phi": [1.0], "learned_at": 6, "s": 1}),
        ("adaptive", {"learned_at": 6}),
        ("adaptive", {"learned_at": 6, "used": "half", "models": {"half": {"phi": "x"}}}),
        ("adaptive", {"learned_at": 6, "used": "a third", "models": {"half": {}}}),
        ("adaptive", {"used": "a third"}),
    ],
)
def test_a_memory_without_sense_is_named(tmp_path: Path, preset: str, memory: dict[str, Any]) -> None:
    path, options = tmp_path / "run.db", {"seed": 1, "executor": "serial", "progress": False, "preset": preset}
    space = {"u": SPACE["u"], "n": SPACE["n"]}
    aegisbo.minimize(lambda u, n: u**2 + n, space, budget=6, study=path, **options)
    with closing(sqlite3.connect(path)) as connection, connection:
        select = "SELECT id, body FROM events WHERE kind = 'asked' ORDER BY id DESC"
        id, text = connection.execute(select).fetchone()
        body = {**json.loads(text), "memory": memory}
        connection.execute("UPDATE events SET body = ? WHERE id = ?", (json.dumps(body), id))
    seal(path)
    with pytest.raises(StudyError, match=r"stored memory.*restore the study from a copy"):
        aegisbo.minimize(lambda u, n: u**2 + n, space, budget=8, study=path, anyway=True, **options)
    assert load(path).nfev == 6


@pytest.mark.parametrize("command", [["set", "budget=20"], ["show"], ["add", "u=0.5", "n=2", "kind=a"]])
@pytest.mark.parametrize(
    ("kind", "name", "value"), [("opened", "pid", None), ("opened", "call", {"budget": "x"}), ("asked", "params", 3)]
)
def test_no_command_trips_over_unsound_events(
    whole: Path, tmp_path: Path, command: list[str], kind: str, name: str, value: Any
) -> None:
    path = without_sense(Path(shutil.copy(whole, tmp_path / "run.db")), kind, name, value)
    before = path.read_bytes()
    found = CliRunner().invoke(app, [command[0], str(path), *command[1:]])
    assert isinstance(found.exception, StudyError), found.exc_info
    assert "The study is damaged" in str(found.exception)
    assert path.read_bytes() == before


def test_a_kind_of_event_that_nobody_writes_is_refused(whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole, tmp_path / "run.db"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE events SET kind = 'tolD' WHERE kind = 'told'")
    seal(path)
    with pytest.raises(StudyError, match="there is no such kind"):
        load(path)


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 300 + "1" + "}" * 300, "9" * 5000, "{"])
def test_json_that_cannot_be_followed_is_named(whole: Path, tmp_path: Path, text: str) -> None:
    path = Path(shutil.copy(whole, tmp_path / "run.db"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE events SET body = ? WHERE id = 3", (text,))
    seal(path)
    with pytest.raises(StudyError, match=r"run.db is damaged \(event 3"):
        load(path)


def test_a_memory_without_sense_is_named_in_a_report_and_on_the_live_page(tmp_path: Path) -> None:
    path, options = tmp_path / "run.db", {"seed": 1, "executor": "serial", "progress": False, "n_initial": 4}
    aegisbo.minimize(lambda u, n: u**2 + n, {"u": SPACE["u"], "n": SPACE["n"]}, budget=7, study=path, **options)
    with closing(sqlite3.connect(path)) as connection, connection:
        for id, text in connection.execute("SELECT id, body FROM events WHERE kind = 'asked'").fetchall():
            body = {**json.loads(text), "memory": {"phi": "x", "learned_at": 6}}
            connection.execute("UPDATE events SET body = ? WHERE id = ?", (json.dumps(body), id))
    seal(path)
    found = CliRunner().invoke(app, ["report", str(path)])
    assert isinstance(found.exception, StudyError), found.exc_info
    assert "stored memory" in str(found.exception)
    board = Board([path])
    board._read()
    with pytest.raises(StudyError, match="stored memory"):
        board.front(0, 6)


def test_a_flipped_bit_in_the_schema_is_one_sentence(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    for place in range(12):
        content = bytearray(whole.read_bytes())
        content[content.index(b"CREATE TABLE events") + place] ^= 0x80  # no UTF-8 any more
        path.write_bytes(content)
        with pytest.raises(StudyError, match="damaged"):
            load(path)
