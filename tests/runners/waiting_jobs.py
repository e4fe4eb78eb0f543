"""Two jobs where there is room for one: what a pool knows of the one that waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aegisbo.outcome import Outcome, judged
from aegisbo.runners.evaluation import Evaluation
from aegisbo.runners.pools.base import Pool


def check_that_waiting_is_not_being_called(pool_of: Callable[[Evaluation], Pool], folder: Path) -> None:
    """The time limit of the second job may not count while the first one runs."""
    gate = folder / "gate"

    def until_open(x: Any) -> Outcome:
        while not gate.exists():
            time.sleep(0.01)
        return judged(1.0)

    pool = pool_of(until_open)
    pool.submit(0, None)
    pool.submit(1, None)
    while pool.starting == 2:
        time.sleep(0.01)
    (waiting,) = (number for number in (0, 1) if pool.called(number) is None)
    gate.touch()
    ends = [*pool.collect(60.0), *pool.collect(60.0)]
    pool.close()
    assert sorted(end.number for end in ends) == [0, 1]
    assert next(end for end in ends if end.number == waiting).outcome.value == 1.0
