"""Evaluations in worker processes: one that hangs can be stopped, one that crashes takes no other with it.

This is the driver's side; `worker.py` is the other end of the pipes. Each worker is a fresh interpreter, and a thread
here waits for it. Nothing of the calling script is run again in it, so scripts need no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from aegisbo.errors import require_posix
from aegisbo.outcome import Outcome
from aegisbo.runners.evaluation import Evaluation, in_words
from aegisbo.runners.packing import pack, unpack_outcome
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.protocol import Journal

GRACE = 2.0  # seconds for a process to end after it has closed its pipe, or was killed

Process = subprocess.Popen[bytes]
Job = tuple[int, Any]  # trial number and x


class Processes(Pool):
    """Local worker processes."""

    name = "Processes"
    can_stop = True

    def __init__(self, evaluation: Evaluation, capacity: int, journal: Journal | None) -> None:
        require_posix("Worker processes", instead='executor="threads"')
        super().__init__(capacity, journal)
        packed = pack(evaluation)
        self._workers = [_Worker(packed, self._ended) for _ in range(capacity)]

    def stop(self, number: int) -> None:
        """Kill the process that evaluates this trial."""
        for worker in self._workers:
            worker.stop(number)

    def close(self) -> None:
        """Kill all workers at once."""
        self._forget()
        for worker in self._workers:
            worker.close()
        for worker in self._workers:
            worker.join()

    def _start(self, number: int, x: Any, worker: int) -> None:
        self._workers[worker].start(number, x)


class _Worker:
    """A worker process, replaced by a new one when it dies, and the thread that waits for it."""

    def __init__(self, evaluation: bytes, ended: Callable[[int, Outcome], None]) -> None:
        self._evaluation = evaluation
        self._ended = ended
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = Lock()  # between the thread and the callers of start, stop and close
        self._current: int | None = None  # the trial that it was given
        self._stopped = False
        self._closed = False
        self._process: Process | None = None
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def start(self, number: int, x: Any) -> None:
        with self._lock:
            self._current, self._stopped = number, False
        self._jobs.put((number, x))

    def stop(self, number: int) -> None:
        with self._lock:
            if self._current == number:
                self._stopped = True
                _kill(self._process)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            _kill(self._process)
        self._jobs.put(None)

    def join(self) -> None:
        self._thread.join(GRACE)

    def _serve(self) -> None:
        """The thread: take one job after another, until there is none."""
        with suppress(OSError):  # if no process can be started, the first job will report it
            self._ready()  # now, so that the first job need not wait
        while (job := self._jobs.get()) is not None:
            number, x = job
            outcome = self._evaluate(x)
            with self._lock:
                self._current, stopped = None, self._stopped  # from here on it cannot be stopped
            if stopped:
                outcome = self._after_stop(outcome)
            self._ended(number, outcome)
        if self._process is not None:
            _reap(self._process)

    def _evaluate(self, x: Any) -> Outcome:
        try:
            point = pickle.dumps(x)
        except Exception as error:
            return Outcome("failed", reason=f"The point cannot be sent to another process: {in_words(error)}")
        try:
            return self._exchange(point)
        except Exception as error:  # no process could be started, or something else than an outcome came back
            return Outcome("lost", reason=in_words(error))

    def _after_stop(self, outcome: Outcome) -> Outcome:
        if self._process is not None:
            _reap(self._process)  # the next job must not find it still dying
        if outcome.state != "lost":
            return outcome  # it came in time after all
        return Outcome("timed_out", reason="Stopped: it took too long.")

    def _exchange(self, point: bytes) -> Outcome:
        """Send a point to the process and wait for its outcome."""
        for _ in range(2):  # a process that died while it was idle has not seen the point: a new one gets it
            process = self._ready()
            if process is None:
                return Outcome("lost", reason="Stopped before it began.")
            if _send(process, point):
                return _receive(process)
            code = _reap(process)
        return Outcome("lost", reason=f"Its process ended {_cause(code)}.")

    def _ready(self) -> Process | None:
        """A running process that has the function; None after `stop` or `close`."""
        with self._lock:
            if self._closed or self._stopped:
                return None
            if self._process is not None:
                if self._process.poll() is None:
                    return self._process
                _reap(self._process)
            process = self._process = _spawn()
        _send(process, self._evaluation)  # if it is dead already, the first point will find out
        return process


def _spawn() -> Process:
    start = f"import sys; sys.path[:] = {sys.path!r}; from aegisbo.runners.pools.worker import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )  # a session of its own: Ctrl-C in the terminal reaches the driver only
    Thread(target=_kill_what_it_started, args=(process,), daemon=True).start()
    return process


def _send(process: Process, data: bytes) -> bool:
    """Whether the process was there to take it; `poll` may not know yet that it has died."""
    try:
        pickle.dump(data, process.stdin)  # type: ignore[arg-type]
        process.stdin.flush()  # type: ignore[union-attr]
    except OSError:
        return False
    return True


def _receive(process: Process) -> Outcome:
    try:
        return unpack_outcome(pickle.load(process.stdout))  # type: ignore[arg-type]
    except (EOFError, OSError):
        return Outcome("lost", reason=f"Its process ended {_cause(_reap(process))}.")
    except Exception:
        _kill(process)
        _reap(process)
        raise


def _kill_what_it_started(process: Process) -> None:
    """When the process has ended, end what it started, which may hold the pipe open."""
    process.wait()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill(process: Process | None) -> None:
    """Kill the worker and all that it started."""
    if process is None or process.returncode is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # it has ended, or not yet begun to lead its group
        process.kill()


def _reap(process: Process) -> int:
    """Wait for the end of a process that is about to end, and return its exit code."""
    try:
        code = process.wait(GRACE)
    except subprocess.TimeoutExpired:  # it has only closed the pipe
        _kill(process)
        code = process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was still to be written
            pipe.close()  # type: ignore[union-attr]
    return code


def _cause(code: int) -> str:
    """What an exit code means; the watchdog reports a signal as shells do."""
    number = -code if code < 0 else code - 128
    try:
        return f"by signal {signal.Signals(number).name}"
    except ValueError:
        return f"with exit code {code}"
