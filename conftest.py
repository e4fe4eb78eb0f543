"""Settings for the tests of both projects: whatever terminal, language and time zone they run in, they see the same."""

from __future__ import annotations

import gc
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# At import, before anything reads it, and in the environment, so that processes which tests start have it, too.
os.environ |= {"COLUMNS": "80", "LINES": "24", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "TTY_COMPATIBLE", "GITHUB_ACTIONS"):
    os.environ.pop(name, None)
time.tzset()

# Same examples on every run and every machine, and no clock: a red test is red again when you look at it.
settings.register_profile("aegisbo", derandomize=True, deadline=None)
settings.load_profile("aegisbo")


def pytest_collection() -> None:
    """Look for no garbage while tests are collected: there is hardly any, and a fifth of the time went into it."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From now on look for it among what tests make, not among thousands of tests that stay."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A PostgreSQL server, one for all tests that use it."""
    import postgresql

    with postgresql.server() as server:
        yield server


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.long)])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a new study may be: a file, and in the long tests also a server."""
    if request.param == "file":
        return str(tmp_path / "run.db")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return str(request.getfixturevalue("postgres").study(f"{request.node.name}-{tmp_path.name}"[-150:]))


@pytest.fixture
def logged() -> Iterator[list[tuple[str, str]]]:
    """What goes to the log `aegisbo` during a test: the level and the text of each line, from INFO on."""
    lines: list[tuple[str, str]] = []
    logger, handler = logging.getLogger("aegisbo"), logging.Handler(logging.INFO)
    handler.emit = lambda record: lines.append((record.levelname, record.getMessage()))  # type: ignore[method-assign]
    level, _ = logger.level, logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(level)
