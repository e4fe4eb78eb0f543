"""Campaigns: the same records whatever does the runs and however often it is stopped, and no run done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from aegis_paper import campaign, execution
from aegis_paper.campaign import Outlook, carry_out, unfinished
from aegis_paper.execution import Done, Jobs, perform, perform_all
from aegis_paper.job_cluster import JobCluster
from aegis_paper.job_processes import JobProcesses
from aegis_paper.plan import Plan, parse_plan
from aegis_paper.records import Records
from aegis_paper.runs import Spec
from runners.processes_of import children_of, wait_until_dead

from aegisbo.errors import AegisError, MissingExtra, UnknownName
from aegisbo.simulation.runs import Record

PATIENCE = 120.0  # seconds, for a machine that is busy with other things

TINY = """
[[block]]
problems = ["Branin"]
methods = ["aegis", "random"]
workers = [2]
runs = 3
budget = 7
"""


@pytest.fixture
def plan() -> Plan:
    return parse_plan("tiny", TINY)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "records")


class Here:
    """Runs one after the other in this process, and remembers which."""

    capacity = 1

    def __init__(self) -> None:
        self.begun: list[Spec] = []

    def start(self, spec: Spec) -> None:
        self.begun.append(spec)

    def finish(self) -> Done:
        return perform(self.begun[-1])


class Three(Here):
    """Three runs at a time, of which the one that began last ends first."""

    capacity = 3

    def __init__(self) -> None:
        super().__init__()
        self.running: list[Spec] = []
        self.seen: list[int] = []

    def start(self, spec: Spec) -> None:
        self.running.append(spec)
        self.seen.append(len(self.running))

    def finish(self) -> Done:
        return Done(self.running.pop())


def complete(plan: Plan, records: Records, jobs: Jobs) -> list[Done]:
    return list(carry_out(unfinished(plan, records), records, jobs))


def on_record(records: Records) -> dict[Spec, Record]:
    return {record.spec: record for cell in records.cells() for record in records.load(cell)}


def without_seconds(records: Iterable[Record]) -> set[Record]:
    """What must be equal: all but the measured seconds."""
    return {
        replace(record, evaluations=tuple(replace(each, suggestion_seconds=0.0) for each in record.evaluations))
        for record in records
    }


def uninterrupted(plan: Plan, folder: Path) -> set[Record]:
    records = Records(folder)
    complete(plan, records, Here())
    return without_seconds(on_record(records).values())


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
def test_processes_of_one_blas_thread_give_the_records_of_none(
    plan: Plan, records: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "5")
    environment, others = dict(os.environ), children_of(os.getpid())
    with JobProcesses(2) as jobs:
        done = complete(plan, records, jobs)
        processes = children_of(os.getpid()) - others - tracker()
        theirs = [set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")) for pid in processes]
    assert {each.spec for each in done} == set(plan.specs())
    assert min(each.seconds for each in done) > 0
    assert without_seconds(on_record(records).values()) == uninterrupted(plan, tmp_path / "alone")
    one_thread = {b"OPENBLAS_NUM_THREADS=1", b"OMP_NUM_THREADS=1", b"MKL_NUM_THREADS=1"}
    assert [one_thread <= each for each in theirs] == [True, True]
    assert dict(os.environ) == environment
    assert wait_until_dead(processes) == set()


def tracker() -> set[int]:
    """Python's own process that lives as long as this one."""
    from multiprocessing import resource_tracker

    return {resource_tracker._resource_tracker._pid}


def test_a_run_on_record_is_not_done_again(plan: Plan, records: Records) -> None:
    first, second = Here(), Here()
    for _ in islice(carry_out(unfinished(plan, records), records, first), 2):
        pass
    kept = on_record(records)
    assert [*kept] == [spec for spec in first.begun if spec in records]
    assert len(kept) == 2
    complete(plan, records, second)
    assert sorted([*kept, *second.begun], key=str) == sorted(plan.specs(), key=str)
    assert all(on_record(records)[spec] == record for spec, record in kept.items()), "a run was replaced"
    assert unfinished(plan, records) == []


def test_what_is_missing_comes_in_the_order_of_the_plan(plan: Plan, records: Records) -> None:
    complete(plan.only({"methods": ["random"]}), records, Here())
    missing = unfinished(plan.with_all(runs=4), records)
    assert [(spec.strategy, spec.run) for spec in missing] == [
        ("aegis", 0),
        ("aegis", 1),
        ("aegis", 2),
        ("aegis", 3),
        ("random", 3),
    ]


def test_an_impossible_run_is_refused_before_anything_runs(records: Records) -> None:
    plan = parse_plan("typo", TINY.replace('"random"', '"randm"'))
    with pytest.raises(UnknownName, match="did you mean 'random'"):
        unfinished(plan, records)


def test_the_cost_of_a_run_is_the_work_and_not_the_waiting(
    plan: Plan, records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate = execution.simulate
    monkeypatch.setattr(execution, "simulate", lambda spec: time.sleep(0.3) or simulate(spec))
    (done,) = complete(plan.with_all(runs=1).only({"methods": ["random"]}), records, Here())
    assert records.core_seconds(records.cells()[0]) == {0: done.core_seconds}
    assert 0 < done.core_seconds < done.seconds - 0.2


def test_a_run_that_fails_ends_no_other(plan: Plan, records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate = execution.simulate

    def fragile(spec: Spec) -> Record:
        if (spec.strategy, spec.run) == ("aegis", 1):
            raise ArithmeticError("no Cholesky factor")
        return simulate(spec)

    monkeypatch.setattr(execution, "simulate", fragile)
    (failed,) = (done for done in complete(plan, records, Here()) if done.record is None)
    assert failed.failure == "ArithmeticError: no Cholesky factor"
    assert unfinished(plan, records) == [failed.spec]


def test_all_places_are_busy_while_there_are_runs(plan: Plan) -> None:
    jobs, specs = Three(), list(plan.specs())
    done = []
    for count, each in enumerate(perform_all(specs, jobs), start=1):
        assert len(jobs.running) == min(3, len(specs) - count)
        done.append(each.spec)
    assert sorted(done, key=str) == sorted(specs, key=str)
    assert max(jobs.seen) == 3


def test_the_time_left_counts_every_kind_of_run_with_its_own_cost(monkeypatch: pytest.MonkeyPatch, plan: Plan) -> None:
    clock = iter([100.0, 130.0, 130.0])
    monkeypatch.setattr(campaign, "monotonic", lambda: next(clock))
    specs = list(plan.specs())
    outlook = Outlook(specs)
    assert outlook.seconds_left() == float("inf")
    outlook.note(Done(specs[0], seconds=50.0))
    assert outlook.seconds_left() == pytest.approx(5 * 50.0 * 30 / 50)  # of random, nothing is known yet
    outlook.note(Done(specs[1], seconds=10.0))
    outlook.note(Done(specs[2], seconds=60.0))
    assert outlook.seconds_left() == pytest.approx((1 * 55.0 + 2 * 10.0) * 30 / 120)


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"pip install 'aegisbo\[dask\]'"):
        JobCluster("tcp://127.0.0.1:9")


@pytest.mark.long
def test_a_process_that_dies_takes_one_run_with_it(records: Records) -> None:
    plan = parse_plan("slow", TINY.replace("budget = 7", "budget = 40"))
    others = children_of(os.getpid())
    with JobProcesses(2) as jobs:
        ended = carry_out(unfinished(plan, records), records, jobs)
        done = [next(ended)]
        victim = min(children_of(os.getpid()) - others - tracker())
        os.kill(victim, signal.SIGKILL)
        done += ended
    assert [each.failure for each in done if each.record is None] in (
        [],  # it had finished its last run
        ["Its process ended with exit code -9."],
    )
    assert len(on_record(records)) >= len(done) - 1 == 5
    complete(plan, records, Here())
    assert set(on_record(records)) == set(plan.specs())


SLOWER = TINY.replace("budget = 7", "budget = 24").replace('"random"', '"thompson"').replace("runs = 3", "runs = 6")


# Who starts the tests in the background may have had Ctrl-C ignored for all that comes after.
COMMAND = """
import signal
from aegis_paper.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


@pytest.fixture
def driven(tmp_path: Path) -> Iterator[Any]:
    """Starts the command on a plan; nothing that it started is left behind."""
    file, said = tmp_path / "slower.toml", tmp_path / "said"
    file.write_text(SLOWER)
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", COMMAND, "run", str(file)]
        with said.open("w") as errors:
            options = ["--jobs", "2", "--out", str(tmp_path / "records")]
            started.append(subprocess.Popen([*command, *options], stderr=errors))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def wait_for_runs(records: Records, count: int, driver: subprocess.Popen[bytes]) -> None:
    """Until so many runs are on record, or nobody makes more."""
    deadline = time.monotonic() + PATIENCE
    while sum(len(records.runs(cell)) for cell in records.cells()) < count and driver.poll() is None:
        assert time.monotonic() < deadline, f"fewer than {count} runs after {PATIENCE} s"
        time.sleep(0.05)


@pytest.mark.long
def test_a_campaign_killed_again_and_again_ends_with_the_same_records(
    driven: Any, records: Records, tmp_path: Path
) -> None:
    kept: dict[Spec, Record] = {}
    for new_runs in (1, 2, 1):
        driver = driven()
        wait_for_runs(records, len(kept) + new_runs, driver)
        processes = children_of(driver.pid)
        driver.kill()
        driver.wait()
        assert wait_until_dead(processes, PATIENCE) == set(), "a process outlived its parent"
        found = on_record(records)
        assert kept.items() <= found.items(), "a finished run was lost or done again"  # seconds would differ
        kept = found
    assert 4 <= len(kept) < 12, "it was over too soon to be interrupted"
    assert driven().wait(PATIENCE) == 0, (tmp_path / "said").read_text()
    final = on_record(records)
    assert kept.items() <= final.items()
    assert without_seconds(final.values()) == uninterrupted(parse_plan("slower", SLOWER), tmp_path / "alone")


@pytest.mark.long
def test_ctrl_c_ends_all_processes_and_says_how_to_go_on(driven: Any, records: Records, tmp_path: Path) -> None:
    driver = driven()
    wait_for_runs(records, 1, driver)
    processes, kept = children_of(driver.pid), on_record(records)
    driver.send_signal(signal.SIGINT)
    assert driver.wait(PATIENCE) == 130
    said = (tmp_path / "said").read_text()
    assert said.endswith(f"Finished runs are in {records.folder}: the same command goes on from there.\n")
    assert "Traceback" not in said
    assert wait_until_dead(processes, PATIENCE) == set()
    assert kept.items() <= on_record(records).items()


@pytest.mark.long
def test_a_dask_cluster_gives_the_same_records(plan: Plan, records: Records, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with JobCluster(cluster.scheduler_address) as jobs:
            assert jobs.capacity == 4
            done = complete(plan, records, jobs)
        assert {each.failure for each in done} == {""}
        assert {each.build["aegisbo"] for each in done} != {None}
    assert without_seconds(on_record(records).values()) == uninterrupted(plan, tmp_path / "alone")


@pytest.mark.long
def test_an_empty_cluster_is_refused() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        pytest.raises(AegisError, match="has no workers yet: start some"),
    ):
        JobCluster(empty.scheduler_address)
