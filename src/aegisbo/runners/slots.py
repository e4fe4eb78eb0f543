"""Which worker an evaluation runs on, so that each can have its own GPU, port or license, and the folder of its trial.

Workers are counted from 0. No two evaluations that run at once have the same number, on any engine.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from aegisbo.errors import AegisError

VARIABLE = "AEGISBO_SLOT"
FOLDER_VARIABLE = "AEGISBO_FOLDER"  # of programs, and to try a function by hand

Answer = TypeVar("Answer")

_slot: ContextVar[int | None] = ContextVar("_slot", default=None)  # of the evaluation in this thread
_folder: ContextVar[Path | None] = ContextVar("_folder", default=None)


@dataclass(frozen=True)
class Worker:
    """The worker that runs an evaluation."""

    slot: int  # counted from 0, less than the number of workers
    folder: Path | None = None  # of the trial, whichever worker runs it; only with resumable=True


def worker() -> Worker:
    """Tell the function that `minimize` calls which worker runs it, as in aegisbo.worker().slot.

    Returns:
        The worker. A worker process knows it from the start, so modules that the function imports can ask, too. With
        resumable=True its `folder` is that of the trial, where the function can keep its state.

    Raises:
        AegisError: no evaluation is running here.
    """
    slot = slot_here()
    if slot is None:
        raise AegisError(
            "aegisbo.worker() works only inside a function that minimize() runs. To try the function by hand, set "
            f"{VARIABLE}=0 in the environment. If the function starts threads, pass the slot on to them."
        )
    return Worker(slot, folder_here())


def slot_here() -> int | None:
    """The slot of the evaluation that runs here; None if there is none."""
    slot = _slot.get()
    text = os.environ.get(VARIABLE, "") if slot is None else str(slot)
    return int(text) if text.isdecimal() else None


def folder_here() -> Path | None:
    """The folder of the trial that is evaluated here; None if it has none."""
    named = os.environ.get(FOLDER_VARIABLE)
    return _folder.get() or (Path(named) if named else None)


@dataclass(frozen=True)
class InFolder:
    """A point whose trial has a folder, on its way to a worker."""

    x: Any
    folder: Path


def in_folder(placed: InFolder, function: Callable[[Any], Answer]) -> Answer:
    """Call a function of a point in the folder of its trial."""
    token = _folder.set(placed.folder)
    try:
        return function(placed.x)
    finally:
        _folder.reset(token)


def at_slot(slot: int, function: Callable[..., Answer], *arguments: Any) -> Answer:
    """Call a function at this slot."""
    token = _slot.set(slot)
    try:
        return function(*arguments)
    finally:
        _slot.reset(token)
