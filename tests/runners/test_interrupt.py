"""Ctrl-C, pressed at awkward moments: what the handler raises, and what it lets end in peace."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import aegisbo
from aegisbo import load
from aegisbo.runners.interrupt import ctrl_c, end_at_once, interruptible
from aegisbo.runners.protocol import StopRun

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def as_in_a_terminal() -> Iterator[None]:
    """Python's own handler; a job in the background is begun without one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_second_one_ends_the_run_and_further_ones_do_no_harm() -> None:
    said: list[str] = []
    with ctrl_c(said.append) as signals:
        assert not signals.came
        signal.raise_signal(signal.SIGINT)
        assert signals.came
        with pytest.raises(StopRun, match=r"Stopped by Ctrl-C, without waiting"), interruptible():
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert len(said) == 1


def test_one_that_comes_while_the_first_is_answered_is_raised_after_the_answer() -> None:
    answered: list[str] = []

    def slow(text: str) -> None:
        signal.raise_signal(signal.SIGINT)  # logging would swallow what is raised here
        answered.append(text)

    with pytest.raises(StopRun), ctrl_c(slow), interruptible():
        signal.raise_signal(signal.SIGINT)
    assert len(answered) == 1


@pytest.mark.parametrize("handler", [lambda: ctrl_c(lambda text: None), end_at_once])
def test_one_that_comes_while_something_is_handed_over_is_raised_where_it_does_no_harm(handler: Any) -> None:
    reached = []
    with handler():
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
        reached.append("the end of what must not be disturbed")
        with pytest.raises(StopRun), interruptible():
            reached.append("what may be")
        with interruptible():
            reached.append("once")
    assert reached == ["the end of what must not be disturbed", "once"]


def test_a_run_inside_the_function_of_another_one_is_not_disturbed_either() -> None:
    with ctrl_c(lambda text: None), interruptible():
        with ctrl_c(lambda text: None):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # the first one of the run outside
        with pytest.raises(StopRun):
            signal.raise_signal(signal.SIGINT)


class PressedTwice:
    """Presses Ctrl-C twice before a line of the driver, counted from the first one."""

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if "/aegisbo/runners/" not in frame.f_code.co_filename and "/aegisbo/study/" not in frame.f_code.co_filename:
            return None
        if event == "line" and signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
        return self


@pytest.mark.parametrize("executor", ["serial", "threads"])
def test_the_result_after_ctrl_c_holds_every_evaluation_that_the_study_holds(tmp_path: Path, executor: str) -> None:
    interrupted, screen = 0, sys.stdout
    for k, line in enumerate(range(1, 1000, 40)):
        path, options = tmp_path / f"{k}.db", {"strategy": "random", "workers": 1, "progress": False}
        before = sys.gettrace()
        sys.settrace(PressedTwice(line))
        try:
            result = aegisbo.minimize(lambda x: 1.0, [(0, 1)], budget=5, study=path, executor=executor, **options)
        finally:
            sys.settrace(before)
        interrupted += not result.success
        assert sys.stdout is screen  # what a run does around the function has come to its end, too
        assert result.success == (result.message == "The budget is spent.")
        assert [trial.state for trial in load(path).trials if trial.state == "done"] == ["done"] * result.nfev
    assert interrupted > 5


def test_systems_without_sigkill_can_still_import_minimize() -> None:
    code = "import signal; del signal.SIGKILL; import aegisbo; aegisbo.minimize"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
