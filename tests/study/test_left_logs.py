"""What a kill leaves beside a study that is then deleted, moved or replaced: it never enters another study."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aegisbo import load, minimize
from aegisbo.errors import StudyError
from aegisbo.study.reading import read_events

OPTIONS: dict[str, Any] = {"executor": "serial", "strategy": "random", "progress": False}


def bowl(x: Any) -> float:
    return float((x[0] - 1.0) ** 2)


def search(path: Path, budget: int, seed: int = 1) -> None:
    minimize(bowl, [(-5.0, 10.0)], budget=budget, seed=seed, study=path, **OPTIONS)


def killed(path: Path, budget: int, seed: int = 1, *, folded: bool = False) -> Path:
    """A study as `kill -9` leaves it: with its log, and what was folded into the file before."""
    alive = path.with_name("alive")
    alive.mkdir()

    def leave(trial: Any, result: Any) -> None:
        if trial.number == budget // 2 and folded:
            with closing(sqlite3.connect(alive / path.name)) as other:
                other.execute("PRAGMA wal_checkpoint(PASSIVE)")
        if trial.number == budget - 1:
            for file in (alive / path.name, alive / f"{path.name}-wal"):
                shutil.copy(file, path.parent)

    minimize(bowl, [(-5.0, 10.0)], budget=budget, seed=seed, study=alive / path.name, callbacks=[leave], **OPTIONS)
    shutil.rmtree(alive)
    assert path.with_name(path.name + "-wal").stat().st_size > 0
    return path


def snapshot(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}


def test_a_killed_study_goes_on_with_its_log(tmp_path: Path) -> None:
    for k, folded in enumerate((False, True)):
        path = killed(tmp_path / f"{k}.db", 6, folded=folded)
        assert load(path).nfev == 6
        search(path, 8)
        assert load(path).nfev == 8


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_no_study_begins_beside_the_log_of_one_that_was_deleted(tmp_path: Path, ending: str) -> None:
    path = killed(tmp_path / "run.db", 6)
    path.unlink()
    path.with_name("run.db-wal").rename(path.with_name(f"run.db{ending}"))
    before = snapshot(tmp_path)
    with pytest.raises(StudyError, match=f"run.db{ending} is the log of a study that was killed") as caught:
        search(path, 8, seed=2)
    assert "delete it, too" in str(caught.value)
    assert "move it along" in str(caught.value)
    assert snapshot(tmp_path) == before
    path.with_name(f"run.db{ending}").unlink()  # which is the remedy
    search(path, 8, seed=2)
    assert load(path).nfev == 8


def test_an_empty_log_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "run.db-wal").touch()
    search(tmp_path / "run.db", 3)
    assert load(tmp_path / "run.db").nfev == 3


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("attempt", [read_events, lambda path: search(path, 50, seed=2)])
def test_a_study_that_was_put_beside_the_log_of_another_is_not_mixed_with_it(
    tmp_path: Path, attempt: Callable[[Path], object], folded: bool
) -> None:
    """As after `kill -9`, `rm run.db` and `cp backup.db run.db`."""
    search(tmp_path / "backup.db", 40, seed=2)
    path = killed(tmp_path / "run.db", 60, folded=folded)
    shutil.copy(tmp_path / "backup.db", path)
    before = snapshot(tmp_path)
    with pytest.raises(StudyError, match=r"run.db-wal is the log of another study.*delete or move it"):
        attempt(path)
    assert snapshot(tmp_path) == before
    path.with_name("run.db-wal").unlink()
    assert load(path).nfev == 40
    search(path, 42, seed=2)
    assert load(path).nfev == 42
