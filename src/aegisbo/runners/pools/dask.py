"""Evaluations on a Dask cluster."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from logging import getLogger
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any
from uuid import uuid4

from aegisbo.errors import AegisError, MissingExtra
from aegisbo.outcome import Outcome, Report
from aegisbo.printable import so_many
from aegisbo.runners.evaluation import Evaluation
from aegisbo.runners.packing import evaluate_packed, pack, unpack_outcome
from aegisbo.runners.pools.base import Pool, lost_by
from aegisbo.runners.protocol import WorkersGone
from aegisbo.runners.reports import Line
from aegisbo.runners.slots import at_slot

LOOK = 1.0  # seconds between two looks at the list of workers
NOTICE = 30.0  # seconds without workers, while jobs wait, before a warning

Client = Any  # distributed.Client, which has no types and is loaded only when it is used


@dataclass
class _Task:
    """The Dask task of a job that has not ended."""

    key: str
    future: Any = None
    worker: str | None = None  # where the function was called last; None if it has not been yet


class Dask(Pool):
    """Jobs on the workers of a cluster. Dask itself moves a job elsewhere when its worker dies.

    If there is no other worker, or that one dies too, the job is lost, and the loop counts how often. Jobs report where
    and when they call the function, because waiting for a worker is not part of its time.
    """

    name = "Tasks on a Dask cluster"
    hears = True
    reports_calls = True

    def __init__(self, client: Client, evaluation: Evaluation, capacity: int | None, *, ours: bool) -> None:
        self._client = client
        self._ours = ours  # whether the client was made here and must be closed here
        try:
            self._packed = pack(evaluation)
            threads = sum(client.nthreads().values())
            if not capacity and not threads:
                raise AegisError("The Dask cluster has no workers yet: start some, or say how many with workers=.")
        except AegisError:
            if ours:
                client.close()
            raise
        super().__init__(capacity or threads)
        self._run = f"aegisbo-{uuid4().hex[:8]}"  # also the topic of the jobs' reports
        client.subscribe_topic(self._run, self._hear)
        self._tasks: dict[int, _Task] = {}  # by number
        self._taking = Lock()  # so that each task is taken once
        self._closed = Event()
        Thread(target=self._watch, name="aegisbo-dask", daemon=True).start()

    def close(self) -> None:
        """Cancel queued jobs; those that run on a worker cannot be stopped."""
        self._forget()
        self._closed.set()
        if self._client.status == "running":
            self._client.unsubscribe_topic(self._run)
            self._client.cancel([task.future for task in tuple(self._tasks.values()) if task.future is not None])
        if self._ours:
            self._client.close()

    def _start(self, number: int, point: bytes, worker: int) -> None:
        if self._client.status != "running":
            raise WorkersGone(
                "The Dask scheduler is gone. Nothing that has ended is lost: start it and make the same call again."
            )
        key = f"{self._run}-{number}-{uuid4().hex[:4]}"
        self._tasks[number] = task = _Task(key)
        task.future = self._client.submit(
            at_slot, worker, _evaluated, self._packed, point, self._run, number, key, key=key, pure=False
        )
        task.future.add_done_callback(lambda done: self._end(number, key, _outcome(done)))

    def tell(self, number: int, reason: str = "") -> None:
        task = self._tasks.get(number)
        if task is not None and task.worker is not None:
            with suppress(Exception):  # the scheduler is gone: starting the next job will report it
                self._client.run(_answer, task.key, reason, workers=[task.worker], wait=False, on_error="ignore")

    def _hear(self, event: tuple[float, tuple[int, str, str, list[Any] | None]]) -> None:
        _, (number, key, worker, report) = event
        task = self._tasks.get(number)
        if task is None or task.key != key:
            return
        task.worker = worker
        if report is None:
            self._called(number)
        else:
            self._heard(number, Report(*report))

    def _end(self, number: int, key: str, outcome: Outcome) -> None:
        """Report the end of a job, unless this is a task of an earlier attempt."""
        with self._taking:
            task = self._tasks.get(number)
            if task is None or task.key != key:
                return
            del self._tasks[number]
        self._ended(number, outcome)

    def _watch(self) -> None:
        """The thread: watch the list of workers until the pool is closed."""
        seen, said = monotonic(), False  # when there was a worker, or nothing to do
        while not self._closed.wait(LOOK):
            with suppress(Exception):  # the scheduler does not answer, or is gone: starting the next job will report it
                there = set(self._client.nthreads()) if self._tasks else set()
                self._report_what_died(there)
                if there or not self._tasks:
                    seen, said = monotonic(), False
                elif not said and monotonic() - seen > NOTICE:
                    said = True
                    getLogger("aegisbo").warning(
                        f"The Dask cluster has no workers, and {so_many(len(self._tasks), 'evaluation')} waiting for "
                        "one: start some, or press Ctrl-C twice to end the run. Nothing that has ended is lost."
                    )

    def _report_what_died(self, there: set[str]) -> None:
        """End the jobs of workers that are gone, unless another worker runs them meanwhile."""
        dead = {
            number: task
            for number, task in tuple(self._tasks.items())
            if task.worker is not None and task.worker not in there
        }
        jobs = Counter(task.worker for task in dead.values())
        for number, task in dead.items():
            several = jobs[task.worker] > 1  # it is unknown which one did it
            self._end(number, task.key, Outcome("lost", reason=f"Its Dask worker {task.worker} died.", shared=several))
            task.future.cancel()  # Dask would run it again


_lines: dict[str, Line] = {}  # on the cluster: of the tasks that run in this process, by key


def _evaluated(packed: bytes, point: bytes, run: str, number: int, key: str) -> bytes:
    """On the cluster: the outcome of a point; tells when the function is called, where, and what it reports."""
    from distributed import get_worker

    worker = get_worker()

    def say(report: Report | None = None) -> None:
        worker.log_event(run, (number, key, worker.address, report))

    _lines[key] = line = Line(say)
    try:
        return evaluate_packed(packed, point, say, line)
    finally:
        del _lines[key]


async def _answer(key: str, reason: str) -> None:
    """On the cluster, in its event loop: pass the answer to a report on to its task, if that still runs."""
    if (line := _lines.get(key)) is not None:
        line.hear(reason)


def _outcome(future: Any) -> Outcome:
    if future.status not in ("finished", "error"):
        return Outcome("lost", reason=f"Dask reports the task as {future.status}.")
    try:
        return unpack_outcome(future.result())
    except BaseException as error:
        return lost_by(error)


def connect(address: str) -> Client:
    """A client of the scheduler at this address."""
    try:
        import distributed
    except ImportError:
        raise MissingExtra("A Dask cluster", "dask") from None
    try:
        return distributed.Client(address, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:  # no answer, or not an address
        raise AegisError(f"No Dask scheduler answers at {address} ({error}): check the address.") from error
