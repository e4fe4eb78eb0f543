"""One contract for every kind of pool: each job ends exactly once, on record first, and takes only itself down."""

from __future__ import annotations

import itertools
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from pool_jobs import behave, say, square, travel_badly, wait_for

from aegisbo.errors import InvalidInput
from aegisbo.outcome import Outcome, kept
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.pools.make_pool import make_pool
from aegisbo.runners.protocol import Finished

PATIENCE = 120.0  # seconds after which a job counts as swallowed by its pool


@dataclass
class Book:
    """A journal in memory."""

    known: int = 0
    rows: list[tuple[int, Outcome, float]] = field(default_factory=list)
    fails_at: int | None = None  # the trial at which the disk is full
    slow_at: int | None = None  # the trial whose writer is held up after it has its place
    lock: threading.Lock = field(default_factory=threading.Lock)

    def asked(self, trial: Any, memory: Any, seen: int, seconds: float) -> None:
        raise AssertionError("the loop writes down what is asked")

    def ended(self, number: int, outcome: Outcome, seconds: float) -> int:
        if number == self.fails_at:
            raise OSError("No space left on device")
        with self.lock:
            self.rows.append((number, outcome, seconds))
            event = 100 + len(self.rows)
        if number == self.slow_at:
            time.sleep(0.3)
        return event


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=False, dashboard_address=":0", protocol="inproc://"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


KINDS = ("processes", "threads", "serial", "thread executor", "process executor", "dask")
WAITING = tuple(kind for kind in KINDS if kind != "serial")  # their `submit` returns before the job is done


@contextmanager
def opened(
    request: pytest.FixtureRequest,
    kind: str,
    function: Callable[[Any], Any],
    capacity: int = 2,
    book: Book | None = None,
    **rest: Any,
) -> Iterator[Pool]:
    with ExitStack() as stack:
        executor: Any = kind
        if kind == "thread executor":
            executor = stack.enter_context(ThreadPoolExecutor(capacity))
        elif kind == "process executor":
            executor = stack.enter_context(ProcessPoolExecutor(capacity, get_context("spawn")))
        elif kind == "dask":
            executor = request.getfixturevalue("client")
        workers = None if kind == "serial" else capacity
        yield stack.enter_context(closing(make_pool(executor, function, workers, book, **rest)))


def gathered(pool: Pool, count: int) -> list[Finished]:
    """The next `count` jobs that end, and no more."""
    jobs: list[Finished] = []
    deadline = time.monotonic() + PATIENCE
    while len(jobs) < count and time.monotonic() < deadline:
        jobs.extend(pool.collect(deadline - time.monotonic()))
    assert len(jobs) == count
    return jobs


@pytest.mark.parametrize("kind", KINDS)
def test_every_job_ends_exactly_once_and_is_on_record_first(request: pytest.FixtureRequest, kind: str) -> None:
    book = Book()
    with opened(request, kind, square, 2, book) as pool:
        assert pool.capacity == (1 if kind == "serial" else 2)
        waiting, running, jobs = list(range(12)), 0, []
        while waiting or running:
            while waiting and running < pool.capacity:
                number = waiting.pop(0)
                pool.submit(number, number / 4)
                running += 1
            news = pool.collect(PATIENCE)
            assert news
            running -= len(news)
            jobs += news
        assert pool.collect(0.0) == []
        assert pool.collect(None) == []  # returns at once: nothing is running
    assert sorted(job.number for job in jobs) == list(range(12))
    assert all(job.outcome.value == (job.number / 4) ** 2 for job in jobs)
    assert book.rows == [(job.number, job.outcome, job.seconds) for job in jobs]
    assert [job.event for job in jobs] == list(range(101, 113))
    assert all(job.started <= job.finished <= pool.now() for job in jobs)
    assert all(0 <= job.seconds <= job.finished - job.started for job in jobs)


OUTCOMES = {
    "value": "done", "prints": "done", "raises": "failed", "raises without words": "failed", "nan": "invalid",
    "infinite": "invalid", "huge": "invalid", "none": "invalid", "text": "invalid", "complex": "invalid",
    "list": "invalid", "bad number": "failed", "exits": "failed", "exits with 0": "failed", "impolite": "failed",
    "interrupts": "lost",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_a_job_does_it_has_an_outcome_and_the_next_one_runs(request: pytest.FixtureRequest, kind: str) -> None:
    with opened(request, kind, behave, 1) as pool:
        found = {}
        for number, behavior in enumerate(OUTCOMES):
            pool.submit(number, behavior)
            (found[behavior],) = gathered(pool, 1)
            assert found[behavior].number == number
        pool.submit(99, "value")
        assert gathered(pool, 1)[0].outcome.value == 2.5
    assert {behavior: job.outcome.state for behavior, job in found.items()} == OUTCOMES
    failure = found["raises"].outcome
    assert failure.reason == "ValueError: diverged"
    assert "Traceback (most recent call last)" in failure.traceback
    assert "in behave" in failure.traceback
    assert "it must return a finite number" in found["nan"].outcome.reason
    assert found["exits"].outcome.reason == "SystemExit: bye"


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_job_prints_is_kept_with_it(request: pytest.FixtureRequest, kind: str) -> None:
    before = sys.stdout, sys.stderr
    words = ["one", "two", "é" * 5000]
    with opened(request, kind, say, 2) as pool:
        found = {}
        for number, word in enumerate(words):
            pool.submit(number, word)
            (job,) = gathered(pool, 1)
            found[words[job.number]] = job.outcome.output
    assert found["one"] == "one on stdout\none on stderr\n"
    assert found["two"] == "two on stdout\ntwo on stderr\n"
    assert found[words[2]] == "[...]\n" + (2 * (words[2] + " on stdout\n")).replace("out", "err")[-4096:]
    assert (sys.stdout, sys.stderr) == before


@pytest.mark.parametrize("kind", ["threads", "thread executor"])
def test_each_job_keeps_its_own_words_and_passes_them_on(
    request: pytest.FixtureRequest, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    together = threading.Barrier(2, timeout=PATIENCE)

    def talk(word: str) -> float:
        for _ in range(3):
            together.wait()
            say(word)
        return 1.0

    with opened(request, kind, talk, 2) as pool:
        for number, word in enumerate(("ping", "pong")):
            pool.submit(number, word)
        print("the driver's own")  # noqa: T201
        jobs = {job.number: job.outcome.output for job in gathered(pool, 2)}
    assert jobs == {k: 3 * f"{word} on stdout\n{word} on stderr\n" for k, word in enumerate(("ping", "pong"))}
    out, err = capsys.readouterr()
    assert sorted(out.split("\n")) == sorted(["", "the driver's own", *3 * ["ping on stdout", "pong on stdout"]])
    assert err.count("on stderr") == 6


@pytest.mark.parametrize("kind", KINDS)
def test_a_pool_carries_any_answer_if_it_is_told_to_keep_it(request: pytest.FixtureRequest, kind: str) -> None:
    answers = [None, True, math.inf, "text", {"of": [1, 2]}, Answer(3), ValueError("as a value")]
    with opened(request, kind, answers.__getitem__, 1, judge=kept) as pool:
        found = []
        for number in range(len(answers)):
            pool.submit(number, number)
            found += gathered(pool, 1)
        pool.submit(99, "no index")
        (failed,) = gathered(pool, 1)
    assert [repr(job.outcome.value) for job in found] == [repr(answer) for answer in answers]
    assert all(type(job.outcome.value) is type(answer) for job, answer in zip(found, answers, strict=True))
    assert {job.outcome.state for job in found} == {"done"}
    assert failed.outcome.state == "failed"
    assert failed.outcome.reason.startswith("TypeError")


@dataclass(frozen=True)
class Answer:
    of: int


@pytest.mark.parametrize("kind", ["processes", "process executor", "dask"])
def test_an_answer_that_cannot_travel_fails_and_the_next_one_arrives(request: pytest.FixtureRequest, kind: str) -> None:
    with opened(request, kind, travel_badly, 1, judge=kept) as pool:
        reasons = {}
        for number, way in enumerate(("out", "in", "well")):
            pool.submit(number, way)
            (job,) = gathered(pool, 1)
            reasons[way] = (job.outcome.state, job.outcome.reason)
    assert reasons == {
        "out": ("failed", "What the function returned cannot be sent back: TypeError: not without a permit"),
        "in": ("failed", "What the function returned cannot be read here: ValueError: no entry"),
        "well": ("done", ""),
    }


@pytest.mark.parametrize("kind", WAITING)
def test_collect_waits_no_longer_than_told_and_for_all_that_runs(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> None:
    gates = [tmp_path / "first", tmp_path / "second"]
    with opened(request, kind, wait_for, 2) as pool:
        for number, gate in enumerate(gates):
            pool.submit(number, str(gate))
        assert pool.collect(0.0) == []
        assert pool.collect(0.05) == []
        gates[1].touch()
        assert [job.number for job in gathered(pool, 1)] == [1]
        gates[0].touch()
        (last,) = pool.collect(None)
        assert last.number == 0
        assert pool.collect(None) == []


@pytest.mark.parametrize("kind", WAITING)
def test_a_pool_runs_as_many_jobs_at_once_as_it_says(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> None:
    with opened(request, kind, wait_for, 3) as pool:
        for number in range(3):
            pool.submit(number, str(tmp_path / f"gate{number}"))
        deadline = time.monotonic() + PATIENCE
        while len({file.name.split(".")[0] for file in tmp_path.glob("*.pid")}) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for number in range(3):
            (tmp_path / f"gate{number}").touch()
        assert sorted(job.number for job in gathered(pool, 3)) == [0, 1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_journal_that_cannot_be_written_is_an_error_of_collect(request: pytest.FixtureRequest, kind: str) -> None:
    with opened(request, kind, square, 1, Book(fails_at=1)) as pool:
        pool.submit(0, 3.0)
        assert gathered(pool, 1)[0].outcome.value == 9.0
        pool.submit(1, 3.0)
        with pytest.raises(OSError, match="No space left on device"):
            gathered(pool, 1)


@pytest.mark.parametrize("kind", ["threads", "thread executor", "dask"])
def test_results_are_handed_back_in_the_order_of_the_record(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> None:
    """Else a decision could claim to know an event, and yet not know one before it."""
    gate = tmp_path / "gate"
    with opened(request, kind, wait_for, 4, Book(slow_at=0)) as pool:
        for number in range(4):
            pool.submit(number, str(gate))
        gate.touch()
        events = [job.event for job in gathered(pool, 4)]
    assert events == [101, 102, 103, 104]


@pytest.mark.parametrize("kind", ["threads", "thread executor", "dask"])
def test_collect_waits_for_a_job_that_is_just_being_written_down(request: pytest.FixtureRequest, kind: str) -> None:
    with opened(request, kind, square, 1, book := Book(slow_at=0)) as pool:
        pool.submit(0, 3.0)
        while not book.rows:
            time.sleep(0.001)
        assert [job.number for job in pool.collect(None)] == [0]


@pytest.mark.parametrize("kind", WAITING)
def test_after_close_nothing_more_is_recorded(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> None:
    book = Book()
    gate = tmp_path / "gate"
    with opened(request, kind, wait_for, 2, book) as pool:
        pool.submit(0, str(gate))
        while not list(tmp_path.glob("*.pid")):
            time.sleep(0.01)
        pool.close()
        gate.touch()
        time.sleep(0.3)
        assert pool.collect(0.0) == []
        pool.close()  # once more does no harm
    assert book.rows == []


def test_a_closure_and_a_lambda_travel(request: pytest.FixtureRequest) -> None:
    shift = 10.0
    for kind, function in itertools.product(
        ("processes", "process executor", "dask"), (lambda x: x + shift, _Shift(shift), [1, shift].count)
    ):
        with opened(request, kind, function, 1) as pool:
            pool.submit(0, 0.0)
            assert gathered(pool, 1)[0].outcome.state == "done"


def our_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("aegisbo")}


@dataclass(frozen=True)
class _Shift:
    by: float

    def __call__(self, x: float) -> float:
        return x + self.by


@pytest.mark.parametrize("kind", ["processes", "process executor", "dask"])
def test_what_cannot_travel_is_refused_before_anything_starts(request: pytest.FixtureRequest, kind: str) -> None:
    lock = threading.Lock()

    def locked(x: float) -> float:
        with lock:
            return x

    before = our_threads()
    with (
        pytest.raises(InvalidInput, match=r'cannot be sent to another process .*lock.*executor="threads"'),
        opened(request, kind, locked, 1),
    ):
        pass
    assert our_threads() <= before


@pytest.mark.parametrize("kind", ["threads", "serial", "thread executor"])
def test_what_cannot_travel_need_not_in_this_process(request: pytest.FixtureRequest, kind: str) -> None:
    lock = threading.Lock()

    def locked(x: float) -> float:
        with lock:
            return x

    with opened(request, kind, locked, 1) as pool:
        pool.submit(0, 4.0)
        assert gathered(pool, 1)[0].outcome.value == 4.0


@pytest.mark.parametrize(
    ("executor", "workers", "message"),
    [
        ("proceses", None, 'executor is \'proceses\': use "processes", "threads", "serial", "slurm", "ray"'),
        (7, None, "executor is 7: use"),
        ("processes", 0, "workers is 0: give a whole number from 1"),
    ],
)
def test_nonsense_is_refused(executor: Any, workers: int | None, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make_pool(executor, square, workers, Book())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "processes"])
def test_only_worker_processes_have_threads_of_ours(request: pytest.FixtureRequest, kind: str) -> None:
    with (
        pytest.raises(InvalidInput, match=r'threads_per_worker=2 is for worker processes: .*executor="processes"'),
        opened(request, kind, square, 1, threads_per_worker=2),
    ):
        pass
    with pytest.raises(InvalidInput, match="threads_per_worker is 0: give a whole number from 1 to 100,000"):
        make_pool("processes", square, 1, threads_per_worker=0)


def test_the_size_of_an_executor_is_its_own_unless_said() -> None:
    with ThreadPoolExecutor(5) as executor:
        assert make_pool(executor, square, None, Book()).capacity == 5
        assert make_pool(executor, square, 3, Book()).capacity == 3


@pytest.mark.parametrize("kind", WAITING)
def test_what_is_given_up_is_not_recorded_and_keeps_its_worker_until_it_returns(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> None:
    book, gate = Book(), tmp_path / "gate"
    with opened(request, kind, wait_for, 1, book) as pool:
        pool.submit(0, str(gate))
        assert pool.give_up(0)
        assert pool.unfinished == 1
        gate.touch()
        (late,) = gathered(pool, 1)
        assert (late.number, book.rows, pool.unfinished) == (0, [], 0)
        pool.submit(1, str(gate))
        gathered(pool, 1)
        assert not pool.give_up(1)  # it has ended, and that is on record
        assert [number for number, _, _ in book.rows] == [1]


def test_only_processes_can_be_stopped(request: pytest.FixtureRequest) -> None:
    for kind in KINDS:
        with opened(request, kind, square, 1) as pool:
            assert pool.can_stop == (kind == "processes")
            pool.stop(7)  # not running: nothing happens
