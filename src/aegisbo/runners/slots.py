"""Which worker an evaluation runs on, so that each can have its own GPU, port or license.

Workers are counted from 0. No two evaluations that run at once have the same number, on any engine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from aegisbo.errors import AegisError

VARIABLE = "AEGISBO_SLOT"

Answer = TypeVar("Answer")

_slot: ContextVar[int | None] = ContextVar("_slot", default=None)  # of the evaluation in this thread


@dataclass(frozen=True)
class Worker:
    """The worker that runs an evaluation."""

    slot: int  # counted from 0, less than the number of workers


def worker() -> Worker:
    """Tell the function that `minimize` calls which worker runs it, as in aegisbo.worker().slot.

    Returns:
        The worker. A worker process knows it from the start, so modules that the function imports can ask, too.

    Raises:
        AegisError: no evaluation is running here.
    """
    slot = slot_here()
    if slot is None:
        raise AegisError(
            "aegisbo.worker() works only inside a function that minimize() runs. To try the function by hand, set "
            f"{VARIABLE}=0 in the environment. If the function starts threads, pass the slot on to them."
        )
    return Worker(slot)


def slot_here() -> int | None:
    """The slot of the evaluation that runs here; None if there is none."""
    slot = _slot.get()
    text = os.environ.get(VARIABLE, "") if slot is None else str(slot)
    return int(text) if text.isdecimal() else None


def at_slot(slot: int, function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Call a function at this slot."""
    token = _slot.set(slot)
    try:
        return function(*arguments)
    finally:
        _slot.reset(token)
