"""Reports from inside an evaluation: which are sent, how it is stopped, what its trial keeps, on kinds of workers."""

from __future__ import annotations

import math
import os
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

import aegisbo
from aegisbo import Command, Stopped, minimize
from aegisbo.errors import AegisError, InvalidInput
from aegisbo.events import Halted, Reported
from aegisbo.outcome import Report
from aegisbo.runners import evaluation, reports
from aegisbo.runners.evaluation import Call, evaluate
from aegisbo.runners.reports import Line, Reporter, called_on
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

BOX = {"x": (-1.0, 3.0)}
STEPS = 9


def train(x: float) -> None:
    for step in range(1, STEPS + 1):
        aegisbo.report((x - 0.3) ** 2 + 1.0 / step, step)


def slow_train(x: float) -> None:
    import time

    for step in range(1, STEPS + 1):
        aegisbo.report((x - 0.3) ** 2 + 1.0 / step, step)
        time.sleep(0.7)  # more than the pause between two reports that are sent


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(reports, "perf_counter", lambda: self.now)


def test_few_of_many_reports_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    sent: list[Report] = []
    reporter = Reporter(Line(sent.append), answered=False)
    for k in range(10_000):
        clock.now = 0.36 * (k + 1)  # an hour in all
        reporter.report(1.0 / (k + 1), None)
    reporter.end()
    assert [report.step for report in sent[:3]] == [1.0, 3.0, 5.0]
    gaps = [b.seconds - a.seconds for a, b in pairwise(sent)]
    assert all(gap >= max(0.5, 0.02 * b.seconds) for gap, b in zip(gaps, sent[1:], strict=True))
    assert all(gap < max(0.5, 0.02 * b.seconds) + 0.36 + 0.02 for gap, b in zip(gaps, sent[1:], strict=True))
    # At half a second until 25 s, then each 2 % after the one before.
    assert len(sent) < 25 / 0.5 + math.log(3600 / 25) / math.log(1.02)
    assert [report.step for report in reporter.unsent] == [10_000]  # the last one is never lost


def test_slow_steps_are_all_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    sent: list[Report] = []
    reporter = Reporter(Line(sent.append), answered=False)
    for k in range(40):
        clock.now += 60.0
        reporter.report(1.0, k)
    reporter.end()
    assert [report.step for report in sent] == list(range(40))
    assert reporter.unsent == []


def test_an_evaluation_waits_a_little_for_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits = Clock(monkeypatch), []
    line = Line(lambda report: None)
    monkeypatch.setattr(line, "say", lambda report, wait: waits.append(wait))
    for answered in (True, False):
        reporter = Reporter(line, answered=answered)
        for seconds in (10.0, 20.0, 1000.0):
            clock.now += seconds
            reporter.report(1.0, None)
    assert waits == [0.5, 1.0, 2.0, 0.0, 0.0, 0.0]


def test_the_answer_ends_the_evaluation_whatever_it_does_then() -> None:
    heard: list[str] = []

    def stubborn(x: dict[str, float]) -> float:
        try:
            aegisbo.report(1.0)
        except Exception:  # which holds no Stopped
            return 0.0
        except Stopped as stopped:
            heard.append(str(stopped))
            return 1.0
        return 2.0

    line = Line(lambda report: line.hear("too far behind"))
    outcome = called_on(line, evaluate, Call(stubborn, named=False), {"x": 1.0})
    assert (outcome.state, outcome.reason, outcome.traceback) == ("stopped", "too far behind", "")
    assert math.isnan(outcome.value)
    assert heard == ["too far behind"]


def test_the_seconds_of_reports_and_outcome_are_of_one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluation that goes on later adds to what the outcome said: no report may be beyond that."""
    ticks = count()
    for module in (reports, evaluation):
        monkeypatch.setattr(module, "perf_counter", lambda: float(next(ticks)))
    outcome = evaluate(lambda x: aegisbo.report(x, 1), 2.0)
    (report,) = outcome.reports
    assert 0.0 < report.seconds < outcome.seconds


def test_a_function_may_stop_itself() -> None:
    def diverging(x: dict[str, float]) -> float:
        raise Stopped("it diverges")

    outcome = evaluate(diverging, {"x": 1.0})
    assert (outcome.state, outcome.reason) == ("stopped", "it diverges")


def test_the_last_value_counts_if_nothing_is_returned() -> None:
    def reporting(x: dict[str, float]) -> Any:
        aegisbo.report(3.0)
        aegisbo.report(x["x"])
        return x.get("y")

    call = Call(reporting, named=False)
    assert evaluate(call, {"x": 2.0}).value == 2.0
    assert evaluate(call, {"x": 2.0, "y": 5.0}).value == 5.0
    assert evaluate(call, {"x": math.inf}).state == "invalid"
    assert [report.value for report in evaluate(call, {"x": 2.0}).reports] == [3.0, 2.0]
    silent = evaluate(Call(lambda x: None, named=False), {"x": 2.0})
    assert silent.state == "invalid"


def test_by_hand_a_report_does_nothing_but_look_at_what_it_gets() -> None:
    aegisbo.report(1.0, 3)
    with pytest.raises(InvalidInput, match="'low'"):
        aegisbo.report("low")  # type: ignore[arg-type]


def test_a_thread_of_the_function_reports_for_it() -> None:
    def threaded(x: dict[str, float]) -> None:
        thread = threading.Thread(target=aegisbo.report, args=(7.0,))
        thread.start()
        thread.join()

    assert evaluate(Call(threaded, named=False), {"x": 2.0}).value == 7.0


def test_a_child_process_cannot_report() -> None:
    def forking(x: dict[str, float]) -> float:
        child = os.fork()
        if child == 0:
            try:
                aegisbo.report(1.0)
                os._exit(0)
            except AegisError:
                os._exit(3)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert evaluate(forking, {"x": 1.0}).value == 3.0


@pytest.mark.long
@pytest.mark.parametrize("executor", ["serial", "threads", "processes", "thread pool"])
def test_those_that_fall_behind_are_stopped(tmp_path: Path, executor: str) -> None:
    study = tmp_path / "run.db"
    pool = ThreadPoolExecutor(2) if executor == "thread pool" else executor
    result = minimize(
        slow_train if executor != "serial" else train, BOX, budget=8, workers=1 if executor == "serial" else 2, seed=2,
        strategy="random", executor=pool, stop_early="ranks", steps=STEPS, study=study, give_up_after=1,
    )  # fmt: skip
    stopped = [trial for trial in result.trials if trial.state == "stopped"]
    assert len(stopped) >= 2
    assert {trial.state for trial in result.trials} == {"done", "stopped"}
    assert result.success
    events = read_events(study)
    assert {event.number for event in events if isinstance(event, Halted)} >= {trial.number for trial in stopped}
    assert all(event.number in {trial.number for trial in result.trials} for event in events if event.kind == "stopped")
    for trial in result.trials:
        assert trial.reports[0].step == 1
        if trial.state == "done":
            assert (trial.reports[-1].step, trial.reports[-1].value) == (STEPS, trial.value)
        else:
            assert trial.reports[-1].step < STEPS  # when it hears of it depends on how busy the machine is
    found = replay(study)
    assert found.faithful
    assert found.decisions == 8 + len([event for event in events if isinstance(event, Halted)])


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_reports_change_no_choice_and_no_value(tmp_path: Path, executor: str) -> None:
    def silent(x: float) -> float:
        return (x - 0.3) ** 2 + 1.0 / STEPS

    runs = {
        function: minimize(
            function, BOX, budget=9, workers=1, seed=2, n_initial=3, executor=executor, study=tmp_path / f"{name}.db"
        )
        for name, function in {"silent": silent, "talking": train}.items()
    }
    assert [trial.params for trial in runs[train].trials] == [trial.params for trial in runs[silent].trials]
    assert [trial.value for trial in runs[train].trials] == [trial.value for trial in runs[silent].trials]
    kinds = {name: [event.kind for event in read_events(tmp_path / f"{name}.db")] for name in ("silent", "talking")}
    assert [kind for kind in kinds["talking"] if kind != "reported"] == kinds["silent"]
    assert kinds["talking"].count("reported") == 18  # the first and the last of each: there was no time for more


def test_where_no_report_can_be_heard_it_comes_at_the_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with ProcessPoolExecutor(1) as pool:
        result = minimize(
            train, BOX, budget=4, workers=1, seed=2, strategy="random", executor=pool, stop_early="ranks",
            study=tmp_path / "run.db",
        )  # fmt: skip
    assert "cannot be stopped early" in caplog.text
    assert [trial.state for trial in result.trials] == ["done"] * 4
    assert [len(trial.reports) for trial in result.trials] == [2] * 4
    kinds = [event.kind for event in read_events(tmp_path / "run.db")]
    assert kinds[2:6] == ["asked", "reported", "reported", "told"]
    assert replay(tmp_path / "run.db").faithful


def test_a_thread_that_is_too_slow_is_freed_at_its_next_report() -> None:
    raised = threading.Event()

    def hanging(x: float) -> float:
        while True:
            try:
                aegisbo.report(x)
            except Stopped:
                raised.set()
                raise

    result = minimize(hanging, BOX, budget=1, workers=1, seed=2, executor="threads", trial_timeout=0.1)
    assert result.trials[0].state == "timed_out"
    assert raised.wait(30)


PROGRAM = """
import signal, sys, time
x = float(sys.argv[1])
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for step in range(1, 6):
    print("epoch", step)
    print(f"step={step} value={(x - 0.3) ** 2 + 1 / step}", flush=True)
    time.sleep(float(sys.argv[3]))
"""


@pytest.mark.long
@pytest.mark.parametrize("ears", ["good", "deaf"])
def test_a_program_reports_by_lines_and_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ears: str) -> None:
    monkeypatch.setattr("aegisbo.runners.printed_reports.GRACE", 0.5)
    (tmp_path / "train.py").write_text(PROGRAM)
    result = minimize(
        Command(f"python3 {tmp_path}/train.py {{x}} {ears} 0.9"), BOX, budget=6, workers=2, seed=2, strategy="random",
        stop_early="ranks", steps=5, executor="threads", progress=False,
    )  # fmt: skip
    done = [trial for trial in result.trials if trial.state == "done"]
    assert 1 <= len(done) < 6
    assert {trial.state for trial in result.trials} == {"done", "stopped"}
    assert all(trial.value == pytest.approx((trial.params["x"] - 0.3) ** 2 + 0.2) for trial in done)
    assert all(len(trial.reports) >= 3 for trial in done)
    stopped = [trial for trial in result.trials if trial.state == "stopped"]
    assert all("epoch 5" not in trial.output for trial in stopped)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("step=3 value=0.71", (3.0, 0.71)),
        (" step = 3, value = -1e-3 ", (3.0, -0.001)),
        ("step=3; value=inf", (3.0, math.inf)),
        ("step=inf value=1", None),
        ("step=3 value=n/a", None),
        ("0.5", None),
        ("at step=3 value=0.7", None),
    ],
)
def test_which_lines_are_reports(line: str, found: tuple[float, float] | None) -> None:
    from aegisbo.runners.printed_reports import as_printed_report

    assert as_printed_report(line) == found


def test_events_of_reports_are_written_and_read_alike(tmp_path: Path) -> None:
    def odd(x: float) -> float:
        aegisbo.report(math.inf, -0.5)
        return x

    minimize(odd, BOX, budget=1, seed=2, executor="serial", study=tmp_path / "run.db")
    (reported,) = [event for event in read_events(tmp_path / "run.db") if isinstance(event, Reported)]
    assert (reported.number, reported.step, reported.value) == (0, -0.5, None)
    assert reported.seconds is not None
