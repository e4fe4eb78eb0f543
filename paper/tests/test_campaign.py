"""Campaigns: the same records whatever does the runs and however often it is stopped, and no run done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from aegis_paper import campaign
from aegis_paper.campaign import Done, Outlook, carry_out, perform, unfinished
from aegis_paper.cli.run import pool_for
from aegis_paper.plans import Plan, parse_plan
from aegis_paper.records import Records
from aegis_paper.runs import Cell, Spec
from pool_here import Here
from runners.processes_of import children_of, wait_until_dead
from threadpoolctl import threadpool_info, threadpool_limits

from aegisbo.errors import AegisError, MissingExtra, UnknownName
from aegisbo.outcome import Outcome
from aegisbo.runners.protocol import Finished, Workers
from aegisbo.simulation.runs import SimulatedRun, simulate

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
    return Records(tmp_path / "records.sqlite")


class Three(Here):
    """Three runs at a time, of which the one that began last ends first."""

    capacity = 3

    def __init__(self) -> None:
        super().__init__()
        self.running: list[int] = []
        self.seen: list[int] = []

    def submit(self, number: int, x: Any) -> None:
        self.running.append(number)
        self.seen.append(len(self.running))

    def collect(self, timeout: float | None = None) -> list[Finished]:
        return [Finished(self.running.pop(), Outcome("lost", reason="not run"), 0.0, 1.0)]


def complete(plan: Plan, records: Records, pool: Workers) -> list[Done]:
    return list(carry_out(unfinished(plan, records), records, pool))


def on_record(records: Records) -> dict[Spec, list[float]]:
    """The scores of all runs."""
    return {cell.spec(run): curve.tolist() for cell in records.runs() for run, curve in records.curves(cell).items()}


def costs(records: Records) -> dict[Spec, float]:
    """The measured seconds of all runs: a run that was done again would have others."""
    settings = [*(field.name for field in fields(Cell)), "run"]
    rows = records.headers().to_dict("records")
    return {Spec(**{name: row[name] for name in settings}): row["core_seconds"] for row in rows}


def makespans(records: Records) -> list[float]:
    return sorted(records.headers()["makespan"])


def uninterrupted(plan: Plan, file: Path) -> Records:
    records = Records(file)
    complete(plan, records, Here())
    return records


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
def test_processes_give_the_records_of_none(plan: Plan, records: Records, tmp_path: Path) -> None:
    others = children_of(os.getpid())
    with closing(pool_for(2, None)) as pool:
        done = complete(plan, records, pool)
        processes = children_of(os.getpid()) - others
    assert {each.spec for each in done} == set(plan.specs())
    assert min(each.seconds for each in done) > 0
    alone = uninterrupted(plan, tmp_path / "alone.sqlite")
    assert (on_record(records), makespans(records)) == (on_record(alone), makespans(alone))
    assert len(processes) == 2
    assert wait_until_dead(processes) == set()


def test_a_run_uses_one_blas_thread(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def looking(spec: Spec) -> SimulatedRun:
        seen.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return simulate(spec)

    monkeypatch.setattr(campaign, "simulate", looking)
    with threadpool_limits(2, user_api="blas"):
        perform(next(iter(plan.specs())))
    assert set(seen) == {1}


def test_a_run_on_record_is_not_done_again(plan: Plan, records: Records) -> None:
    first, second = Here(), Here()
    for _ in islice(carry_out(unfinished(plan, records), records, first), 2):
        pass
    kept = costs(records)
    assert [*kept] == [spec for spec in first.begun if spec in records]
    assert len(kept) == 2
    complete(plan, records, second)
    assert sorted([*kept, *second.begun], key=str) == sorted(plan.specs(), key=str)
    assert kept.items() <= costs(records).items(), "a run was replaced"
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
    monkeypatch.setattr(campaign, "simulate", lambda spec: time.sleep(0.3) or simulate(spec))
    (done,) = complete(plan.with_all(runs=1).only({"methods": ["random"]}), records, Here())
    (cost,) = records.headers()["core_seconds"]
    assert 0 < cost < done.seconds - 0.2


def test_a_run_that_fails_ends_no_other(plan: Plan, records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    def fragile(spec: Spec) -> SimulatedRun:
        if (spec.strategy, spec.run) == ("aegis", 1):
            raise ArithmeticError("no Cholesky factor")
        return simulate(spec)

    monkeypatch.setattr(campaign, "simulate", fragile)
    (failed,) = (done for done in complete(plan, records, Here()) if done.performed is None)
    assert failed.failure == "ArithmeticError: no Cholesky factor"
    assert unfinished(plan, records) == [failed.spec]


def test_all_places_are_busy_while_there_are_runs(plan: Plan, records: Records) -> None:
    pool, specs = Three(), list(plan.specs())
    done = []
    for count, each in enumerate(carry_out(specs, records, pool), start=1):
        assert len(pool.running) == min(3, len(specs) - count)
        assert each.failure == "not run"
        done.append(each.spec)
    assert sorted(done, key=str) == sorted(specs, key=str)
    assert max(pool.seen) == 3
    assert not records.file.exists()


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
        pool_for(1, "tcp://127.0.0.1:9")


@pytest.mark.long
def test_a_process_that_dies_takes_one_run_with_it(records: Records) -> None:
    plan = parse_plan("slow", TINY.replace("budget = 7", "budget = 40"))
    others = children_of(os.getpid())
    with closing(pool_for(2, None)) as pool:
        ended = carry_out(unfinished(plan, records), records, pool)
        done = [next(ended)]
        victim = min(children_of(os.getpid()) - others)
        os.kill(victim, signal.SIGKILL)
        done += ended
    assert [each.failure for each in done if each.performed is None] in (
        [],  # it had finished its last run
        ["Its process ended by signal SIGKILL."],
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
            options = ["--jobs", "2", "--out", str(tmp_path / "records.sqlite")]
            started.append(subprocess.Popen([*command, *options], stderr=errors))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def wait_for_runs(records: Records, count: int, driver: subprocess.Popen[bytes]) -> None:
    """Until so many runs are on record, or nobody makes more."""
    deadline = time.monotonic() + PATIENCE
    while sum(map(len, records.runs().values())) < count and driver.poll() is None:
        assert time.monotonic() < deadline, f"fewer than {count} runs after {PATIENCE} s"
        time.sleep(0.05)


@pytest.mark.long
def test_a_campaign_killed_again_and_again_ends_with_the_same_records(
    driven: Any, records: Records, tmp_path: Path
) -> None:
    kept: dict[Spec, float] = {}
    for new_runs in (1, 2, 1):
        driver = driven()
        wait_for_runs(records, len(kept) + new_runs, driver)
        processes = children_of(driver.pid)
        driver.kill()
        driver.wait()
        assert wait_until_dead(processes, PATIENCE) == set(), "a process outlived its parent"
        found = costs(records)
        assert kept.items() <= found.items(), "a finished run was lost or done again"
        kept = found
    assert 4 <= len(kept) < 12, "it was over too soon to be interrupted"
    assert driven().wait(PATIENCE) == 0, (tmp_path / "said").read_text()
    assert kept.items() <= costs(records).items()
    alone = uninterrupted(parse_plan("slower", SLOWER), tmp_path / "alone.sqlite")
    assert (on_record(records), makespans(records)) == (on_record(alone), makespans(alone))


@pytest.mark.long
def test_ctrl_c_ends_all_processes_and_says_how_to_go_on(driven: Any, records: Records, tmp_path: Path) -> None:
    driver = driven()
    wait_for_runs(records, 1, driver)
    processes, kept = children_of(driver.pid), costs(records)
    driver.send_signal(signal.SIGINT)
    assert driver.wait(PATIENCE) == 130
    said = (tmp_path / "said").read_text()
    assert said.endswith(f"Finished runs are in {records.file}: the same command goes on from there.\n")
    assert "Traceback" not in said
    assert wait_until_dead(processes, PATIENCE) == set()
    assert kept.items() <= costs(records).items()


@pytest.mark.long
def test_a_dask_cluster_gives_the_same_records(plan: Plan, records: Records, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with closing(pool_for(1, cluster.scheduler_address)) as pool:
            assert pool.capacity == 2
            done = complete(plan, records, pool)
        assert {each.failure for each in done} == {""}
        assert {build["aegisbo"] for build in records.headers()["build"]} != {None}
    alone = uninterrupted(plan, tmp_path / "alone.sqlite")
    assert (on_record(records), makespans(records)) == (on_record(alone), makespans(alone))


@pytest.mark.long
def test_an_empty_cluster_is_refused() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        pytest.raises(AegisError, match="has no workers yet: start some"),
    ):
        pool_for(1, empty.scheduler_address)
