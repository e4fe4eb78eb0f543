"""Worker processes: one that hangs is stopped, one that dies is replaced, and none is left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from joblib._parallel_backends import ParallelBackendBase
from pool_jobs import (
    Traveler,
    behave,
    die_with_a_child_at_the_pipe,
    fork_and,
    loaded,
    read_all_input,
    square,
    wait_for,
    wait_with_child,
)
from processes_of import alive, children_of, parent_of, reported, wait_until_dead

from aegisbo import errors
from aegisbo.errors import AegisError
from aegisbo.outcome import kept
from aegisbo.runners.pools import child
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.pools.child import Child
from aegisbo.runners.pools.environment import THREAD_LIMITS
from aegisbo.runners.pools.make_pool import make_pool
from aegisbo.runners.protocol import Finished

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")

PATIENCE = 120.0


@contextmanager
def pool_of(function: Callable[[Any], Any], capacity: int = 1) -> Iterator[Pool]:
    with closing(make_pool("processes", function, capacity)) as pool:
        yield pool


def our_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("aegisbo")}


def next_end(pool: Pool) -> Finished:
    (job,) = pool.collect(PATIENCE)
    return job


@pytest.mark.parametrize(
    ("behavior", "reason"),
    [
        ("dies with 0", "Its process ended with exit code 0."),
        ("dies with 3", "Its process ended with exit code 3."),
        ("aborts", "Its process ended by signal SIGABRT."),
        ("kills itself", "Its process ended by signal SIGKILL."),
        ("closes all files", "Its process ended "),
    ],
)
def test_a_worker_that_dies_loses_its_job_only(behavior: str, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pool_of(behave, 2) as pool:
        pool.submit(0, behavior)
        outcome = next_end(pool).outcome
        assert outcome.state == "lost"
        assert outcome.reason.startswith(reason)
        for number in (1, 2):
            pool.submit(number, "value")
        found = [job for _ in range(2) for job in pool.collect(PATIENCE)]
        assert [job.outcome.value for job in found] == [2.5, 2.5]


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the memory limit is of Linux")
def test_a_job_that_exhausts_memory_fails_alone() -> None:
    with pool_of(behave) as pool:
        pool.submit(0, "exhausts memory")
        assert next_end(pool).outcome.reason.startswith("MemoryError")
        pool.submit(1, "value")
        assert next_end(pool).outcome.state == "done"


@pytest.mark.parametrize("executor", ["processes", "threads", "serial"])
@pytest.mark.parametrize(
    ("ending", "code", "words"),
    [
        ("return", 0, ""),
        ("exit", 0, ""),
        ("exit with 4", 4, ""),
        ("exit with words", 1, "words of the copy"),
        ("raise", 1, "ValueError: error of the copy"),
    ],
)
def test_a_copy_that_the_function_forks_ends_like_a_script_and_answers_nothing(
    executor: str, ending: str, code: int, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(make_pool(executor, fork_and, 1)) as pool:
        for number in range(2):  # a second answer would be the next job's
            pool.submit(number, ending)
            job = next_end(pool)
            assert (job.number, job.outcome.state, job.outcome.value) == (number, "done", code + 0.5)
            said = job.outcome.output if executor == "processes" else capfd.readouterr().err
            assert words in said


@pytest.mark.parametrize("reader", ["python", "program"])
def test_standard_input_is_empty_in_a_worker(reader: str) -> None:
    with pool_of(read_all_input) as pool:
        for number in range(2):
            pool.submit(number, reader)
            assert next_end(pool).outcome.value == 0.0


def test_a_stopped_job_is_gone_with_all_that_it_started(tmp_path: Path) -> None:
    with pool_of(wait_with_child) as pool:
        pool.submit(0, str(tmp_path / "gate"))
        pids = reported(tmp_path, 2)
        assert all(alive(pid) for pid in pids)
        pool.stop(0, "Enough.")
        job = next_end(pool)
        assert (job.outcome.state, job.outcome.reason) == ("timed_out", "Enough.")
        assert wait_until_dead(pids) == set()
        (tmp_path / "gate").touch()
        pool.submit(1, str(tmp_path / "gate"))
        assert next_end(pool).outcome.value == 1.0


def test_a_job_can_be_stopped_before_its_process_is_up(tmp_path: Path) -> None:
    """Also while the function is so large that it takes its time through the pipe."""
    ballast = os.urandom(3_000_000)
    with pool_of(lambda gate: wait_for(gate) + len(ballast)) as pool:
        pool.submit(0, str(tmp_path / "gate"))
        pool.stop(0)
        assert next_end(pool).outcome.state == "timed_out"
        (tmp_path / "gate").touch()
        pool.submit(1, str(tmp_path / "gate"))
        assert next_end(pool).outcome.value == 3_000_001.0


def test_a_job_can_be_stopped_before_a_dead_process_is_replaced(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    with pool_of(wait_for) as pool:
        pool.submit(0, str(gate))
        assert next_end(pool).outcome.state == "done"
        (worker,) = reported(tmp_path)
        pair = {worker, parent_of(worker)}
        os.kill(worker, signal.SIGKILL)
        assert wait_until_dead(pair) == set()
        gate.unlink()
        pool.submit(1, str(gate))
        pool.stop(1)
        assert next_end(pool).outcome.state == "timed_out"


def test_stopping_what_has_ended_or_never_ran_harms_nobody() -> None:
    with pool_of(square) as pool:
        pool.submit(0, 3.0)
        assert next_end(pool).outcome.value == 9.0
        pool.stop(0)
        pool.stop(17)
        pool.submit(1, 4.0)
        assert next_end(pool).outcome.value == 16.0


def test_close_leaves_no_process_and_no_thread_behind(tmp_path: Path) -> None:
    before = children_of(os.getpid())
    with pool_of(wait_with_child, 3) as pool:
        pool.submit(0, str(tmp_path / "gate"))  # one works, two are idle
        pids = reported(tmp_path, 2)
        mine = children_of(os.getpid())
        assert len(mine) >= len(before) + 3
    assert children_of(os.getpid()) == before  # no zombies either
    assert wait_until_dead(pids | mine - before, seconds=0.5) == set()
    for thread in our_threads():
        thread.join(PATIENCE)
    assert our_threads() == set()


@pytest.mark.parametrize("who", ["worker", "watchdog"])
def test_an_idle_worker_that_is_killed_is_replaced_without_losing_a_job(tmp_path: Path, who: str) -> None:
    (tmp_path / "gate").touch()
    with pool_of(wait_for) as pool:
        pool.submit(0, str(tmp_path / "gate"))
        assert next_end(pool).outcome.state == "done"
        (worker,) = reported(tmp_path)
        pair = {worker, parent_of(worker)}
        os.kill(worker if who == "worker" else parent_of(worker), signal.SIGKILL)
        assert wait_until_dead(pair) == set()
        pool.submit(1, str(tmp_path / "gate"))
        assert next_end(pool).outcome.state == "done"


def test_a_death_that_nobody_has_reported_yet_costs_no_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Child, "_watch", lambda child, ended: None)
    monkeypatch.setattr(Child, "alive", property(lambda child: child._process.returncode is None))
    (tmp_path / "gate").touch()
    with pool_of(wait_for) as pool:
        pool.submit(0, str(tmp_path / "gate"))
        assert next_end(pool).outcome.state == "done"
        (worker,) = reported(tmp_path)
        pair = {worker, parent_of(worker)}
        os.kill(worker, signal.SIGKILL)
        assert wait_until_dead(pair) == set()
        pool.submit(1, str(tmp_path / "gate"))
        assert next_end(pool).outcome.state == "done"


@pytest.mark.parametrize("who", ["worker", "watchdog"])
def test_a_busy_worker_that_is_killed_is_noticed(tmp_path: Path, who: str) -> None:
    with pool_of(wait_with_child) as pool:
        pool.submit(0, str(tmp_path / "gate"))
        pids = reported(tmp_path, 2)
        (worker,) = {pid for pid in pids if parent_of(pid) not in pids}
        os.kill(worker if who == "worker" else parent_of(worker), signal.SIGKILL)
        outcome = next_end(pool).outcome
        assert (outcome.state, outcome.reason) == ("lost", "Its process ended by signal SIGKILL.")
        assert wait_until_dead(pids) == set()


def test_a_death_is_noticed_also_while_a_copy_of_the_process_holds_the_pipe(tmp_path: Path) -> None:
    with pool_of(die_with_a_child_at_the_pipe) as pool:
        pool.submit(0, str(tmp_path / "gate"))
        assert next_end(pool).outcome.reason == "Its process ended with exit code 3."
        assert wait_until_dead(reported(tmp_path)) == set()


def test_what_is_sent_to_a_process_that_is_gone_is_not_taken() -> None:
    """One thread may answer a report while another one has found the process dead, and closed its pipes."""
    process = Child(os.environ, ended=lambda: None)
    assert process.send("heard")
    process.kill()
    process.close()
    assert not process.send("too late")


def test_where_no_process_can_be_started_the_jobs_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pool_of(square) as pool:
        pool.submit(0, 3.0)
        outcome = next_end(pool).outcome
    assert outcome.state == "lost"
    assert "/nowhere/python" in outcome.reason


@pytest.fixture
def buffered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.mark.usefixtures("buffered")
def test_all_that_is_printed_is_kept_with_its_job_and_the_function_reads_no_jobs(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def chatty(x: str) -> float:
        print(x)  # noqa: T201
        ctypes.CDLL(None).puts(b"from C")
        subprocess.run(["sh", "-c", "echo from a program; echo its errors >&2"], check=True)
        print("half a line", end="", file=sys.stdout)  # noqa: T201
        return float(len(sys.stdin.read()))

    with pool_of(chatty) as pool:
        for number, word in enumerate(("first", "second")):
            pool.submit(number, word)
            outcome = next_end(pool).outcome
            assert outcome.value == 0.0
            assert outcome.output == f"{word}\nfrom C\nfrom a program\nits errors\nhalf a line"
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("buffered")
@pytest.mark.parametrize("way", ["dies with 3", "kills itself", "is stopped"])
def test_the_last_words_of_a_process_are_kept(tmp_path: Path, way: str) -> None:
    def last_words(gate: str) -> Any:
        print("last words")  # noqa: T201
        return wait_for(gate) if way == "is stopped" else behave(way)

    with pool_of(last_words) as pool:
        pool.submit(0, str(tmp_path / "gate"))
        if way == "is stopped":
            reported(tmp_path)
            pool.stop(0)
        assert next_end(pool).outcome.output == "last words\n"


def test_what_a_process_says_that_cannot_start_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('not here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pool_of(square) as pool:
        pool.submit(0, 3.0)
        outcome = next_end(pool).outcome
    assert outcome.state == "lost"
    assert outcome.reason.endswith("before the function was loaded.")
    assert "not here" in outcome.output


def test_a_worker_imports_no_more_of_aegisbo_than_it_needs() -> None:
    with closing(make_pool("processes", loaded, 1, judge=kept)) as pool:
        pool.submit(0, "aegisbo")
        modules = next_end(pool).outcome.value
    assert modules == [
        "aegisbo", "aegisbo.errors", "aegisbo.number", "aegisbo.outcome", "aegisbo.runners",
        "aegisbo.runners.evaluation", "aegisbo.runners.packing", "aegisbo.runners.pools",
        "aegisbo.runners.pools.worker", "aegisbo.runners.protocol", "aegisbo.runners.reports",
        "aegisbo.runners.slots",
    ]  # fmt: skip


def thread_limits(x: Any) -> dict[str, Any]:
    """What the libraries of this worker were told, and what NumPy's BLAS makes of it."""
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    said = {name: os.environ.get(name) for name in THREAD_LIMITS}
    return {**said, "blas": [library["num_threads"] for library in threadpool_info()]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("cores", "workers", "given", "said"), [(2, 1, None, 2), (2, 2, None, 1), (2, 3, None, 1), (2, 2, 2, 2)]
)
def test_numerical_libraries_use_no_more_threads_than_their_share(
    monkeypatch: pytest.MonkeyPatch, cores: int, workers: int, given: int | None, said: int
) -> None:
    assert set(THREAD_LIMITS) == set(ParallelBackendBase.MAX_NUM_THREADS_VARS)  # joblib's
    monkeypatch.setattr("aegisbo.runners.pools.make_pool._cores", lambda: cores)
    for name in THREAD_LIMITS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "7")  # the user's word
    before = dict(os.environ)
    with closing(make_pool("processes", thread_limits, workers, judge=kept, threads_per_worker=given)) as pool:
        pool.submit(0, 0.0)
        found = next_end(pool).outcome.value
    assert dict(os.environ) == before
    assert found.pop("MKL_NUM_THREADS") == ("7" if given is None else "2")
    assert all(threads <= said for threads in found.pop("blas"))
    assert set(found.values()) == {str(said)}


def test_a_point_that_cannot_travel_fails_and_the_next_one_arrives() -> None:
    with pool_of(square) as pool:
        reasons = {}
        for number, way in enumerate(("out", "in")):
            pool.submit(number, Traveler(way))
            outcome = next_end(pool).outcome
            reasons[way] = (outcome.state, outcome.reason)
        pool.submit(9, 3.0)
        assert next_end(pool).outcome.value == 9.0
    assert reasons == {
        "out": ("failed", "The point cannot be sent to another process: TypeError: not without a permit"),
        "in": ("failed", "The point cannot be read by the worker: ValueError: no entry"),
    }


def test_on_windows_worker_processes_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "os", SimpleNamespace(name="nt"))
    message = 'Worker processes need Linux or macOS, this is nt: use WSL, or executor="threads".'
    with pytest.raises(AegisError) as caught:
        make_pool("processes", square, 1)
    assert str(caught.value) == message
    make_pool("threads", square, 1).close()


def test_the_function_is_loaded_before_the_first_point_comes(tmp_path: Path) -> None:
    with loading_slowly(tmp_path) as function, pool_of(function) as pool:
        reported(tmp_path)  # nothing has been submitted
        (tmp_path / "gate").touch()
        pool.submit(0, 3.0)
        assert next_end(pool).outcome.value == 9.0


def test_a_job_is_starting_until_its_function_is_called_and_that_time_is_not_the_functions(tmp_path: Path) -> None:
    with loading_slowly(tmp_path) as function, pool_of(function) as pool:
        pool.submit(0, 3.0)
        reported(tmp_path)
        assert (pool.starting, pool.called(0)) == (1, None)
        (tmp_path / "gate").touch()
        loaded_at = pool.now()
        job = next_end(pool)
        assert (pool.starting, pool.called(0)) == (0, None)
        assert job.seconds <= job.finished - loaded_at
        (tmp_path / "gate").unlink()
        pool.submit(1, -1.0)
        while pool.starting:
            time.sleep(0.01)
        assert loaded_at < pool.called(1) <= pool.now()
        pool.stop(1)
        assert next_end(pool).seconds > 0.0


def test_what_is_stopped_or_lost_before_its_function_is_called_has_taken_no_time(tmp_path: Path) -> None:
    with loading_slowly(tmp_path) as function, pool_of(function) as pool:
        pool.submit(0, 3.0)
        reported(tmp_path)
        pool.stop(0)
        assert (next_end(pool).seconds, pool.starting) == (0.0, 0)


def test_a_process_that_takes_too_long_to_start_is_lost_in_words_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "START_LIMIT", 0.5)
    with loading_slowly(tmp_path) as function, pool_of(function) as pool:
        pool.submit(0, 3.0)
        outcome = next_end(pool).outcome
        assert (outcome.state, outcome.reason) == ("lost", "Its process had not loaded the function after 0.5 seconds.")
        monkeypatch.undo()
        (tmp_path / "gate").touch()
        pool.submit(1, 3.0)
        assert next_end(pool).outcome.value == 9.0


def test_a_process_that_dies_while_it_loads_is_started_once_a_job(tmp_path: Path) -> None:
    with loading_slowly(tmp_path, then="os._exit(3)") as function:
        (tmp_path / "gate").touch()
        with pool_of(function) as pool:
            reported(tmp_path, 1)
            for number in range(2):
                pool.submit(number, 3.0)
                reason = next_end(pool).outcome.reason
                assert reason == "Its process ended with exit code 3 before the function was loaded."
            assert len(reported(tmp_path)) == 3


@pytest.mark.parametrize("busy", [True, False])
def test_a_process_that_dies_is_replaced_before_the_next_job_comes(tmp_path: Path, busy: bool) -> None:
    with loading_slowly(tmp_path) as function:
        (tmp_path / "gate").touch()
        with pool_of(function) as pool:
            (first,) = reported(tmp_path)
            pool.submit(0, 3.0)
            assert next_end(pool).outcome.value == 9.0  # it has loaded the function, not only begun to
            if busy:
                (tmp_path / "gate").unlink()
                pool.submit(1, -1.0)
                while pool.starting:
                    time.sleep(0.01)
            os.kill(first, signal.SIGKILL)
            assert len(reported(tmp_path, 2)) == 2
            assert not busy or next_end(pool).outcome.state == "lost"


@contextmanager
def loading_slowly(folder: Path, then: str = "") -> Iterator[Callable[[float], float]]:
    """A function whose module reports, and waits for a gate, when a worker imports it; so does it at -1."""
    module = f"slow_{folder.name}"
    (folder / f"{module}.py").write_text(SLOW_MODULE.format(driver=os.getpid(), folder=str(folder), then=then))
    sys.path.insert(0, str(folder))
    try:
        yield import_module(module).square
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(module, None)


SLOW_MODULE = """
import os, time

def wait():
    while not os.path.exists("{folder}/gate"):
        time.sleep(0.01)

def square(x):
    if x == -1:
        wait()
    return x * x

if os.getpid() != {driver}:
    open(f"{folder}/loading.{{os.getpid()}}.pid", "w").close()
    wait()
    {then}
"""


DRIVER = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from pool_jobs import wait_with_child
from aegisbo.runners.pools.make_pool import make_pool
pool = make_pool("processes", wait_with_child, 2)
for number in range(2):
    pool.submit(number, sys.argv[2])
if sys.argv[3] == "fork" and os.fork() == 0:  # a copy that lives on, with all pipes open
    time.sleep(600)
if sys.argv[3] == "early":  # killed while the interpreters are still starting
    print(flush=True)
time.sleep(0.0 if sys.argv[3] == "forgets" else 600)
"""


@pytest.mark.long
@pytest.mark.parametrize("end", ["killed", "killed early", "killed after a fork", "terminated", "forgets"])
def test_workers_and_what_they_started_die_with_their_driver(tmp_path: Path, end: str) -> None:
    command = [sys.executable, "-c", DRIVER, os.path.dirname(__file__), str(tmp_path / "gate"), end.split()[-1]]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as driver:
        assert driver.stdout is not None
        pids: set[int] = set()
        if end == "killed early":
            driver.stdout.readline()
            pids = children_of(driver.pid)
        elif end != "forgets":
            pids = reported(tmp_path, 4)
        copies = {pid for pid in children_of(driver.pid) if os.getpgid(pid) == os.getpgid(driver.pid)}
        if end == "terminated":
            driver.terminate()
        elif end != "forgets":
            driver.kill()
        driver.wait(PATIENCE)
    time.sleep(0.5)  # long enough for one that goes on alone to report
    survivors = wait_until_dead(pids | reported(tmp_path, 0))
    for copy in copies:
        os.kill(copy, signal.SIGKILL)
    assert survivors == set()
    assert len(copies) == (end == "killed after a fork")


def test_paths_that_are_no_text_reach_the_workers_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    sys.path[0] = tmp_path  # type: ignore[call-overload]
    with closing(make_pool("processes", lambda x: 2.0 * x, 1)) as pool:
        pool.submit(0, 4.0)
        assert next_end(pool).outcome.value == 8.0
