"""Many studies that went bad in many ways, at every door: no traceback, and nothing else is read than was written."""

from __future__ import annotations

import shutil
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz.examples import MANY
from fuzz.mutations import MUTATIONS, NOTICED
from typer.main import get_command

import aegisbo
from aegisbo import load
from aegisbo.cli import app
from aegisbo.errors import AegisError, StudyError
from aegisbo.review.board import Board
from aegisbo.study import retry
from aegisbo.study.reading import read_events

FEW = 40  # studies; AEGISBO_FUZZ=50 makes them 2,000
SPACE = {"u": aegisbo.Real(-5, 10), "n": aegisbo.Int(1, 9), "kind": aegisbo.Choice(["a", "b"])}
COMMAND = get_command(app)  # made once, which takes longer than most commands
OPTIONS: dict[str, Any] = {"seed": 1, "executor": "serial", "progress": False}


def bumpy(u: float, n: int, kind: str) -> float:
    if n == 5:
        raise ValueError("no fives")
    return u**2 + n


def continued(path: Path) -> None:
    """The run goes on, whichever of the strategies it has."""
    for settings in ({"strategy": "random", "budget": 14}, {"n_initial": 4, "budget": 9}):
        with suppress(StudyError):
            aegisbo.minimize(bumpy, SPACE, study=path, raise_errors=False, **settings, **OPTIONS)


def used(path: Path) -> None:
    aegisbo.minimize(bumpy, SPACE, budget=1, observed=path, strategy="random", raise_errors=False, **OPTIONS)


def served(path: Path) -> None:
    """What the live page asks for."""
    board = Board([path])
    board._read()
    board._learn()
    board.front(0, 5)


def command(*words: str) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        with redirect_stdout(StringIO()):
            COMMAND.main([word.replace("RUN", str(path)) for word in words], standalone_mode=False)

    run.__name__ = words[0]
    return run


READERS = (
    load,
    command("show", "RUN"),
    command("show", "RUN", "--failed"),
    command("show", "RUN", "--trial", "5"),
    command("export", "RUN"),
    command("export", "RUN", "--to", "json"),
    command("report", "RUN", "-o", "RUN.html"),
    command("replay", "RUN"),
    served,
    used,
)
WRITERS = (
    command("set", "RUN", "budget=20"),
    command("add", "RUN", "u=0.5", "n=2", "kind=a"),
    command("retry", "RUN"),
    command("forget", "RUN", "2"),
    continued,
)


def trouble_at(door: Callable[[Path], Any], path: Path) -> str | None:
    """The traceback if it is no sentence that a door gives."""
    try:
        door(path)
    except AegisError:
        pass
    except Exception:
        return f"{door.__name__}: {traceback.format_exc(limit=-4)}"
    return None


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Studies as they should be: of a strategy without a memory and of one with, and one that copies have shared."""
    folder = tmp_path_factory.mktemp("wholes")
    plain, learned = folder / "plain.db", folder / "learned.db"
    aegisbo.minimize(bumpy, SPACE, budget=12, study=plain, strategy="random", raise_errors=False, **OPTIONS)
    aegisbo.minimize(bumpy, SPACE, budget=7, study=learned, n_initial=4, raise_errors=False, **OPTIONS)
    shared = Path(shutil.copy(plain, folder / "shared.db"))
    retry(shared, [1])
    return [plain, learned, shared]


@pytest.mark.long
def test_no_mutated_study_is_a_traceback_or_another_study(wholes: list[Path], tmp_path: Path) -> None:
    contents = [read_events(path) for path in wholes]
    troubles: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for k in range(FEW * MANY):
        random = Random(k)
        which = k % len(wholes)
        path = Path(shutil.copy(wholes[which], tmp_path / "run.db"))
        mutation = MUTATIONS[k // len(wholes) % len(MUTATIONS)]
        mutation(path, random)
        before = path.read_bytes()
        found = [trouble_at(door, path) for door in READERS]
        assert path.read_bytes() == before
        try:
            load(path)
            accepted = True
        except Exception:
            accepted = False
        counts["accepted"] += accepted
        if accepted and mutation in NOTICED and read_events(path) != contents[which]:
            counts["accepted with other content"] += 1
            counts[f"other content after {mutation.__name__}"] += 1
        found += [trouble_at(door, path) for door in WRITERS]
        counts["tracebacks"] += any(found)
        troubles.update(f"{mutation.__name__}, {each}" for each in found if each)
        for file in tmp_path.glob("run.*"):
            file.unlink()
    print(f"{FEW * MANY} studies: {dict(counts)}")  # noqa: T201 - shown if it fails, or with -s
    assert not troubles, "\n".join(f"{count} times {what}" for what, count in troubles.most_common(20))
    assert not counts["accepted with other content"], counts
