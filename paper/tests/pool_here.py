"""A pool without processes: one job at a time in this process, in place of the real ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aegis_paper.campaign import Performed, perform
from aegis_paper.runs import Spec

from aegisbo.outcome import kept
from aegisbo.runners.evaluation import evaluate
from aegisbo.runners.protocol import Finished


class Here:
    """Does each job when its end is asked for, and remembers which it was given."""

    capacity = 1
    can_stop = False

    def __init__(self, function: Callable[[Spec], Performed] = perform) -> None:
        self.function = function
        self.begun: list[Spec] = []

    def submit(self, number: int, x: Any) -> None:
        self.begun.append(x)
        self.number = number

    def collect(self, timeout: float | None = None) -> list[Finished]:
        outcome = evaluate(self.function, self.begun[-1], kept)
        return [Finished(self.number, outcome, 0.0, 1e9)]

    def stop(self, number: int) -> None: ...

    def close(self) -> None: ...

    def now(self) -> float:
        return 0.0
