"""Evaluations in worker processes: one that hangs can be stopped, one that crashes takes no other with it.

Each worker is a fresh interpreter (`child.py`, `worker.py`), and a thread here waits for it. Nothing of the calling
script is run again in it, so scripts need no `if __name__ == "__main__"`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread

from aegisbo.outcome import Outcome, Report
from aegisbo.runners.evaluation import Evaluation, error_text
from aegisbo.runners.packing import pack, unpack_outcome
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.pools.child import GRACE, Child, Died
from aegisbo.runners.pools.worker import CALLED

Environments = Callable[[int], Sequence[Mapping[str, str]]]  # from the number of workers to the variables of each


class Processes(Pool):
    """Local worker processes. They start, and load the function, when the pool is made."""

    name = "Processes"
    can_stop = True
    hears = True
    reports_calls = True

    def __init__(self, evaluation: Evaluation, environments: Environments, capacity: int) -> None:
        super().__init__(capacity)
        self._packed = pack(evaluation)
        self._environments = environments
        self._workers: list[_Worker] = []
        self._retired: list[_Worker] = []  # they may have a job to finish
        self.resize(capacity)

    def resize(self, capacity: int) -> None:
        """Start further workers, or end some after their current job."""
        for environment in self._environments(capacity)[len(self._workers) :]:
            self._workers.append(_Worker(self._packed, environment, self._called, self._heard, self._ended))
        while len(self._workers) > capacity:
            self._retired.append(self._workers.pop())
            self._retired[-1].retire()
        super().resize(capacity)

    def stop(self, number: int, reason: str = "Stopped.") -> None:
        """Kill the process that evaluates this trial."""
        for worker in (*self._workers, *self._retired):
            worker.stop(number, reason)

    def tell(self, number: int, reason: str = "") -> None:
        for worker in (*self._workers, *self._retired):
            worker.tell(number, reason)

    def close(self) -> None:
        """Kill all workers at once."""
        self._forget()
        workers = (*self._workers, *self._retired)
        for worker in workers:
            worker.close()
        for worker in workers:
            worker.join()

    def _start(self, number: int, point: bytes, worker: int) -> None:
        self._workers[worker].start(number, point)


class _Worker:
    """A worker process, replaced by a new one when it dies, and the thread that waits for it."""

    def __init__(
        self,
        evaluation: bytes,
        environment: Mapping[str, str],
        called: Callable[[int], None],
        heard: Callable[[int, Report], None],
        ended: Callable[[int, Outcome], None],
    ) -> None:
        self._evaluation = evaluation
        self._environment = environment
        self._called = called
        self._heard = heard
        self._ended = ended
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = Lock()  # between the thread and the callers of start, stop and close
        self._current: int | None = None  # its trial
        self._stopped = ""  # the reason, if it is being stopped
        self._closed = False
        self._child: Child | None = None
        self._starts = True  # whether the last process loaded the function
        self._thread = Thread(target=self._serve, name="aegisbo-worker", daemon=True)
        self._thread.start()

    def start(self, number: int, point: bytes) -> None:
        with self._lock:
            self._current = number
        self._tasks.put(partial(self._run, number, point))

    def stop(self, number: int, reason: str) -> None:
        with self._lock:
            if self._current == number:
                self._stopped = reason
                self._kill()

    def tell(self, number: int, reason: str) -> None:
        with self._lock:  # so that it is this job that hears it, and no later one
            if self._current == number and self._child is not None:
                self._child.send(reason)

    def close(self) -> None:
        self._end()
        self._tasks.put(None)

    def retire(self) -> None:
        """End after the current job."""
        self._tasks.put(self._end)
        self._tasks.put(None)

    def _end(self) -> None:
        with self._lock:
            self._closed = True
            self._kill()

    def join(self) -> None:
        self._thread.join(GRACE)

    def _kill(self) -> None:
        if self._child is not None:
            self._child.kill()

    def _serve(self) -> None:
        """The thread: take one job after another, until there is none."""
        self._warm_up()
        while (task := self._tasks.get()) is not None:
            task()
        if self._child is not None:
            self._child.close()

    def _run(self, number: int, point: bytes) -> None:
        outcome = self._evaluate(number, point)
        with self._lock:
            stopped, self._current, self._stopped = self._stopped, None, ""  # from here on it cannot be stopped
        if stopped and outcome.state == "lost":  # else it was in time after all
            outcome = Outcome("timed_out", reason=stopped)
        if self._child is not None:
            if stopped:
                self._child.reap()  # the next job must not meet a dying process
            outcome = replace(outcome, output=self._child.printed())
        self._ended(number, outcome)
        self._warm_up()

    def _warm_up(self) -> None:
        """Have a process ready before the next job comes, unless the last one did not even start."""
        if self._starts:
            with suppress(Exception):  # the next job tries again, and reports it
                self._ready()

    def _evaluate(self, number: int, point: bytes) -> Outcome:
        """Send a point to the process and wait for its outcome."""
        try:
            for _ in range(2):  # a process that died while it was idle has not seen the point: a new one gets it
                child = self._ready()
                if child is None:
                    return Outcome("lost", reason="Stopped before it began.")
                if child.send(point):
                    while not isinstance(message := child.receive(), bytes):
                        if message == CALLED:
                            self._called(number)
                        else:
                            self._heard(number, message)
                    return unpack_outcome(message)
                cause = child.cause()
            return Outcome("lost", reason=f"Its process ended {cause}.")
        except Died as end:
            return Outcome("lost", reason=str(end))
        except Exception as error:  # no process could be started, or the answer was not an outcome
            return Outcome("lost", reason=error_text(error))

    def _ready(self) -> Child | None:
        """A running process that has loaded the function; None after `stop` or `close`."""
        with self._lock:
            if self._closed or self._stopped:
                return None
            if self._child is not None:
                if self._child.alive:
                    return self._child
                self._child.close()
            self._child, self._starts = None, False
            child = self._child = Child(self._environment, ended=lambda: self._tasks.put(self._warm_up))
        child.load(self._evaluation)
        self._starts = True
        return child
