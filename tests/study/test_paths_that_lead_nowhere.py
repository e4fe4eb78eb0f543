"""Names of studies that the system refuses: one sentence at every door."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import aegisbo
from aegisbo import load
from aegisbo.cli import app
from aegisbo.errors import StudyError
from aegisbo.runners.work import work
from aegisbo.study import add, change, forget, retry
from aegisbo.study.replay import replay

OPTIONS: dict[str, Any] = {"budget": 2, "strategy": "random", "executor": "serial", "progress": False}


def same(x: float) -> float:
    return x


def command(*words: str) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        found = CliRunner().invoke(app, [words[0], str(path), *words[1:]])
        if found.exception is not None:
            raise found.exception

    return run


DOORS: dict[str, Callable[[Path], object]] = {
    "load": load,
    "replay": replay,
    "retry": retry,
    "forget": lambda path: forget(path, [1]),
    "add": lambda path: add(path, {"x": 0.5}),
    "set": lambda path: change(path, budget=3),
    "show": command("show"),
    "report": command("report"),
    "export": command("export"),
    "serve": command("serve", "--port", "0"),
    "observed": lambda path: aegisbo.minimize(same, {"x": (0.0, 1.0)}, observed=path, **OPTIONS),
    "minimize": lambda path: aegisbo.minimize(same, {"x": (0.0, 1.0)}, study=path, **OPTIONS),
    "work": lambda path: work(same, path, progress=False),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_folder_that_may_not_be_entered(door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may enter any, so that the system is asked to say no."""
    locked, stat = tmp_path / "locked" / "run.db", os.stat

    def refusing(path: Any, *rest: Any, **options: Any) -> os.stat_result:
        if str(path).startswith(str(locked.parent)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, *rest, **options)

    monkeypatch.setattr(os, "stat", refusing)
    with pytest.raises(StudyError, match=r"locked/run.db: Permission denied: check its name, and the rights"):
        DOORS[door](locked)


@pytest.mark.parametrize("door", ["load", "minimize"])
def test_a_loop_of_links(door: str, tmp_path: Path) -> None:
    path = tmp_path / "loop.db"
    path.symlink_to(path)
    with pytest.raises(StudyError, match=r"no study file .*loop.db|loop.db: Too many levels of symbolic links"):
        DOORS[door](path)
    assert [file.name for file in tmp_path.iterdir()] == ["loop.db"]


@pytest.mark.parametrize("door", ["load", "minimize", "add", "serve"])
def test_a_name_that_is_too_long(door: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="File name too long: check its name"):
        DOORS[door](tmp_path / ("a" * 300 + ".db"))


def test_a_link_to_a_study_that_is_yet_to_be_made(tmp_path: Path) -> None:
    path, place = tmp_path / "link.db", tmp_path / "run.db"
    path.symlink_to(place)
    aegisbo.minimize(same, {"x": (0.0, 1.0)}, study=path, **OPTIONS)
    assert load(place).nfev == 2
    assert path.is_symlink()
