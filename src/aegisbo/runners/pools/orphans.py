"""No process outlives the one that needs it."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
from threading import Thread

PR_SET_PDEATHSIG = 1


def guard() -> None:
    """Go on in a child, while this process waits for it, and kills it with all that it started if the driver dies.

    The worker itself may be deep in some library then. Whoever is to act must have nothing else to do. The two lead a
    process group, and the driver's end of standard input closes with the driver.
    """
    if not hasattr(os, "fork"):
        return
    worker = os.fork()
    if worker == 0:
        die_with_parent()
        return
    os.close(1)  # else nobody would notice that the worker has closed it
    signal.signal(signal.SIGTERM, lambda number, frame: _kill_group())
    die_with_parent(signal.SIGTERM)
    Thread(target=_kill_group_on_hangup, daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    os._exit(code if code >= 0 else 128 - code)  # as shells report a signal


def die_with_parent(number: int = 9) -> None:
    """Let the kernel send this process a signal, SIGKILL unless told otherwise, when its parent dies.

    Elsewhere than on Linux, nothing happens.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def _kill_group_on_hangup() -> None:
    poll = select.poll()
    poll.register(0, 0)  # a hang-up is reported also to those who wait for nothing
    poll.poll()
    _kill_group()


def _kill_group() -> None:
    os.killpg(0, signal.SIGKILL)
