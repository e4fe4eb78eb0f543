"""What a run tells its user while it lasts, and what becomes of what the function prints."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import aegisbo
from aegisbo import Optimizer
from aegisbo.outcome import Outcome
from aegisbo.runners import progress
from aegisbo.runners.pools.threads import Threads
from aegisbo.runners.progress import progress_of
from aegisbo.runners.progress.log_lines import first_failure
from aegisbo.runners.progress.notebook import in_notebook, notebook_line
from aegisbo.runners.progress.standing import Standing, Tally, clock_time, line
from aegisbo.runners.progress.terminal import Lines, terminal_line
from aegisbo.runners.protocol import Finished
from aegisbo.runners.work import work

BOX = [(-5, 10), (2, 3)]
Logged = list[tuple[str, str]]


def moody(x: np.ndarray) -> float:
    if x[0] > 5:
        raise ValueError(f"too far: {x[0]}")
    return float(x[0] ** 2)


def search(fun: Any = moody, **options: Any) -> aegisbo.Result:
    given = {"strategy": "random", "seed": 1, "executor": "threads", "budget": 9, "workers": 1, **options}
    return aegisbo.minimize(fun, BOX, **given)


class FakePool:
    """Workers that do nothing, with numbers to be set."""

    name, capacity, can_stop, prints_here = "Fakes", 2, False, False

    def __init__(self) -> None:
        self.starting = self.unfinished = 0


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def optimizer() -> Optimizer:
    return Optimizer(BOX, strategy="random", seed=1)


class TestTally:
    def test_it_counts_what_the_optimizer_knows_and_what_the_pool_says(self, optimizer: Optimizer) -> None:
        pool, clock = FakePool(), Clock()
        optimizer.observe([0, 2.5], 7.0)
        tally = Tally(optimizer, pool, 10, clock)
        assert tally.standing() == Standing(10, 0, 0, "best 7")
        for value in (9.0, 3.0, None):
            trial = optimizer.ask()
            _ = optimizer.fail(trial, "no") if value is None else optimizer.tell(trial, value)
        pool.unfinished, pool.starting, clock.time = 5, 2, 130.0
        tally.update("trial 2: no")
        expected = Standing(10, 3, 1, "best 3", "trial 2: no", starting=2, running=3, elapsed=30.0, left=70.0)
        assert tally.standing() == expected
        tally.update()
        assert tally.standing().error == "trial 2: no"  # the last one stays

    def test_the_largest_is_the_best_when_maximizing_and_a_noisy_one_is_only_measured(self) -> None:
        optimizer = Optimizer(BOX, strategy="random", maximize=True, noisy=True)
        for value in (1.0, 4.0, 2.0):
            optimizer.observe([0, 2.5], value)
        assert Tally(optimizer, FakePool(), 3).standing().best == "best measured 4"

    def test_the_time_left_follows_the_recent_rate(self, optimizer: Optimizer) -> None:
        clock = Clock()
        tally = Tally(optimizer, FakePool(), 40, clock)
        assert tally.standing().left is None
        for k, pause in enumerate([100.0] * 3 + [5.0] * 7):  # 2 workers: the last six count
            clock.time += pause
            optimizer.tell(optimizer.ask(), 1.0)
            tally.update()
            if k == 2:
                assert tally.standing().left == pytest.approx(100.0 * 37)
        assert tally.standing().left == pytest.approx(5.0 * 30)
        clock.time += 20.0  # nothing ends, but time passes
        assert tally.standing().left == pytest.approx(5.0 * 30 - 20.0)
        clock.time += 1e6
        assert tally.standing().left == 0.0

    def test_evaluations_of_an_earlier_call_say_nothing_about_the_rate(self, optimizer: Optimizer) -> None:
        clock = Clock()
        for _ in range(5):
            optimizer.tell(optimizer.ask(), 1.0)
        tally = Tally(optimizer, FakePool(), 10, clock)
        clock.time += 7.0
        optimizer.tell(optimizer.ask(), 1.0)
        tally.update()
        assert tally.standing().left == pytest.approx(7.0 * 4)

    def test_what_is_running_is_known_between_completions(self) -> None:
        gate = threading.Event()
        pool = Threads(lambda x: Outcome("done", float(gate.wait(60))), 2)
        tally = Tally(Optimizer(BOX, strategy="random"), pool, 3)
        for number in range(2):
            pool.submit(number, 1.0)
            assert tally.standing().running == number + 1
        gate.set()
        while pool.collect(60):
            pass
        assert tally.standing().running == 0


class TestLine:
    FULL = Standing(1000, 120, 12, "best -0.00123457", "trial 7: [bold] " + "x" * 300, 3, 16, 3723.0, 754.9)

    def test_everything_where_there_is_room(self) -> None:
        assert line(self.FULL) == "120/1000  best -0.00123457  3 starting, 16 running, 12 failed  1:02:03  12:34 left"

    def test_what_is_zero_is_left_out(self) -> None:
        assert line(Standing(7, 0, 0, "")) == "0/7  0:00"

    @pytest.mark.parametrize(
        ("width", "shown"),
        [
            (80, "120/1000  best -0.00123457  3 starting, 16 running, 12 failed  1:02:03"),
            (65, "120/1000  best -0.00123457  3 starting, 16 running, 12 failed"),
            (60, "120/1000  3 starting, 16 running, 12 failed"),
        ],
    )
    def test_what_matters_least_goes_first(self, width: int, shown: str) -> None:
        assert line(self.FULL, width) == shown

    @pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
    def test_on_a_terminal_it_fits_the_width_with_its_error(self, width: int) -> None:
        file = io.StringIO()
        Console(file=file, width=width, force_terminal=True, color_system=None).print(Lines(self.FULL))
        first, second = file.getvalue().splitlines()
        assert len(first) <= width
        assert "120/1000" in first
        assert len(second) == width
        assert second.startswith("last error: trial 7: [bold] x"[: width - 3])
        assert second.endswith("...")

    def test_a_bar_fills_what_is_left(self) -> None:
        file = io.StringIO()
        console = Console(file=file, width=60, force_terminal=True, color_system=None)
        console.print(Lines(Standing(10, 5, 0, "best 1", running=2)))
        assert file.getvalue().rstrip() == "━" * 12 + " " * 13 + "5/10  best 1  2 running  0:00"

    def test_times(self) -> None:
        assert [clock_time(s) for s in (0, 7.9, 60, 3599, 3600, 360000)] == [
            "0:00", "0:07", "1:00", "59:59", "1:00:00", "100:00:00",
        ]  # fmt: skip


class TestLog:
    def test_a_line_now_and_then(self, optimizer: Optimizer, logged: Logged, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = Clock()
        monkeypatch.setattr(progress, "monotonic", clock)
        with progress_of(optimizer, FakePool(), 9, None, None) as tell:
            tell.said = clock.time
            for number, time in enumerate((100.0, 109.9, 110.0, 115.0, 119.9, 121.0, 125.0)):
                clock.time = time
                optimizer.tell(optimizer.ask(), 1.0)
                tell(Finished(number, Outcome("done", 1.0), 0.0, 1.0))
        assert [text.split()[0] for _, text in logged[1:]] == ["3/9", "6/9", "7/9"]

    def test_one_worker_is_no_workers(self, logged: Logged) -> None:
        aegisbo.minimize(lambda x: float(x[0]), [(0, 1)], budget=1, workers=1, strategy="random", executor="threads")
        assert logged[0][1].startswith("Minimizing over 1 parameter with 1 worker (threads): ")

    def test_a_run_says_how_it_begins_and_ends(self, logged: Logged, tmp_path: Path) -> None:
        result = search(lambda x: float(x[0]), budget=3, workers=2, study=tmp_path / "run.db")
        (_, first), (_, last_line), (_, last) = logged
        assert first == (
            "Minimizing over 2 parameters with 2 workers (threads): budget 3, strategy random, seed 1, "
            f"study {tmp_path / 'run.db'}."
        )
        assert last_line.startswith(f"3/3  best {result.fun:.6g}  ")
        assert last == result.message == "The budget is spent."
        assert {level for level, _ in logged} == {"INFO"}

    def test_a_run_that_is_continued_says_so_once(self, logged: Logged, tmp_path: Path) -> None:
        path, told = tmp_path / "run.db", f"Continuing {tmp_path / 'run.db'}: 3 of 5 evaluations done."
        for budget in (3, 3, 5):
            search(lambda x: float(x[0]), budget=budget, study=path)
        assert [text for _, text in logged if text.startswith("Continuing")] == [told]

    def test_so_does_a_copy_that_shares_a_study(self, logged: Logged, tmp_path: Path) -> None:
        path, told = tmp_path / "run.db", f"Continuing {tmp_path / 'run.db'}: 3 of 4 evaluations done."
        search(lambda x: float(x[0]), budget=3, study=path)
        work(lambda x: float(x[0]), path, budget=4, anyway=True)
        assert [text for _, text in logged if text.startswith("Continuing")] == [told]

    def test_only_the_first_failure_of_a_call_is_a_warning(self, logged: Logged, tmp_path: Path) -> None:
        for _ in range(2):
            result = search(study=tmp_path / "run.db")
            search(study=tmp_path / "run.db", budget=20)
        assert sum(result.failures.values()) > 1
        first = next(trial for trial in result.trials if trial.state == "failed")
        warnings = [text for level, text in logged if level == "WARNING"]
        assert len(warnings) == 2  # of the two calls that evaluated anything
        assert warnings[0] == first_failure(first, str(first.reason), tmp_path / "run.db")
        for part in (
            f"Trial {first.number} ",
            "ValueError: too far",
            "x0 = 8.81233, x1 = ",
            f"run.db --trial {first.number}`",
        ):
            assert part in warnings[0]
        assert aegisbo.load(tmp_path / "run.db").trials[first.number].traceback.startswith("Traceback")

    def test_a_worker_that_dies_is_a_failure_too(self, logged: Logged, optimizer: Optimizer) -> None:
        with progress_of(optimizer, FakePool(), 3, None, None) as tell:
            optimizer.ask()
            tell(Finished(0, Outcome("lost", reason="Its process ended with exit code 3."), 0.0, 1.0))
        (warning,) = [text for level, text in logged if level == "WARNING"]
        assert warning.startswith("Trial 0 lost its worker: Its process ended with exit code 3. ")

    def test_the_reasons_survive_in_the_study(self, tmp_path: Path) -> None:
        result = search(budget=20, study=tmp_path / "run.db")
        (reason,) = result.failures
        assert reason.startswith("ValueError: too far: ")
        loaded = aegisbo.load(tmp_path / "run.db")
        assert (loaded.failures, loaded.message) == (result.failures, result.message)
        assert f" of 20 evaluations gave no value: {result.failures[reason]} x {reason}." in loaded.message


IN_A_SCRIPT = """
import logging, sys
import aegisbo
root, ours = logging.getLogger(), logging.getLogger("aegisbo")
assert not root.handlers and not ours.handlers and ours.level == logging.NOTSET
result = aegisbo.minimize(lambda x: None, [(-5, 10)], budget=2, executor="threads", workers=1, seed=1)
assert not root.handlers and not ours.handlers and ours.level == logging.NOTSET
"""


def test_without_any_configuration_the_warning_is_seen_and_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-c", IN_A_SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("Trial 0 gave no value: The function returned None: it must return one real number.")


class TestEcho:
    """What a worker elsewhere printed is repeated when its evaluation ends."""

    def told(self, optimizer: Optimizer, wanted: bool | None, pool: Any) -> None:
        with progress_of(optimizer, pool, 3, wanted, None) as tell:
            optimizer.tell(optimizer.ask(), 1.0)
            tell(Finished(0, Outcome("done", 1.0, output="loading\nready\n"), 0.0, 1.0))

    def test_into_the_log(self, logged: Logged, optimizer: Optimizer) -> None:
        self.told(optimizer, None, FakePool())
        assert [text for _, text in logged[1:-1]] == ["[trial 0] loading", "[trial 0] ready"]

    def test_not_if_no_progress_is_wanted(
        self, logged: Logged, optimizer: Optimizer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.told(optimizer, False, FakePool())
        assert not any("[trial" in text for _, text in logged)
        assert capsys.readouterr().err == ""

    def test_not_if_it_has_been_seen_already(self, logged: Logged, optimizer: Optimizer) -> None:
        pool = Threads(lambda x: Outcome("done", 1.0), 1)
        self.told(optimizer, None, pool)
        assert not any("[trial" in text for _, text in logged)

    def test_to_standard_error_if_progress_is_wanted_where_nothing_can_move(
        self, optimizer: Optimizer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.told(optimizer, True, FakePool())
        out, err = capsys.readouterr()
        assert out == ""
        first, *printed, last = err.splitlines()
        assert first.startswith("Minimizing over 2 parameters")
        assert printed == ["[trial 0] loading", "[trial 0] ready"]
        assert last.startswith("1/3  best 1  ")


class FakeNotebook:
    """What a kernel has imported, with the cell's output as a front end keeps it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kernel: object) -> None:
        self.cell: dict[str, list[str]] = {}  # the texts of each output, the newest last
        shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=kernel))
        monkeypatch.setitem(sys.modules, "IPython", shell)
        monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=self.display))

    def display(self, data: dict[str, str], *, raw: bool, display_id: str, update: bool) -> None:
        assert raw
        assert update == (display_id in self.cell)
        self.cell.setdefault(display_id, []).append(data["text/plain"])


class TestNotebook:
    def test_one_output_is_replaced_by_itself_until_the_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        notebook = FakeNotebook(monkeypatch, kernel=object())
        assert in_notebook()
        looked, ended = threading.Semaphore(0), iter(range(1_000_000))

        def look() -> Standing:
            looked.release()
            return Standing(9, next(ended), 0, "")

        with notebook_line(look, pause=0.01):
            for _ in range(3):
                assert looked.acquire(timeout=60)
        (texts,) = notebook.cell.values()
        assert len(texts) >= 3
        assert [text.split("/")[0] for text in texts] == [str(k) for k in range(len(texts))]

    def test_a_run_shows_itself_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        notebook = FakeNotebook(monkeypatch, kernel=object())
        result = search()
        (texts,) = notebook.cell.values()
        failed = sum(result.failures.values())
        assert texts[0] == "0/9  0:00"
        assert texts[-1].startswith(f"9/9  best {result.fun:.6g}  {failed} failed  ")
        assert "\nlast error: trial " in texts[-1]

    def test_ipython_in_a_terminal_is_no_notebook(self, monkeypatch: pytest.MonkeyPatch) -> None:
        FakeNotebook(monkeypatch, kernel=None)
        assert not in_notebook()


class TestTerminal:
    def test_a_run_that_is_continued_says_so_above_the_line(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], optimizer: Optimizer
    ) -> None:
        monkeypatch.setattr(progress, "_live_line", lambda look: nullcontext())
        optimizer.tell(optimizer.ask(), 1.0)
        with progress_of(optimizer, FakePool(), 3, None, "run.db"):
            pass
        assert capsys.readouterr().err == "Continuing run.db: 1 of 3 evaluations done.\n"

    def test_log_handlers_print_above_the_line_and_get_their_stream_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        screen = Terminal()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", screen)
        handler = logging.StreamHandler(screen)
        logger = logging.getLogger("aegisbo")
        logger.addHandler(handler)
        try:
            with terminal_line(lambda: Standing(9, 4, 0, "")):
                assert handler.stream is sys.stderr is not screen
                logger.warning("seen")
            assert handler.stream is sys.stderr is screen
        finally:
            logger.removeHandler(handler)
        assert "seen\n" in screen.getvalue()
        assert "4/9" in screen.getvalue()

    def test_standard_output_that_goes_elsewhere_is_left_alone(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes any file for a terminal
        with terminal_line(lambda: Standing(9, 4, 0, "")):
            sys.stdout.write("data\n")
        assert capsys.readouterr().out == "data\n"

    def test_a_log_file_that_is_not_open_yet_stays_a_file(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        handler = logging.FileHandler(tmp_path / "run.log", delay=True)
        logger = logging.getLogger("aegisbo")
        logger.addHandler(handler)
        try:
            with terminal_line(lambda: Standing(9, 4, 0, "")):
                logger.warning("kept")
        finally:
            logger.removeHandler(handler)
            handler.close()
        assert (tmp_path / "run.log").read_text() == "kept\n"


def test_a_program_without_standard_error_runs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert search(budget=3, executor="threads").nfev == 3
