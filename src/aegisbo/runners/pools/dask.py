"""Evaluations on a Dask cluster."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from logging import getLogger
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any
from uuid import uuid4

from aegisbo.errors import AegisError, MissingExtra
from aegisbo.outcome import Outcome
from aegisbo.printable import so_many
from aegisbo.runners.evaluation import Evaluation
from aegisbo.runners.packing import evaluate_packed, pack, unpack_outcome
from aegisbo.runners.pools.base import Pool, lost_by
from aegisbo.runners.protocol import WorkersGone
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
        say = partial(_say, self._run, number, key)
        self._tasks[number] = task = _Task(key)
        task.future = self._client.submit(
            at_slot, worker, evaluate_packed, self._packed, point, say, key=key, pure=False
        )
        task.future.add_done_callback(lambda done: self._end(number, key, _outcome(done)))

    def _hear(self, event: tuple[float, tuple[int, str, str]]) -> None:
        _, (number, key, worker) = event
        task = self._tasks.get(number)
        if task is not None and task.key == key:
            task.worker = worker
            self._called(number)

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


def _say(run: str, number: int, key: str) -> None:
    """On the cluster: report that the function is being called, and where."""
    from distributed import get_worker

    worker = get_worker()
    worker.log_event(run, (number, key, worker.address))


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
