"""`load`: the result of a study that somebody else drives, or has driven."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from aegisbo.public.optimizer_and_result import Result
from aegisbo.study.reading import read_events
from aegisbo.study.state import State


def load(path: str | os.PathLike[str]) -> Result:
    """Read what a study has found so far, while it runs or after it has ended.

    Args:
        path: the study file.

    Returns:
        The best point, all trials, how the last driver ended, and how idle the workers of all drivers were.

    Raises:
        StudyError: the file does not exist, or is not a study.
    """
    path = Path(path)
    state = State.after(read_events(path))
    found = state.optimizer.found(state.drivers.ending(path))
    return Result.of(replace(found, idle=state.drivers.idle_shares, study=path.resolve()))
