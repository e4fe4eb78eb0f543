"""Many simulated runs in worker processes: order, errors, Ctrl-C, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from runners.processes_of import children_of, wait_until_dead

from aegisbo.errors import AegisError
from aegisbo.outcome import Outcome
from aegisbo.runners.protocol import Finished
from aegisbo.simulation import many
from aegisbo.simulation.many import answers
from aegisbo.simulation.runs import Spec, simulate


def spec(run: int = 0, **changes: Any) -> Spec:
    settings = {"problem": "Branin", "strategy": "random", "workers": 2, "budget": 6, "run": run, **changes}
    return Spec(**settings)


@pytest.mark.long
def test_an_exception_of_any_kind_is_the_same_in_a_process_as_here() -> None:
    specs = [spec(run) for run in range(3)]
    object.__setattr__(specs[1], "workers", "two")  # a mistake that only the simulation meets
    errors = []
    for jobs in (1, 2):
        with pytest.raises(TypeError) as caught:
            list(answers(simulate, specs, jobs))
        errors.append(caught.value)
    assert errors[0].args == errors[1].args
    (note,) = errors[1].__notes__
    assert "runs.py" in note  # where it happened, over there


@dataclass
class Scripted:
    """A pool whose jobs end in the order of a script."""

    script: list[list[int]]
    capacity: int = 2

    def __post_init__(self) -> None:
        self.submitted: list[int] = []
        self.closed = False

    def submit(self, number: int, x: Spec) -> None:
        assert x.run == number
        self.submitted.append(number)

    def collect(self) -> list[Finished]:
        return [Finished(number, Outcome("done", f"record {number}"), 0.0, 1.0) for number in self.script.pop(0)]

    def close(self) -> None:
        self.closed = True


def test_records_come_in_order_while_the_processes_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Scripted([[1], [2], [3], [0, 4]])
    monkeypatch.setattr(many, "make_pool", lambda *args, **rest: pool)
    records = answers(simulate, [spec(run) for run in range(5)], jobs=2)
    assert next(records) == "record 0"
    assert pool.submitted == [0, 1, 2, 3, 4]  # the others did not wait for the first
    assert list(records) == ["record 1", "record 2", "record 3", "record 4"]
    assert pool.closed


def test_no_more_processes_are_started_than_there_are_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def pool_of(executor: str, function: Any, workers: int, **rest: Any) -> Scripted:
        sizes.append((executor, workers))
        return Scripted([[0], [1]])

    monkeypatch.setattr(many, "make_pool", pool_of)
    list(answers(simulate, [spec(run) for run in range(2)], jobs=8))
    assert sizes == [("processes", 2)]


@pytest.mark.long
def test_a_process_that_dies_is_an_error_that_names_the_run() -> None:
    with pytest.raises(AegisError, match=r"Branin.* gave no record: Its process ended with exit code 3"):
        list(answers(lambda spec: os._exit(3), [spec(0), spec(1)], jobs=2))


SCRIPT = """
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are born ignoring it

from aegisbo.simulation.many import answers
from aegisbo.simulation.runs import Spec, simulate

specs = [Spec(problem="Branin", strategy="aegis", workers=2, budget=100_000 if run else 5, run=run) for run in range(3)]
for record in answers(simulate, specs, jobs=2):
    print(record.spec.run, flush=True)
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ctrl_c_ends_all_processes_at_once(number: signal.Signals) -> None:
    command = [sys.executable, "-c", SCRIPT]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "0\n"
        family = children_of(driver.pid)
        family |= {child for pid in family for child in children_of(pid)}
        assert len(family) == 4  # two workers with their watchdogs
        begin = time.monotonic()
        os.killpg(driver.pid, number)  # as a terminal does
        try:
            _, errors = driver.communicate(timeout=30)
        finally:
            driver.kill()  # or leaving the block would wait for ever
    assert time.monotonic() - begin < 10
    assert wait_until_dead(family) == set()
    if number == signal.SIGINT:
        assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert errors.count("Traceback") == (number == signal.SIGINT)
