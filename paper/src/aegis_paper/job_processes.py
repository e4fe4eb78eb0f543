"""Runs in local processes: one that dies takes its own run with it and no other, and none outlives the parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from threading import Thread
from types import TracebackType

from aegis_paper.execution import Done, perform
from aegis_paper.runs import Spec

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
SPAWN = multiprocessing.get_context("spawn")  # threads of the parent (BLAS, a progress bar) make a fork unsafe


class JobProcesses:
    """So many processes, each with one BLAS thread; leaving the context kills what still runs."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._idle: list[_JobProcess] = []
        self._busy: dict[_JobProcess, Spec] = {}

    def __enter__(self) -> JobProcesses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in (*self._idle, *self._busy):
            process.kill()

    def start(self, spec: Spec) -> None:
        process = self._idle.pop() if self._idle else _JobProcess()
        self._busy[process] = spec
        process.give(spec)

    def finish(self) -> Done:
        ready = wait([process.pipe for process in self._busy])
        process = next(process for process in self._busy if process.pipe in ready)
        spec = self._busy.pop(process)
        try:
            done = process.take()
        except (EOFError, OSError):
            return Done(spec, failure=f"Its process ended with exit code {process.kill()}.")
        self._idle.append(process)
        return done


class _JobProcess:
    """One process, and the pipe to it."""

    def __init__(self) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(target=_serve, args=(theirs,), daemon=True)
        with _one_thread():
            self._process.start()
        theirs.close()  # so that its death closes the pipe

    def give(self, spec: Spec) -> None:
        with suppress(OSError):  # it has died meanwhile, which `take` finds out
            self.pipe.send(spec)

    def take(self) -> Done:
        done: Done = self.pipe.recv()
        return done

    def kill(self) -> int | None:
        """End it, if it has not ended by itself, and return its exit code."""
        self._process.kill()
        self._process.join()
        self.pipe.close()
        return self._process.exitcode


@contextmanager
def _one_thread() -> Iterator[None]:
    """BLAS reads the number of its threads when it is loaded: a child must find it in its environment."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(pipe: Connection) -> None:
    """The life of a process: run after run, until nobody wants any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then kills this process
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            pipe.send(perform(pipe.recv()))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
