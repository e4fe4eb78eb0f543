"""One worker process as the driver sees it, from its start to its end; `worker.py` is the other end of the pipes."""

from __future__ import annotations

import fcntl
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread
from typing import Any

from aegisbo.runners.output import KEPT, kept

GRACE = 2.0  # seconds for a process to end after it has closed its pipe, or was killed
START_LIMIT = 600.0  # seconds for a process to start and to load the function, which may import a lot


class Died(Exception):
    """The process has ended; the message says how."""


class Child:
    """A worker process; `ended` is called in a separate thread when it has ended."""

    def __init__(self, environment: Mapping[str, str], ended: Callable[[], None]) -> None:
        path = [str(entry) for entry in sys.path]
        start = f"import sys; sys.path[:] = {path!r}; from aegisbo.runners.pools.worker import main; main()"
        # The output of the process and its children goes into this file, which outlives them.
        self._printed = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed in `close`
        fcntl.fcntl(self._printed, fcntl.F_SETFL, os.O_APPEND)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", start],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._printed,
                env=environment,
                start_new_session=True,  # Ctrl-C in the terminal reaches the driver only
            )
        except OSError:
            self._printed.close()
            raise
        Thread(target=self._watch, args=(ended,), name="aegisbo-watch", daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def load(self, evaluation: bytes) -> None:
        """Send the packed evaluation and wait until the process has unpacked it; raises `Died` if it does not."""
        if self.send(evaluation) and not self._speaks_within(START_LIMIT):
            self.kill()
            self.reap()
            raise Died(f"Its process had not loaded the function after {START_LIMIT:g} seconds.")
        self.receive(" before the function was loaded")

    def send(self, data: bytes | str) -> bool:
        """Whether the process took it; `alive` may not know yet that it has died."""
        try:
            pickle.dump(data, self._process.stdin)  # type: ignore[arg-type]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except (OSError, ValueError):  # ValueError: another thread has reaped it, which closes the pipe
            return False
        return True

    def receive(self, when: str = "") -> Any:
        """The next message from the process; raises `Died` if it ends before that."""
        try:
            return pickle.load(self._process.stdout)  # type: ignore[arg-type]
        except (EOFError, OSError):
            raise Died(f"Its process ended {self.cause()}{when}.") from None
        except Exception:
            self.kill()
            self.reap()
            raise

    def printed(self) -> str:
        """The end of what was printed since the last call."""
        file = self._printed.fileno()
        data = os.pread(file, 4 * KEPT, max(os.fstat(file).st_size - 4 * KEPT, 0))  # up to four bytes a character
        os.ftruncate(file, 0)
        return kept(data.decode(errors="replace"))

    def close(self) -> None:
        """Wait for the end of a process that is about to end, and forget what it printed."""
        self.reap()
        self._printed.close()

    def kill(self) -> None:
        """Kill the process and everything it started."""
        if self._process.returncode is not None:
            return
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # it has ended, or does not lead its group yet
            self._process.kill()

    def reap(self) -> int:
        """Wait for the end of a process that is about to end, and return its exit code."""
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:  # it has only closed the pipe
            self.kill()
            code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # output that was not yet written
                pipe.close()  # type: ignore[union-attr]
        return code

    def cause(self) -> str:
        """How the process ended; its watchdog reports a signal as shells do."""
        code = self.reap()
        number = -code if code < 0 else code - 128
        try:
            return f"by signal {signal.Signals(number).name}"
        except ValueError:
            return f"with exit code {code}"

    def _speaks_within(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._process.stdout, select.POLLIN)  # type: ignore[arg-type]
        return bool(poll.poll(seconds * 1000))

    def _watch(self, ended: Callable[[], None]) -> None:
        """When the process has ended, end its children, which may hold the pipe open."""
        self._process.wait()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        ended()
