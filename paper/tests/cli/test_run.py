"""`aegis-paper run`, `plans` and `cost`: what is done, what is said, and how bad input is refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import pytest
from aegis_paper.campaign import Performed, perform
from aegis_paper.cli import app, run
from aegis_paper.plans import load_plan, plan_names
from aegis_paper.problems import push
from aegis_paper.records import Records
from aegis_paper.runs import Spec
from made_up import record
from pool_here import Here
from rich.console import Console
from typer.testing import CliRunner

from aegisbo.cli.tables import short
from aegisbo.errors import InvalidInput, MissingExtra, StudyError, UnknownName
from aegisbo.runners.protocol import Finished

BOTH = ("Branin", "Hartmann3")
PLAN = """
[[block]]
problems = ["Branin", "Hartmann3"]
methods = ["random", "ei"]
workers = [2, 3]
runs = 2
budget = 8
"""


class Pressed(Here):
    """In place of processes; Ctrl-C is pressed while the runs with the number `deadly` are on their way."""

    deadly: int | None = None

    def collect(self, timeout: float | None = None) -> list[Finished]:
        if self.begun[-1].run == self.deadly:
            raise KeyboardInterrupt
        return super().collect(timeout)


def fragile(spec: Spec) -> Performed:
    if spec.strategy == "ei" and spec.preset == "reference":
        raise ZeroDivisionError("[/red] by zero")
    return perform(spec)


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    real = run.pool_for
    monkeypatch.setattr(run, "pool_for", lambda jobs, dask: real(jobs, dask) if dask else Pressed(fragile))


@pytest.fixture
def plan(tmp_path: Path) -> str:
    (tmp_path / "mine.toml").write_text(PLAN)
    return str(tmp_path / "mine.toml")


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "records.sqlite")


def call(*arguments: str, code: int = 0) -> str:
    outcome = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    assert outcome.exit_code == code, outcome.output
    return outcome.output


def specs(records: Records) -> Iterator[Spec]:
    return (cell.spec(number) for cell, numbers in records.runs().items() for number in sorted(numbers))


def test_a_plan_is_carried_out_once(plan: str, records: Records) -> None:
    out = f"--out={records.file}"
    first = call("run", plan, out)
    assert "Plan mine: 0 of 16 runs are in" in first
    assert "Did 16 runs." in first
    assert len(set(specs(records))) == 16
    again = call("run", plan, out)
    assert "Plan mine: 16 of 16 runs are in" in again
    assert "Did" not in again
    assert "16 of 24 runs" in call("run", plan, out, "--runs", "3")
    assert len(set(specs(records))) == 24


def test_options_narrow_the_plan(plan: str, records: Records) -> None:
    narrow = ["--problems", "Branin Hartmann3", "--methods", "random", "--workers", "3", "--runs", "1"]
    call("run", plan, *narrow, "--preset", "reference", "--out", str(records.file))
    assert [(spec.problem, spec.strategy, spec.workers, spec.preset, spec.run) for spec in specs(records)] == [
        ("Branin", "random", 3, "reference", 0),
        ("Hartmann3", "random", 3, "reference", 0),
    ]


def test_an_interruption_keeps_what_is_done_and_says_how_to_go_on(
    plan: str, records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = f"--out={records.file}"
    with monkeypatch.context() as pressed:
        pressed.setattr(Pressed, "deadly", 1)
        said = call("run", plan, out, code=130)
    assert f"Interrupted. Finished runs are in {records.file}: the same command goes on" in said
    assert {spec.run for spec in specs(records)} == {0}
    assert "8 of 16 runs are in" in call("run", plan, out)


def test_failed_runs_are_told_and_end_no_other(plan: str, records: Records) -> None:
    said = call("run", plan, "--preset=reference", "--runs=1", f"--out={records.file}", code=1)
    assert "Failed: ei on Hartmann3, q = 3, preset reference, run 0: ZeroDivisionError: [/red] by zero" in said
    assert "Did 4 runs.\n4 runs failed; the same command tries them again." in said


def test_a_log_gets_a_line_now_and_then(plan: str, records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 25))
    monkeypatch.setattr(run, "monotonic", lambda: next(clock))
    said = call("run", plan, f"--out={records.file}")
    counts = [int(match[1]) for match in re.finditer(r"^(\d+) of 16 runs, about .+ left$", said, re.MULTILINE)]
    assert 2 < len(counts) < 8
    assert counts == sorted(counts)


def test_a_terminal_gets_a_bar(records: Records, plan: str, tmp_path: Path) -> None:
    with (tmp_path / "screen").open("w") as screen:
        console = Console(file=screen, force_terminal=True, width=80)
        assert run.conduct(load_plan(plan), records.file, 1, None, console) == []
    shown = (tmp_path / "screen").read_text()
    assert "16 of 16 runs" in shown
    assert "━━━" in shown
    assert "s left" in shown


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (40.4, "40 s"),
        (59.9, "1 min"),
        (700, "12 min"),
        (3599, "1 h 0 min"),
        (12_000, "3 h 20 min"),
        (4e5, "4.6 days"),
        (float("inf"), "an unknown time"),
    ],
)
def test_time_in_words(seconds: float, words: str) -> None:
    assert run.time_in_words(seconds) == words


def test_a_second_writer_is_refused(plan: str, records: Records) -> None:
    with records.lock(), pytest.raises(StudyError, match="already being driven"):
        call("run", plan, f"--out={records.file}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["synthetik"], "Unknown plan 'synthetik': did you mean 'synthetic'"),
        (["synthetic", "--methods", "aegs"], "the methods of plan synthetic 'aegs': did you mean 'aegis'"),
        (["sequential", "--workers", "4"], "the workers of plan sequential '4': known: 1"),
        (["synthetic", "--preset", "papr"], "Unknown preset 'papr': did you mean 'paper'"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(arguments: list[str], message: str, records: Records) -> None:
    with pytest.raises(UnknownName, match=message):
        call("run", *arguments, f"--out={records.file}")
    assert not records.file.exists()


def test_dask_is_an_extra(plan: str, records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"pip install 'aegisbo\[dask\]'"):
        call("run", plan, "--dask", "tcp://127.0.0.1:9", f"--out={records.file}")


def test_pushes_are_refused_at_once_without_what_simulates_them(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "Box2D", None)
    push._box2d.cache_clear()
    one = ["--methods=random", "--workers=4", "--runs=1", f"--out={records.file}"]
    with pytest.raises(MissingExtra, match=r"pip install 'aegis-paper\[push\]'"):
        call("run", "push", "--problems=push4#1", *one)
    assert not records.file.exists()
    assert "Did 1 runs." in call("run", "synthetic", "--problems=Branin", *one)


def test_plans_are_listed_with_what_they_make() -> None:
    said = call("plans")
    assert [line.split()[0] for line in said.splitlines() if re.match(r"\w+ .*\d$", line)] == plan_names()
    assert "16,065" in said
    assert "average ranks on push4 and push8" in said
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.long
def test_the_cost_is_shown_by_method_and_dimension(tmp_path: Path, records: Records) -> None:
    out, empty = str(records.file), Records(tmp_path / "empty.sqlite")
    empty.add(record(budget=30), {}, 1.0)
    with pytest.raises(InvalidInput, match="No run of 200 evaluations has been measured"):
        call("cost", "--records", str(empty.file))
    (tmp_path / "long.toml").write_text(PLAN.replace("budget = 8", "budget = 200"))
    call("run", str(tmp_path / "long.toml"), "--methods", "random", "--out", out)
    said = call("cost", "--records", out)
    assert re.search(r"^method +d = 2 +d = 3$", said, re.MULTILINE)
    headers = records.headers()
    costs = [fmean(headers["core_seconds"][headers["problem"] == problem]) for problem in BOTH]
    assert re.search(rf"^random +{short(costs[0])} +{short(costs[1])}$", said, re.MULTILINE)
    assert "165,240 runs" in said
    assert "on a cluster of 256" in said
