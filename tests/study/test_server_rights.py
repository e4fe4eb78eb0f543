"""Who may do what on a server, and where passwords come from and do not go: the statements are those of the docs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import call
from postgresql import Server, server
from printed_page import blocks_of

import aegisbo
from aegisbo.address import place_of
from aegisbo.errors import StudyError
from aegisbo.review.board import Board
from aegisbo.study import add
from aegisbo.study.reading import read_rows

pytestmark = pytest.mark.long

SECRET = "gehe1m"
BOX = {"u": (-5.0, 10.0), "v": (2.0, 3.0)}


def fun(u: float, v: float) -> float:
    return (u - 2.0) ** 2 + 3.0 * v


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A server with the roles of the docs, and one that must give a password."""
    beginning, reading, writing, _ = (block for kind, block in blocks_of("server.md") if kind == "sql")
    with server() as one:
        one.execute(beginning)
        run(one.as_role("alice", "studies") + "&study=first")
        one.execute(reading + writing, "studies")
        one.guard("secretive", SECRET)
        one.execute("GRANT carol TO secretive")
        yield one


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))


def run(study: str, budget: int = 4) -> aegisbo.Result:
    return aegisbo.minimize(fun, BOX, budget=budget, executor="serial", seed=1, study=study)


def test_a_writer_makes_and_runs_studies_and_a_reader_only_looks(guarded: Server, tmp_path: Path) -> None:
    name = "&study=roles"
    assert run(guarded.as_role("alice", "studies") + name).nfev == 4
    assert run(guarded.as_role("carol", "studies") + name + "-of-carol").nfev == 4
    reading = guarded.as_role("bob", "studies") + name
    assert aegisbo.load(reading).nfev == 4
    assert call("show", reading).startswith("The budget is spent.")
    assert "roles-of-carol" in call("studies", guarded.as_role("bob", "studies"))
    assert call("replay", reading).startswith("All 4 decisions")
    assert call("report", reading, "-o", tmp_path / "report.html").startswith(str(tmp_path))
    board = Board([place_of(reading)])
    board.start()
    board.stop()
    assert reading in str(board.facts()[1]["studies"])
    for write in (lambda: run(reading, 5), lambda: add(reading, [1.0, 2.5]), lambda: run(f"{reading}-new")):
        with pytest.raises(StudyError, match=r"the role may not do this: docs/server.md has the statements"):
            write()
    assert aegisbo.load(reading).nfev == 4


def test_a_password_comes_from_where_libpq_looks(
    guarded: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = guarded.as_role("secretive", "studies") + "&study=passwords"
    with pytest.raises(StudyError, match="it wants a password: put it into PGPASSFILE or PGPASSWORD"):
        run(study)
    file = tmp_path / "pass"
    file.write_text(f"*:*:*:secretive:{SECRET}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert run(study).nfev == 4
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    monkeypatch.setenv("PGPASSWORD", SECRET)
    assert run(study, 5).nfev == 5
    monkeypatch.setenv("PGPASSWORD", f"not {SECRET}")
    with pytest.raises(StudyError, match="it refuses the password") as caught:
        aegisbo.load(study)
    assert SECRET not in str(caught.value)


def test_a_password_in_the_address_is_used_and_told_to_nobody(
    guarded: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str], logged: list[tuple[str, str]]
) -> None:
    study = guarded.as_role(f"secretive:{SECRET}", "studies") + "&study=hidden"
    result = run(study)
    assert SECRET not in repr(result) + str(result.study)
    assert not any(SECRET in str(row) for row in read_rows(place_of(study)))
    assert not any(SECRET in str(row) for row in guarded.execute("SELECT query FROM pg_stat_activity"))
    call("report", study, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "study=hidden" in page
    outputs = [
        call(*words) for words in (("show", study), ("export", study, "--to", "json"), ("set", study, "budget=9"))
    ]
    run(study, 6)
    printed = "".join(capfd.readouterr())
    assert SECRET not in page + "".join(outputs) + printed + str(logged)
    for wrong in ("password=x", "nonsense=1", f"password={SECRET}&sslmode=what"):
        with pytest.raises(StudyError) as caught:
            aegisbo.load(f"{guarded.as_role(f'secretive:{SECRET}')}&{wrong}&study=hidden")
        assert SECRET not in str(caught.value)
    assert all(SECRET not in file.read_text() for file in tmp_path.rglob("*") if file.is_file())
