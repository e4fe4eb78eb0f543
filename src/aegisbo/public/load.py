"""`load`: the result of a study that somebody else drives, or has driven."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from aegisbo.address import Named, place_of
from aegisbo.public.optimizer_and_result import Result
from aegisbo.study.reading import read_events
from aegisbo.study.state import State


def load(path: Named) -> Result:
    """Read what a study has found so far, while it runs or after it has ended.

    Args:
        path: the study, a file or an address.

    Returns:
        The best point, all trials, how the last driver ended, and how idle the workers of all drivers were.

    Raises:
        StudyError: it does not exist, or is not a study.
    """
    place = place_of(path)
    state = State.after(read_events(place))
    found = state.optimizer.found(state.drivers.ending(place))
    return Result.of(
        replace(found, idle=state.drivers.idle_shares, study=place.resolve() if isinstance(place, Path) else place)
    )
