"""Evaluations in processes of their own: one that hangs can be stopped, one that crashes takes only itself down.

Each worker is a fresh interpreter behind two pipes and a thread that waits for it. Nothing of the calling script is
run again in it, so scripts need no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from aegisbo.runners.carried import packed
from aegisbo.runners.journal import Journal
from aegisbo.runners.pool import Pool
from aegisbo.runners.workers import Outcome

Job = tuple[int, Any]  # trial number and x


class Processes(Pool):
    """Local worker processes."""

    name = "Processes"
    can_stop = True

    def __init__(self, function: Callable[[Any], Any], capacity: int, journal: Journal) -> None:
        super().__init__(capacity, journal)
        payload = packed(function)
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._workers = [_Worker(payload, self._jobs, self._ended) for _ in range(capacity)]

    def stop(self, number: int) -> None:
        """Kill the process that evaluates this trial."""
        for worker in self._workers:
            worker.stop(number)

    def close(self) -> None:
        """Kill all workers at once."""
        self._submitted.clear()
        for worker in self._workers:
            worker.close()
        for _ in self._workers:
            self._jobs.put(None)

    def _start(self, number: int, x: Any) -> None:
        self._jobs.put((number, x))


class _Worker:
    """One process after another, and the thread that speaks with it."""

    def __init__(self, payload: bytes, jobs: SimpleQueue[Job | None], ended: Callable[[int, Outcome], None]) -> None:
        self._payload = payload
        self._jobs = jobs
        self._ended = ended
        self._lock = Lock()  # between the thread and those who stop or close
        self._closed = False
        self._current: int | None = None
        self._stopped = False
        self._process: subprocess.Popen[bytes] | None = None
        Thread(target=self._serve, daemon=True).start()

    def stop(self, number: int) -> None:
        with self._lock:
            if self._current == number and self._process is not None:
                self._stopped = True
                _kill(self._process)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._process is not None:
                _kill(self._process)

    def _serve(self) -> None:
        self._launch()  # before the first job arrives, so that it need not wait
        while (job := self._jobs.get()) is not None:
            number, x = job
            with self._lock:
                self._current, self._stopped = number, False
            outcome = self._evaluate(x)
            with self._lock:
                self._current = None
            self._ended(number, outcome)

    def _launch(self) -> subprocess.Popen[bytes] | None:
        """The running process, started if there is none; None once the pool is closed."""
        with self._lock:
            if self._closed:
                return None
            if self._process is None or self._process.poll() is not None:
                self._process = _spawn(self._payload)
            return self._process

    def _evaluate(self, x: Any) -> Outcome:
        process = self._launch()
        if process is None or process.stdin is None or process.stdout is None:
            return Outcome("lost", reason="The pool was closed.")
        try:
            pickle.dump(x, process.stdin)
            process.stdin.flush()
            outcome: Outcome = pickle.load(process.stdout)
            return outcome
        except (EOFError, OSError, pickle.UnpicklingError):
            _kill(process)
            code = process.wait()
        if self._stopped:
            return Outcome("timed_out", reason="Stopped: it took too long.")
        return Outcome("lost", reason=f"Its process ended {_how(code)}.")


def _spawn(payload: bytes) -> subprocess.Popen[bytes]:
    start = f"import sys; sys.path[:] = {sys.path!r}; from aegisbo.runners.worker import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )  # a session of its own: Ctrl-C in the terminal reaches the driver only
    try:
        pickle.dump(payload, process.stdin)  # type: ignore[arg-type]
        process.stdin.flush()  # type: ignore[union-attr]
    except OSError:
        pass  # it is dead already, which the first job will find out and report
    return process


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the worker and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError, AttributeError):  # gone already, or no process groups here
        process.kill()


def _how(code: int) -> str:
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by signal {signal.Signals(-code).name}"
    except ValueError:
        return f"by signal {-code}"
