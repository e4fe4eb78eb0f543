"""More and fewer workers while jobs are running: nobody is killed, no slot is used twice, and no time is miscounted."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from runners.collected_jobs import PATIENCE, collected
from runners.processes_of import wait_until_dead

import aegisbo
from aegisbo.outcome import kept
from aegisbo.runners.idle import Idle, JobTimes, idle_of
from aegisbo.runners.pools.make_pool import make_pool


def meet(gate: tuple[str, int]) -> Any:
    """Wait until so many are here; then the slot, a variable and the process."""
    folder, others = Path(gate[0]), gate[1]
    (folder / f"{aegisbo.worker().slot}.here").touch()
    while len(list(folder.glob("*.here"))) < others:
        pass
    return aegisbo.worker().slot, os.environ.get("DEVICE"), os.getpid()


def values_of(pool: Any, count: int) -> list[Any]:
    return sorted(job.outcome.value for job in collected(pool, count))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["processes", "threads", "executor"])
def test_a_pool_grows_while_a_job_runs_and_shrinks_without_stopping_one(kind: str, tmp_path: Path) -> None:
    gates = [tmp_path / name for name in "abc"]
    for gate in gates:
        gate.mkdir()
    with ExitStack() as stack:
        executor = stack.enter_context(ThreadPoolExecutor(3)) if kind == "executor" else kind
        env: Any = {"worker_env": lambda slot: {"DEVICE": f"gpu{slot}"}} if kind == "processes" else {}
        pool = stack.enter_context(closing(make_pool(executor, meet, 1, judge=kept, **env)))
        pool.submit(0, (str(gates[0]), 3))  # waits for two others
        pool.resize(3)
        assert [pool.submit(1, (str(gates[0]), 3)), pool.submit(2, (str(gates[0]), 3))] == [1, 2]
        first = values_of(pool, 3)
        assert [slot for slot, *_ in first] == [0, 1, 2]

        assert [pool.submit(number, (str(gates[1]), 3)) for number in (3, 4)] == [0, 1]
        pool.resize(1)
        (gates[1] / "go.here").touch()
        second = values_of(pool, 2)  # also that of the worker that is to go
        pool.resize(2)
        for number in (5, 6):
            pool.submit(number, (str(gates[2]), 2))
        third = values_of(pool, 2)
        assert [slot for slot, *_ in second] == [slot for slot, *_ in third] == [0, 1]
        if kind == "processes":
            assert [device for _, device, _ in (*first, *third)] == ["gpu0", "gpu1", "gpu2", "gpu0", "gpu1"]
            assert second == first[:2]  # the same processes
            assert third[0] == first[0]
            assert wait_until_dead({pid for *_, pid in first[1:]}, PATIENCE) == set()


def test_a_job_of_a_worker_that_goes_can_still_be_stopped(tmp_path: Path) -> None:
    with closing(make_pool("processes", meet, 2, judge=kept)) as pool:
        for number in (0, 1):
            pool.submit(number, (str(tmp_path), 9))
        pool.resize(1)
        pool.stop(1, "Enough.")
        (job,) = pool.collect(PATIENCE)
        assert (job.number, job.outcome.state, job.outcome.reason) == (1, "timed_out", "Enough.")


def test_time_is_that_of_the_workers_that_were_wanted() -> None:
    jobs = [(0, 0.0, 9.0, 9.0), (1, 5.0, 8.0, 2.0), (1, 17.0, 18.0, 1.0), (2, 5.0, 7.0, 2.0)]
    sizes = [(0.0, 1), (4.0, 3), (6.0, 1), (6.5, 1), (16.0, 2)]  # the third finishes its job at 7, the second at 8
    first, second, third = idle_of([JobTimes(*job) for job in jobs], sizes, 20.0)
    assert first == Idle(busy=9.0, suggestion=8.0, pool=0.0, nothing=3.0)
    assert second == Idle(busy=3.0, suggestion=1.0 + 1.0, pool=1.0, nothing=2.0)  # from 4 to 8 and from 16 to 20
    assert third == Idle(busy=2.0, suggestion=1.0, pool=0.0, nothing=0.0)
