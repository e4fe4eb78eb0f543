"""A worker process, from its start to its end; `processes.py` is the other end of its pipes.

There are two processes, so that no evaluation outlives its driver: the driver starts a watchdog, and its child
evaluates. Both have their own process group, to which programs that the function starts belong too.

The function, the points and answers to reports come in on standard input; reports and outcomes go out on standard
output, all pickled. What the function prints goes to standard error instead, which is a file that the driver reads.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO, NoReturn

from aegisbo.runners.packing import evaluate_packed, load
from aegisbo.runners.reports import Line

PR_SET_PDEATHSIG = 1  # from <sys/prctl.h>
LOADED = "loaded"  # sent once, when the function is loaded
CALLED = "called"  # sent when the function is called; the outcome follows


def main() -> None:
    """Run a worker process; the driver starts it with `python -c`."""
    child = os.fork()
    if child:
        _watch(child)
    die_with_parent()
    _serve()


def die_with_parent(number: int | None = None) -> None:
    """Let the kernel send this process a signal, SIGKILL unless given, when its parent dies; only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL if number is None else number)


def _watch(child: int) -> NoReturn:
    """Wait for the child and end as it did; if the driver dies first, kill the whole process group.

    The child may be deep in some library at that moment, so a process that does nothing else must act.
    """
    os.close(1)  # so that the driver notices when the child has closed it
    signal.signal(signal.SIGTERM, lambda number, frame: _kill_group())
    die_with_parent(signal.SIGTERM)
    Thread(target=_kill_group_on_hangup, daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)  # as shells report a signal


def _kill_group_on_hangup() -> None:
    poll = select.poll()
    poll.register(0, 0)  # no events: a hang-up is always reported
    poll.poll()  # the driver's end of standard input closes with the driver
    _kill_group()


def _kill_group() -> None:
    os.killpg(0, signal.SIGKILL)


def _serve() -> None:
    """Evaluate one point after another until the driver closes the pipe."""
    messages, outcomes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # neither the function nor its programs must read points
    _keep_nothing_back()
    received: SimpleQueue[tuple[bytes, Line]] = SimpleQueue()
    send = partial(_send, outcomes)
    Thread(target=_receive, args=(messages, received, send), daemon=True).start()
    evaluation, _ = received.get()
    load(evaluation)  # now, so that the first point does not wait for it
    send(LOADED)
    while True:
        point, line = received.get()
        outcome = evaluate_packed(evaluation, point, partial(send, CALLED), line)
        with suppress(Exception):  # the function may have closed it
            sys.stdout.flush()
        send(outcome)


def _keep_nothing_back() -> None:
    """Print whole lines at once, in Python and in C, so that the output of a crashing process is not lost."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    library, line_buffered = ctypes.CDLL(None), 1
    stdout = "stdout" if sys.platform == "linux" else "__stdoutp"
    library.setvbuf(ctypes.c_void_p.in_dll(library, stdout), None, line_buffered, 0)


def _send(outcomes: BinaryIO, message: object) -> None:
    pickle.dump(message, outcomes)
    outcomes.flush()


def _receive(messages: BinaryIO, received: SimpleQueue[tuple[bytes, Line]], send: Callable[[object], None]) -> None:
    """Queue the points that arrive, each with the line of its evaluation, which hears what is no point.

    When the driver is gone, end at once.
    """
    line = Line(send)
    try:
        while True:
            message = pickle.load(messages)
            if isinstance(message, str):
                line.hear(message)
            else:
                line = Line(send)
                received.put((message, line))
    except (EOFError, OSError, pickle.UnpicklingError):
        _kill_group()
