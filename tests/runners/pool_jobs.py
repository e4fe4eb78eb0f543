"""Functions for worker pools to run: everything that an evaluation may do to its worker.

In a module of its own, which workers import without the test libraries.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Impolite(BaseException):
    """Not an Exception."""


class Unspeakable(Exception):
    """Fails even when asked what it says."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class NoNumber(float):
    """A float that refuses to be one."""

    def __float__(self) -> float:
        raise RuntimeError("not today")


def _throw(error: BaseException) -> float:
    raise error


def _print_megabytes() -> float:
    for _ in range(40):
        print("x" * 100_000)  # noqa: T201 - its worker must stand it
    sys.stdout.flush()
    os.write(1, b"y" * 1_000_000)
    return 5.0


def say(word: str) -> float:
    print(word, "on stdout")  # noqa: T201 - to be kept
    print(word, "on stderr", file=sys.stderr)  # noqa: T201
    return 1.0


def square(x: float) -> float:
    return x * x


BEHAVIORS: dict[str, Callable[[], Any]] = {
    "value": lambda: 2.5,
    "raises": lambda: _throw(ValueError("diverged")),
    "raises without words": lambda: _throw(Unspeakable()),
    "nan": lambda: math.nan,
    "infinite": lambda: -math.inf,
    "huge": lambda: 10**400,
    "none": lambda: None,
    "text": lambda: "3.5",
    "complex": lambda: 1j,
    "list": lambda: [1.0, 2.0],
    "bool": lambda: True,
    "bad number": lambda: NoNumber(1.0),
    "exits": lambda: sys.exit("bye"),
    "exits with 0": lambda: sys.exit(0),
    "interrupts": lambda: _throw(KeyboardInterrupt()),
    "impolite": lambda: _throw(Impolite("out of line")),
    "prints": _print_megabytes,
    "dies with 0": lambda: os._exit(0),
    "dies with 3": lambda: os._exit(3),
    "aborts": os.abort,
    "kills itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "closes all files": lambda: os.closerange(0, 1000),
    "exhausts memory": lambda: _exhaust_memory(),
}


def behave(name: str) -> Any:
    return BEHAVIORS[name]()


class Traveler:
    """Fails on its way out of the process, or into the next one."""

    def __init__(self, way: str) -> None:
        self.way = way

    def __reduce__(self) -> Any:
        if self.way == "out":
            raise TypeError("not without a permit")
        return refuse, ()


def refuse() -> Any:
    raise ValueError("no entry")


def loaded(package: str) -> list[str]:
    """The modules of a package that this process has imported."""
    return sorted(name for name in sys.modules if name.split(".")[0] == package)


def travel_badly(way: str) -> Any:
    return way if way == "well" else Traveler(way)


def wait_for(gate: str) -> float:
    """Report for work, then wait until somebody opens the gate: a file that appears."""
    Path(f"{gate}.{os.getpid()}.pid").touch()
    while not Path(gate).exists():
        time.sleep(0.01)
    return 1.0


def wait_with_child(gate: str) -> float:
    """The same, with a program running beside it that would go on for minutes."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    Path(f"{gate}.{child.pid}.pid").touch()
    return wait_for(gate)


def die_with_a_child_at_the_pipe(gate: str) -> float:
    """Leave a copy of this process behind, with all its files open, and die."""
    child = os.fork()
    if child == 0:
        time.sleep(300)
    Path(f"{gate}.{child}.pid").touch()
    os._exit(3)


def fork_and(ending: str) -> float:
    """Leave it to a copy of this process to come back from here, too, and see how that ends."""
    child = os.fork()
    if child == 0:
        endings: dict[str, Callable[[], Any]] = {
            "return": lambda: 1.0,
            "exit": lambda: sys.exit(0),
            "exit with 4": lambda: sys.exit(4),
            "exit with words": lambda: sys.exit("words of the copy"),
            "raise": lambda: _throw(ValueError("error of the copy")),
        }
        return endings[ending]()
    return float(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])) + 0.5


def read_all_input(kind: str) -> float:
    """What this process, or a program that it starts, finds on standard input."""
    if kind == "python":
        return float(len(sys.stdin.read()))
    return float(subprocess.run(["wc", "-c"], capture_output=True, check=True, timeout=60).stdout)


def _exhaust_memory() -> float:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
    hoard = []
    while True:
        hoard.append(bytearray(2**24))
