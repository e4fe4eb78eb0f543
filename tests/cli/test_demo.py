"""`aegisbo demo`: both halves really run, one of them waits for its batches, and what is drawn is what happened."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import aegisbo
from aegisbo.cli import app, demo, demo_halves
from aegisbo.cli.demo import BUSY, WAITING, curves, timeline
from aegisbo.cli.demo_halves import Half, Stretch
from aegisbo.outcome import Outcome
from aegisbo.runners.protocol import Finished
from aegisbo.simulation.problems import get
from aegisbo.study.replay import replay


class OneAtATime:
    """Workers whose last job ends first, one each time that somebody waits."""

    called = give_up = stop = None  # which nobody asks for without time limits

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.running: list[int] = []

    def submit(self, number: int, x: object) -> int:
        self.calls.append(f"start {number}")
        self.running.append(number)
        return len(self.running) - 1

    def collect(self, timeout: float | None = None) -> list[Finished]:
        if timeout == 0.0 or not self.running:
            return []
        number = self.running.pop()
        self.calls.append(f"end {number}")
        return [Finished(number, Outcome("done", float(number)), 0.0, 0.0)]

    def close(self) -> None:
        pass

    def now(self) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        (False, "start 0, start 1, end 1, start 2, end 2, start 3, end 3, end 0"),
        (True, "start 0, start 1, end 1, end 0, start 2, start 3, end 3, end 2"),
    ],
)
def test_only_batches_wait_for_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches: bool, expected: str
) -> None:
    workers = OneAtATime()
    monkeypatch.setattr(demo_halves, "make_pool", lambda *arguments: workers)
    Half(tmp_path / "half.db", get("Branin"), [0.0] * 4, 2, batches=batches).run()
    assert ", ".join(workers.calls) == expected


@pytest.mark.parametrize("batches", [False, True])
def test_what_a_half_says_of_itself_is_what_happened(tmp_path: Path, batches: bool) -> None:
    half = Half(tmp_path / "half.db", get("Branin"), [0.03, 0.0, 0.01, 0.0, 0.02, 0.0], 2, batches=batches)
    half.warm_up()
    half.run()
    assert replay(half.path).faithful
    trials = aegisbo.load(half.path).trials
    assert [trial.value for trial in trials] == [get("Branin")(list(trial.x.values())) for trial in trials]
    assert half.learned[-1][1] == min(trial.value for trial in trials if trial.value is not None)
    assert half.best_after(half.learned[2][0]) == half.learned[2][1]
    assert len(half.learned) == len(half.stretches) == 6
    evaluating = sum(trial.seconds or 0.0 for trial in trials)
    assert half.idle == pytest.approx(1 - evaluating / (2 * half.seconds), abs=0.2)


def test_the_demo_shows_both_halves_and_ends_with_commands_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "EVALUATIONS", 6)
    monkeypatch.setattr(demo, "WORKERS", 2)
    monkeypatch.setattr(demo, "LONGEST", 0.02)
    monkeypatch.setattr(demo, "SHORTEST", 0.0)
    result = CliRunner().invoke(app, ["demo"], catch_exceptions=False)
    assert result.exit_code == 0
    output = result.output
    assert output.count("6 of 6 evaluations") == 2
    assert output.count("worker 2") == 2
    assert re.search(r"idle, of the workers' time +\d+\.\d% +\d+\.\d%\n", output)
    shown, replayed = re.findall(r"aegisbo (?:show|replay) (.*)\n", output)
    assert shown == replayed
    for file, column in ((Path(shown), 0), (Path(shown).with_name("batches.db"), 1)):
        best = re.findall(r"best value at the end \(.*\) +(\S+) +(\S+)\n", output)[0][column]
        assert f"{aegisbo.load(file).fun:.5f}" == best
    for line in output[output.index("What to type next") :].splitlines():
        if line.strip().startswith("aegisbo "):
            CliRunner().invoke(app, [line.split()[1], "--help"], catch_exceptions=False)


def test_a_timeline_shows_when_a_worker_was_busy() -> None:
    stretches = [Stretch(0, 10.0, 12.0), Stretch(1, 10.0, 99.0), Stretch(0, 13.0, 13.4), Stretch(0, 15.0)]
    assert timeline(stretches, 0, start=10.0, seconds=7.0, scale=1.0) == BUSY * 2 + WAITING * 3 + BUSY * 2
    assert timeline(stretches, 0, start=10.0, seconds=2.0, scale=2.0) == BUSY * 4
    assert timeline(stretches, 2, start=10.0, seconds=2.0, scale=1.0) == WAITING * 2


def test_curves_go_down_by_decades_until_their_last_step() -> None:
    drawn = curves({"*": [(1.0, 100.0), (2.0, 1.0)], "o": [(1.0, 100.0), (3.0, 10.0), (4.0, 1.0)]}, width=4, height=3)
    assert [line.partition("|")[2] for line in drawn[:3]] == ["*o", "  o", " * o"]
    assert [float(line.partition("|")[0]) for line in drawn[:3]] == [100.0, 10.0, 1.0]
    assert drawn[-1].endswith("4 s")
    assert curves({"*": [(1.0, 5.0)]}, width=2, height=2)[0].endswith("| *")
