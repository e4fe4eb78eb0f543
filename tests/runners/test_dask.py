"""Dask: clusters that are empty, missing or given by their address."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from waiting_jobs import check_that_waiting_is_not_being_called

from aegisbo import load, minimize
from aegisbo.errors import AegisError, MissingExtra
from aegisbo.outcome import judged
from aegisbo.runners.pools import dask as dask_module
from aegisbo.runners.pools.dask import Dask, connect
from aegisbo.study.replay import replay

distributed = pytest.importorskip("distributed")

BOX = [(-5, 10), (2, 3)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as cluster:
        yield cluster


def test_a_cluster_by_its_client_and_by_its_address(cluster: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with distributed.Client(cluster) as client:
        first = minimize(lambda x: x[0] ** 2, BOX, budget=6, n_initial=3, seed=1, executor=client, study=path)
        assert client.status == "running"  # it is the caller's, and stays open
    assert first.nfev == 6
    result = minimize(
        lambda x: x[0] ** 2, BOX, budget=10, n_initial=3, seed=1, executor=cluster.scheduler_address, study=path
    )
    assert [trial.state for trial in result.trials] == ["done"] * 10
    assert load(path).trials == result.trials
    assert replay(path).faithful


def test_what_the_cluster_cannot_stop_is_said(cluster: Any, logged: list[tuple[str, str]]) -> None:
    with distributed.Client(cluster) as client:
        minimize(lambda x: 1.0, BOX, budget=2, seed=1, executor=client, trial_timeout=60.0)
    level, text = logged[0]
    assert level == "WARNING"
    assert text.startswith("Tasks on a Dask cluster cannot be stopped")


def test_a_cluster_without_workers_needs_their_number() -> None:
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        distributed.Client(empty) as client,
        pytest.raises(AegisError, match="has no workers yet: start some, or say how many with workers="),
    ):
        minimize(lambda x: 1.0, BOX, budget=2, executor=client)


def test_a_job_that_waits_for_a_worker_has_not_been_called(tmp_path: Path) -> None:
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as narrow,
        distributed.Client(narrow) as client,
    ):
        check_that_waiting_is_not_being_called(lambda evaluation: Dask(client, evaluation, 2, ours=False), tmp_path)


class Task:
    """A future of a cluster that does nothing by itself."""

    def __init__(self, key: str) -> None:
        self.key, self.status, self.canceled = key, "pending", False
        self.done: Callable[[Any], None]

    def add_done_callback(self, done: Callable[[Any], None]) -> None:
        self.done = done

    def cancel(self) -> None:
        self.status, self.canceled = "cancelled", True
        self.done(self)


class ByHand:
    """A cluster whose workers come, call functions and go as a test says."""

    def __init__(self, *workers: str) -> None:
        self.status, self.workers, self.tasks = "running", set(workers), list[Task]()

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.workers, 1)

    def subscribe_topic(self, topic: str, hear: Callable[[Any], None]) -> None:
        self.hear = hear

    def unsubscribe_topic(self, topic: str) -> None:
        pass

    def cancel(self, futures: list[Task]) -> None:
        pass

    def submit(self, *call: Any, key: str, pure: bool) -> Task:
        self.tasks.append(Task(key))
        return self.tasks[-1]

    def call(self, number: int, worker: str) -> None:
        self.hear((0.0, (number, self.tasks[-1].key, worker, None)))


@pytest.fixture
def by_hand(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ByHand, Dask]]:
    monkeypatch.setattr(dask_module, "LOOK", 0.01)
    client = ByHand("a", "b")
    with closing(Dask(client, lambda x: judged(1.0), 2, ours=False)) as pool:
        yield client, pool


def test_a_job_whose_worker_is_gone_is_lost_and_its_task_disturbs_no_further_attempt(
    by_hand: tuple[ByHand, Dask],
) -> None:
    client, pool = by_hand
    pool.submit(0, None)
    client.call(0, "a")
    client.workers = {"b"}
    (end,) = pool.collect(60.0)
    assert (end.outcome.state, end.outcome.reason) == ("lost", "Its Dask worker a died.")
    pool.submit(0, None)  # the loop tries it again
    first, second = client.tasks
    assert first.canceled
    first.done(first)
    assert (pool.collect(0.1), second.canceled) == ([], False)


def test_a_job_that_dask_runs_again_elsewhere_is_left_there(by_hand: tuple[ByHand, Dask]) -> None:
    client, pool = by_hand
    pool.submit(0, None)
    client.call(0, "a")
    client.call(0, "b")
    client.workers = {"b"}
    assert pool.collect(0.2) == []
    assert not client.tasks[0].canceled


def test_a_cluster_that_has_lost_all_its_workers_is_waited_for_and_that_is_said_once(
    by_hand: tuple[ByHand, Dask], logged: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, pool = by_hand
    monkeypatch.setattr(dask_module, "NOTICE", 0.05)
    client.workers = set()
    time.sleep(0.2)
    assert logged == []  # nobody waits
    pool.submit(0, None)
    while not logged:
        time.sleep(0.01)
    assert pool.collect(0.2) == []
    assert [text.partition(":")[0] for _, text in logged] == [
        "The Dask cluster has no workers, and 1 evaluation waiting for one"
    ]


@pytest.mark.parametrize("ours", [True, False])
def test_a_client_of_our_own_is_closed_when_the_cluster_is_of_no_use(ours: bool) -> None:
    class Empty:
        closed = False

        def nthreads(self) -> dict[str, int]:
            return {}

        def close(self) -> None:
            self.closed = True

    client = Empty()
    with pytest.raises(AegisError, match="has no workers yet"):
        Dask(client, lambda x: judged(1.0), None, ours=ours)
    assert client.closed == ours


def test_an_address_of_an_unknown_kind_is_refused_in_one_sentence() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(AegisError, match=r"No Dask scheduler answers at ftp://here:1 \(unknown address scheme 'ftp'"):
        connect("ftp://here:1")


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"pip install 'aegisbo\[dask\]'"):
        connect("tcp://127.0.0.1:9")
