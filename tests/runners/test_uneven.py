"""Uneven workers in the loop: the fast ones go first and get the last points, and time limits hold for each worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from aegisbo import Optimizer
from aegisbo.optimizer import Settings
from aegisbo.options import Options
from aegisbo.runners.loop import run
from aegisbo.runners.pools.threads import Threads
from aegisbo.runners.run import Run
from aegisbo.simulation.clock import TAKEN_AWAY, Member, VirtualWorkers
from aegisbo.simulation.laws import constant, pareto
from aegisbo.study import Study
from aegisbo.study.replay import replay

BOX = [(-5, 10), (2, 3)]
RANDOM = {"strategy": "random", "seed": 0}
UNEVEN = [Member(), Member(4.0), Member(), Member(4.0)]


def sphere(x: Any) -> float:
    return float((x[0] - 4) ** 2 + (x[1] - 2.5) ** 2)


class Told(Study):
    """A study that knows the paces from the start."""

    def __init__(self, paces: Mapping[int, float], study: Study | None = None) -> None:
        super().__init__(Optimizer(BOX, **RANDOM) if study is None else study.optimizer)
        self._paces = paces

    @property
    def paces(self) -> Mapping[int, float]:
        return self._paces


def team(members: list[Member], law: Any = constant) -> VirtualWorkers:
    return VirtualWorkers(sphere, len(members), law, 0, members=members)


def starts(record: Run) -> Iterator[tuple[int | None, float, float]]:
    """Which worker had each job, and from when to when."""
    for job in sorted(record.finished, key=lambda job: job.number):
        yield job.outcome.worker, job.started, job.finished


def test_the_fast_ones_go_first_and_get_the_last_points() -> None:
    """Jobs of 1 s, and of 4 s on workers 0 and 2: while one of them does one, the others do eight."""
    members = [Member(4.0), Member(), Member(4.0), Member()]
    paces = {0: 4.0, 2: 4.0}
    done = list(starts(run(Told(paces), team(members), 9)))
    assert done[:4] == [(1, 0.0, 1.0), (3, 0.0, 1.0), (0, 0.0, 4.0), (1, 1.0, 2.0)]
    assert {worker for worker, *_ in done[3:]} == {1, 3}
    assert max(end for _, _, end in done) == 4.0
    assert [worker for worker, *_ in starts(run(Told({}), team(members), 9))][:4] == [0, 1, 2, 3]


def test_a_worker_that_is_no_longer_known_as_slow_is_no_longer_kept_for_the_last() -> None:
    """The first four choices know worker 0 as slow; all jobs take a second."""

    class Reformed(Told):
        @property
        def paces(self) -> Mapping[int, float]:
            return self._paces if len(self.optimizer.trials) < 4 else {}

    found = [
        [worker for worker, *_ in starts(run(kind({0: 1.5}), team([Member()] * 3), 9))] for kind in (Told, Reformed)
    ]
    assert found == [[1, 2, 0, 1, 2, 0, 1, 2, 0], [1, 2, 0, 1, 0, 2, 0, 1, 2]]


def test_a_slow_worker_starts_nothing_that_fast_ones_will_have_done_before() -> None:
    members, paces = [Member(), Member(16.0)], {1: 16.0}
    assert run(Told({}), team(members), 20).makespan == 32.0
    record = run(Told(paces), team(members), 20)
    assert record.makespan == 19.0
    assert [worker for worker, *_ in starts(record)].count(1) == 1
    assert record.message == "The budget is spent."


def test_a_fast_worker_that_hangs_is_not_waited_for() -> None:
    class Hanging(VirtualWorkers):
        can_stop = False

        def seconds(self, number: int) -> float:
            return 1e6 if number == 0 else 1.0

    workers = Hanging(sphere, 2, constant, 0, members=[Member(), Member(16.0)])
    record = run(Told({1: 16.0}), workers, 6, options=Options(trial_timeout=20.0))
    assert record.message == "The budget is spent."
    assert [worker for worker, *_ in starts(record)].count(1) == 5


def test_nothing_is_started_that_would_not_end_on_this_worker() -> None:
    class Noted(VirtualWorkers):
        """Jobs of a second, on slow workers of four seconds."""

        def submit(self, number: int, x: Any) -> int:
            begun, worker = self.now(), super().submit(number, x)
            self.last = {**getattr(self, "last", {}), worker: begun}
            return worker

    optimizer, workers = Optimizer(BOX, **RANDOM), Noted(sphere, 4, constant, 0, members=UNEVEN)
    run(Study(optimizer), workers, 500, options=Options(timeout=30.5))
    assert set(optimizer.paces) == {0, 1, 2, 3}
    assert workers.last == {0: 29.0, 1: 24.0, 2: 29.0, 3: 24.0}
    assert not optimizer.pending  # nothing was cut off


def test_a_hurried_study_of_uneven_workers_is_replayed(tmp_path: Path) -> None:
    class ByPoint(VirtualWorkers):
        """Jobs of 1 to 100 seconds."""

        def submit(self, number: int, x: Any) -> int:
            self.points = {**getattr(self, "points", {}), number: x}
            return super().submit(number, x)

        def seconds(self, number: int) -> float:
            return float(100 ** ((self.points[number][0] + 5) / 15))

    path = tmp_path / "run.db"
    with Study.open(path, Settings.checked(BOX, **RANDOM)) as study:
        workers = ByPoint(sphere, 4, constant, 0, members=UNEVEN)
        run(study, workers, 500, options=Options(timeout=300.0))
        assert study.optimizer.paces
        notes = [trial.note for trial in study.optimizer.trials]
    assert any("within_seconds" in note for note in notes)
    assert replay(path).faithful


@pytest.mark.parametrize("timeout", [None, 4.0])
def test_where_workers_are_alike_everything_is_as_if_nobody_looked(timeout: float | None) -> None:
    found = []
    for blind in (False, True):
        study = Study(Optimizer(BOX, seed=0, strategy="aegis", preset="modern"))
        options = Options(timeout=timeout)
        record = run(Told({}, study) if blind else study, team([Member()] * 4, pareto), 16, options=options)
        found.append(([dict(trial.params) for trial in study.optimizer.trials], list(starts(record))))
    assert found[0] == found[1]


def test_pools_start_with_the_fastest_free_worker() -> None:
    pool = Threads(lambda x: None, 3)  # type: ignore[arg-type]
    assert pool.next_worker == 0
    pool.prefer({0: 2.0, 1: 1.5})
    assert pool.next_worker == 2
    pool.close()


def test_workers_that_are_taken_away_lose_their_jobs_and_come_back() -> None:
    workers = team([Member(), Member(stays=5.0, absent=3.0)])
    record = run(Study(Optimizer(BOX, **RANDOM)), workers, 40, options=Options(retries=99))
    lost = [job for job in record.finished if job.outcome.state == "lost"]
    assert lost
    assert {(job.outcome.worker, job.outcome.reason) for job in lost} == {(1, TAKEN_AWAY)}
    for gone in lost:
        again = [start for worker, start, _ in starts(record) if worker == 1 and start >= gone.finished]
        assert min(again, default=1e9) >= gone.finished + 3.0
    assert sum(job.outcome.state == "done" for job in record.finished) == 40
