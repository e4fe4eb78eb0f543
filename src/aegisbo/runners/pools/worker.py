"""The life of a worker process: read a job, evaluate it, write the outcome; end with whoever started it.

Jobs come in on standard input and outcomes go out on standard output, as pickles. What the function prints goes to
standard error instead.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from aegisbo.runners.evaluation import evaluate_packed


def main() -> None:
    """Serve until the driver closes the pipe, or dies."""
    jobs, outcomes = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for good: the function must not read jobs
    incoming: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(jobs, incoming), daemon=True).start()
    packed: bytes = incoming.get()
    while True:
        pickle.dump(evaluate_packed(packed, incoming.get()), outcomes)
        outcomes.flush()


def _listen(jobs: BinaryIO, incoming: SimpleQueue[Any]) -> None:
    """Hand jobs on; when the driver is gone, stop whatever is running, programs that it started included."""
    try:
        while True:
            incoming.put(pickle.load(jobs))
    except (EOFError, OSError, pickle.UnpicklingError):
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)  # the worker leads a process group of its own
        os._exit(1)
