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
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from aegisbo.outcome import Outcome
from aegisbo.runners.evaluation import Evaluation, in_words, pack, unpack_outcome
from aegisbo.runners.journal import Journal
from aegisbo.runners.pools.base import Pool

GRACE = 2.0  # seconds for a process to end after it has closed its pipe, or was killed

Job = tuple[int, Any]  # trial number and x


class Processes(Pool):
    """Local worker processes."""

    name = "Processes"
    can_stop = True

    def __init__(self, evaluation: Evaluation, capacity: int, journal: Journal | None) -> None:
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

    def _start(self, number: int, x: Any) -> None:
        next(worker for worker in self._workers if worker.free).start(number, x)


class _Worker:
    """One process after another, and the thread that speaks with it."""

    def __init__(self, packed: bytes, ended: Callable[[int, Outcome], None]) -> None:
        self._packed = packed
        self._ended = ended
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = Lock()  # between the thread and those who start, stop or close
        self._current: int | None = None  # the trial that it was given
        self._stopped = False
        self._closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def free(self) -> bool:
        return self._current is None

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
        with suppress(OSError):  # if none can be started, the first job will report it
            self._ready()  # now, so that the first job need not wait
        while (job := self._jobs.get()) is not None:
            number, x = job
            outcome = self._evaluate(x)
            with self._lock:
                self._current = None  # from here on it cannot be stopped
            if self._stopped:
                outcome = self._after_stop(outcome)
            self._ended(number, outcome)
        if self._process is not None:
            _bury(self._process)

    def _evaluate(self, x: Any) -> Outcome:
        try:
            return self._exchange(x)
        except Exception as error:  # no process could be started, or something else than an outcome came back
            return Outcome("lost", reason=in_words(error))

    def _after_stop(self, outcome: Outcome) -> Outcome:
        if self._process is not None:
            _bury(self._process)  # the next job must not find it still dying
        if outcome.state != "lost":
            return outcome  # it came in time after all
        return Outcome("timed_out", reason="Stopped: it took too long.")

    def _exchange(self, x: Any) -> Outcome:
        process = self._ready()
        if process is not None and not self._give(process, x):
            process = self._ready()  # the first died while it was idle and has not seen the job
            if process is not None and not self._give(process, x):
                return Outcome("lost", reason=f"Its process ended {_how(_bury(process))}.")
        if process is None:
            return Outcome("lost", reason="Nobody waits for it any more.")
        try:
            return unpack_outcome(pickle.load(process.stdout))  # type: ignore[arg-type]
        except (EOFError, OSError):
            return Outcome("lost", reason=f"Its process ended {_how(_bury(process))}.")
        except Exception:
            _kill(process)
            _bury(process)
            raise

    def _give(self, process: subprocess.Popen[bytes], x: Any) -> bool:
        """Whether the process took the job; if it is dead it is buried. `poll` alone may not know yet that it is."""
        try:
            pickle.dump(x, process.stdin)  # type: ignore[arg-type]
            process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            _bury(process)
            return False
        except Exception:
            _kill(process)
            _bury(process)
            raise
        return True

    def _ready(self) -> subprocess.Popen[bytes] | None:
        """A running process that has the function; None if nobody wants one any more."""
        with self._lock:
            if self._closed or self._stopped:
                return None
            if self._process is not None:
                if self._process.poll() is None:
                    return self._process
                _bury(self._process)
            process = self._process = _spawn()
        with suppress(OSError):  # it is dead already, which the first job will find out and report
            pickle.dump(self._packed, process.stdin)  # type: ignore[arg-type]
            process.stdin.flush()  # type: ignore[union-attr]
        return process


def _spawn() -> subprocess.Popen[bytes]:
    start = (
        f"import sys; sys.path[:] = {sys.path!r}; from aegisbo.runners.pools.orphans import guard; guard(); "
        "from aegisbo.runners.pools.worker import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )  # a session of its own: Ctrl-C in the terminal reaches the driver only
    Thread(target=_clear_away, args=(process,), daemon=True).start()
    return process


def _clear_away(process: subprocess.Popen[bytes]) -> None:
    """When the process has ended, end what it started, which may hold the pipe open."""
    process.wait()
    with suppress(ProcessLookupError, PermissionError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill(process: subprocess.Popen[bytes] | None) -> None:
    """Kill the worker and all that it started."""
    if process is None or process.returncode is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError, AttributeError):  # gone already, or no process groups here
        process.kill()


def _bury(process: subprocess.Popen[bytes]) -> int:
    """Wait for its end, which is near, and return its exit code."""
    try:
        code = process.wait(GRACE)
    except subprocess.TimeoutExpired:  # it has only closed the pipe
        _kill(process)
        code = process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):  # what was still to be written
            pipe.close()  # type: ignore[union-attr]
    return code


def _how(code: int) -> str:
    """What an exit code means; the guard reports a signal as shells do."""
    number = -code if code < 0 else code - 128
    try:
        return f"by signal {signal.Signals(number).name}"
    except ValueError:
        return f"with exit code {code}"
