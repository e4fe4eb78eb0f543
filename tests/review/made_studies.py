"""Studies for the tests of the report: real ones that are quick to make, and events written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aegisbo
from aegisbo.events import Event, read_event
from aegisbo.review.record import Record

HOSTILE = "</script><script>window.hacked = true</script><img src=x onerror='window.hacked = true'>"
SPACE = {
    "lr": aegisbo.Real(1e-4, 1.0, log=True),
    "units": aegisbo.Int(1, 9),
    "act": aegisbo.Choice(["relu", "tanh", HOSTILE]),
}


def loss(lr: float, units: int, act: str) -> float:
    """Fails for large learning rates, with a message that would be a script if it were HTML."""
    if lr > 0.5:
        raise ValueError(f"{HOSTILE} at {lr}")
    return (lr - 0.1) ** 2 + 0.02 * (units - 4) ** 2 + 0.01 * len(act)


def make_study(path: Path, budget: int = 24, **options: Any) -> Path:
    """A real run with failures."""
    options = {"workers": 3, "executor": "threads", "seed": 1, "progress": False, **options}
    aegisbo.minimize(loss, SPACE, budget=budget, study=path, **options)
    return path


def both(lr: float, units: int, act: str) -> dict[str, float]:
    """Two objectives and a quantity that has a limit; fails for large learning rates."""
    value = loss(lr, units, act)
    return {"accuracy": 1.0 - value, "latency": 0.2 * units + lr, "memory": 10.0 * units * lr}


def make_study_of_two(path: Path, budget: int = 24, **options: Any) -> Path:
    """A real run with two objectives, failures and a limit."""
    options = {"workers": 3, "executor": "threads", "seed": 1, "progress": False, **options}
    objectives = {"accuracy": "max", "latency": "min"}
    aegisbo.minimize(both, SPACE, budget=budget, study=path, objectives=objectives, limits=["memory <= 20"], **options)
    return path


class Script:
    """Events written by hand, at moments that the test chooses."""

    def __init__(self, space: Any = (("x", (0.0, 1.0)),), **settings: Any) -> None:
        optimizer = aegisbo.Optimizer(dict(space), seed=0, **settings)
        self.events: list[Event] = []
        self.add("created", None, 0.0, optimizer=optimizer.settings.describe(), build={"aegisbo": "1"})

    def add(self, kind: str, number: int | None, at: float, **body: Any) -> int:
        self.events.append(read_event(len(self.events) + 1, kind, number, 1000.0 + at, body))
        return len(self.events)

    def opened(self, at: float) -> None:
        self.add("opened", None, at, pid=1, host="here")

    def asked(self, number: int, at: float, seen: int | None = None, x: float = 0.5, **note: Any) -> int:
        seen = len(self.events) if seen is None else seen
        body = {"params": {"x": x}, "note": {"move": "initial", **note}, "memory": {}, "seen": seen, "seconds": 0.1}
        return self.add("asked", number, at, **body)

    def told(self, number: int, began: float, ended: float, worker: int, value: float = 1.0) -> int:
        went = {"seconds": ended - began, "began": 1000.0 + began, "worker": worker, "output": ""}
        return self.add("told", number, ended, value=value, **went)

    def failed(
        self, number: int, began: float, ended: float, worker: int, state: str = "failed", reason: str = "no"
    ) -> int:
        went = {"seconds": ended - began, "began": 1000.0 + began, "worker": worker, "output": "", "traceback": ""}
        return self.add("failed" if state != "lost" else "lost", number, ended, state=state, reason=reason, **went)

    def reported(self, number: int, at: float, step: float, value: float | None) -> int:
        return self.add("reported", number, at, step=step, value=value)

    def stopped(self, number: int, began: float, ended: float, worker: int, seen: int | None = None) -> None:
        """Decided and carried out at once."""
        self.add("halted", number, ended, reason="It fell behind.", seen=len(self.events) if seen is None else seen)
        went = {"seconds": ended - began, "began": 1000.0 + began, "worker": worker, "output": "", "traceback": ""}
        self.add("stopped", number, ended, reason="It fell behind.", **went)

    def record(self, now: float | None = None) -> Record:
        """At rest, or driven if it is asked for at a moment."""
        record = Record.of_events(self.events, Path("made.db"), driven=False)
        if now is None:
            return record
        return Record(record.optimizer, "made", "Running.", True, self.events, 1000.0 + now, Path("made.db"))


def script_of_curves() -> Script:
    """Twelve evaluations of nine steps: 0 to 5 and 11 reach their end, 6 to 8 are stopped, 9 and 10 are running.

    All fall by 0.1 a step; those that reach their end fall by up to 0.05 more at the last one.
    """
    script = Script(stop_early=True, steps=9.0)
    script.opened(0.0)
    for number in range(12):
        at, start = 10.0 * number, 2.0 + 0.1 * ((7 * number) % 12)
        script.asked(number, at, x=number / 12)
        last = {6: 3, 7: 3, 8: 1, 9: 5, 10: 2}.get(number, 9)
        for step in range(1, last + 1):
            script.reported(number, at + step, step, start - 0.1 * step)
        if number in (6, 7, 8):
            script.stopped(number, at, at + last, number % 3)
        elif number not in (9, 10):
            script.told(number, at, at + 9.0, number % 3, value=start - 0.9 - 0.01 * (number % 6))
    return script


def spans(items: Sequence[Any]) -> list[tuple[float, float]]:
    """When each began and ended, on the clock of a script."""
    return [(round(item.started - 1000.0, 6), round(item.ended - 1000.0, 6)) for item in items]
