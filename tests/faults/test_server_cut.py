"""A study on a server that restarts and is cut off, with real processes; a diary of the evaluations is the witness."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from audit import Audit
from diary import Diary
from postgresql import Server, server
from proxy import Line, line_to

from aegisbo.address import place_of
from aegisbo.study.reading import read_events
from benchmarks.faults import kills

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]

PATIENCE = 300.0
BUDGET = 24
DRIVER = """
import sys
from pathlib import Path
import aegisbo
from diary import BOX, Diary
fun = Diary(Path(sys.argv[1]), 1.0)
options = {"workers": 3, "seed": 5, "progress": False, "strategy": "random"}  # long evaluations to the end
aegisbo.minimize(fun, BOX, budget=int(sys.argv[2]), study=sys.argv[3], **options)
"""


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, Line]]:
    """A server, and a line to it that ends in the folder of the test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with server() as one, line_to(one.socket, tmp_path) as line:
        yield one, line


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_driver_goes_on_after_restarts_and_a_killed_one_tells_what_it_had(
    line: tuple[Server, Line], tmp_path: Path, mode: str
) -> None:
    one, cable = line
    study, diary = place_of(one.study("cut")), Diary(tmp_path / "diary", 1.0)
    cut_off = f"postgresql://postgres@/postgres?host={tmp_path}&study=cut"
    audit = Audit(study, diary)
    words = [sys.executable, "-c", DRIVER, str(diary.path), str(BUDGET), cut_off]
    driver = subprocess.Popen(words)

    def told() -> int:
        return sum(event.kind == "told" for event in read_events(study))

    def begun() -> bool:
        return len(diary.entries()) > 4

    wait_for(begun)
    one.restart(mode)
    before = told()
    wait_for(lambda: told() > before + 2)
    wait_for(lambda: diary.counts("begins").total() - diary.counts("ends").total() > 1)
    cable.cut()
    waiting = tmp_path / "state" / "aegisbo"
    wait_for(lambda: [file for file in waiting.glob("*") if file.read_text().count("\n") > 0])
    held = sum(file.read_text().count("\n") for file in waiting.glob("*"))
    driver.kill()
    driver.wait()
    audit.look()
    audit.unfinished.subtract(numbers_in(waiting))  # their results are safe, so they need not begin again
    cable.mend()
    assert subprocess.run(words, timeout=PATIENCE, check=False).returncode == 0
    assert held > 0
    assert list(waiting.glob("*")) == []
    audit.close(BUDGET)


def numbers_in(folder: Path) -> list[int]:
    return [json.loads(line)[1] for file in folder.glob("*") for line in file.read_text().splitlines()]


def test_kills_restarts_and_cuts_at_random_moments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few; `python -m benchmarks.faults.kills --restarts 20` does more."""
    monkeypatch.setenv("XDG_STATE_HOME", "to be set again, and undone")
    with kills.outages_of(4, tmp_path) as outages:
        figures = kills.campaign(20, copies=3, seed=11, folder=tmp_path, outages=outages)
    assert figures.clean, figures
    assert (figures.kills, figures.restarts, figures.cuts) == (20, 4, 4)
