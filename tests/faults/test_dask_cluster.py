"""A Dask cluster of real processes: a worker that dies in the middle of an evaluation, and a scheduler that is gone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from audit import Audit
from diary import BOX, Diary
from runners.processes_of import alive

import aegisbo
from aegisbo.errors import AegisError
from aegisbo.runners.pools import dask as dask_module

pytestmark = pytest.mark.long
pytest.importorskip("distributed")

PATIENCE = 120.0
SETTINGS = {"strategy": "aegis", "n_initial": 4, "seed": 2}


class Cluster:
    """A scheduler and two workers, each a process of its own as on a real cluster."""

    def __init__(self, stack: ExitStack, allowed_failures: int = 3) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        environment = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
        self.scheduler = self._start(stack, environment, "scheduler", "--host", "127.0.0.1", "--port", str(port))
        self.workers = [self.start_worker(stack) for _ in range(2)]

    def start_worker(self, stack: ExitStack) -> subprocess.Popen[bytes]:
        return self._start(stack, {}, "worker", self.address, "--nthreads", "1", "--no-nanny")

    def _start(self, stack: ExitStack, environment: dict[str, str], *command: str) -> subprocess.Popen[bytes]:
        here = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:], "--no-dashboard"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **environment, "PYTHONPATH": here},
        )
        stack.callback(process.wait)
        stack.callback(process.kill)
        return process


@contextmanager
def cluster(**options: int) -> Iterator[Cluster]:
    from distributed import Client

    with ExitStack() as stack:
        started = Cluster(stack, **options)
        with Client(started.address, timeout=PATIENCE) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
        yield started


def when(diary: Diary, count: int, action: object) -> threading.Thread:
    """Act in the middle of an evaluation, once so many have ended."""

    def watch() -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            entries = diary.entries()
            running = {entry["token"]: entry["pid"] for entry in entries if entry["what"] == "begins"}
            for entry in entries:
                if entry["what"] == "ends":
                    running.pop(entry["token"])
            if len(entries) >= 2 * count and running:
                action(next(iter(running.values())))  # type: ignore[operator]
                return
            time.sleep(0.005)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("allowed_failures", [3, 0], ids=["Dask runs it again", "aegisbo runs it again"])
def test_a_worker_killed_in_the_middle_of_an_evaluation(tmp_path: Path, allowed_failures: int) -> None:
    audit = Audit(tmp_path / "run.db", Diary(tmp_path / "diary", 0.5))
    killed: list[int] = []

    def kill(pid: int) -> None:
        audit.faults += 1
        audit.unfinished.update(range(14))  # whichever it is
        killed.append(pid)
        os.kill(pid, signal.SIGKILL)

    with cluster(allowed_failures=allowed_failures) as dask:
        watcher = when(audit.diary, 4, kill)
        result = aegisbo.minimize(audit.diary, BOX, budget=14, executor=dask.address, study=audit.study, **SETTINGS)
        watcher.join(PATIENCE)
        assert [worker.pid for worker in dask.workers if not alive(worker.pid)] == killed
        assert result.message == "The budget is spent."
    begun_twice = [x for x, count in audit.diary.counts("begins").items() if count > 1]
    assert len(begun_twice) == 1
    print(f"\nDask worker killed ({allowed_failures} failures allowed): {audit.close(14)}")  # noqa: T201


def test_the_scheduler_is_gone(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "run.db", Diary(tmp_path / "diary", 0.5))
    with cluster() as dask:
        watcher = when(audit.diary, 4, lambda pid: dask.scheduler.kill())
        gone = aegisbo.minimize(audit.diary, BOX, budget=14, executor=dask.address, study=audit.study, **SETTINGS)
        assert gone.message.startswith("The Dask scheduler is gone. Nothing that has ended is lost: start it and make")
        watcher.join(PATIENCE)
    audit.look()
    assert len(audit.events) > 8
    with pytest.raises(AegisError, match=r"No Dask scheduler answers at tcp://127.0.0.1:\d+ .*: check the address"):
        aegisbo.minimize(audit.diary, BOX, budget=14, executor=dask.address, study=audit.study, **SETTINGS)
    audit.look()
    with cluster() as dask:
        aegisbo.minimize(audit.diary, BOX, budget=14, executor=dask.address, study=audit.study, **SETTINGS)
    print(f"\nDask scheduler gone: {audit.close(14)}")  # noqa: T201


def deadly_until(cured: Path) -> Callable[[object], float]:
    def deadly(x: object) -> float:
        with (cured.parent / "calls").open("a") as calls:
            calls.write("called\n")
        if not cured.exists():
            os._exit(3)
        return 1.0

    return deadly


@contextmanager
def replacing_the_dead(dask: Cluster) -> Iterator[None]:
    """Start a worker for each that died. Dask's nanny leaves out one that dies before it has reported its start."""
    over = threading.Event()

    def replace() -> None:
        while not over.wait(0.1):
            dask.workers = [
                dask.start_worker(stack) if worker.poll() is not None else worker for worker in dask.workers
            ]

    with ExitStack() as stack, ThreadPoolExecutor(1) as thread:
        thread.submit(replace)
        try:
            yield
        finally:
            over.set()


def test_a_point_that_always_kills_its_worker_fails_after_the_last_retry(tmp_path: Path) -> None:
    deadly = deadly_until(tmp_path / "never")
    with cluster() as dask, replacing_the_dead(dask):
        result = aegisbo.minimize(deadly, BOX, budget=1, executor=dask.address, retries=1, seed=1)
    (trial,) = result.trials
    assert trial.state == "failed"
    assert str(trial.reason).startswith("Its worker died 2 times: ")
    assert len((tmp_path / "calls").read_text().split()) <= 8  # Dask itself may try each of two times four times


def test_a_run_whose_workers_are_all_dead_says_so_and_goes_on_with_new_ones(
    tmp_path: Path, logged: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_module, "NOTICE", 2.0)
    deadly = deadly_until(tmp_path / "cured")
    with cluster() as dask, ExitStack() as stack, ThreadPoolExecutor(1) as thread:
        run = thread.submit(aegisbo.minimize, deadly, BOX, budget=2, executor=dask.address, retries=20, seed=1)
        deadline = time.monotonic() + PATIENCE
        while not any("The Dask cluster has no workers, and 2 evaluations waiting" in text for _, text in logged):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        (tmp_path / "cured").touch()
        dask.start_worker(stack)
        result = run.result(PATIENCE)
    assert [trial.state for trial in result.trials] == ["done", "done"]
