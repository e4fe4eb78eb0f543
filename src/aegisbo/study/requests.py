"""Requests to a run from outside, whether it is running or not: events that need no lock."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from aegisbo.address import Address, Named, Place, place_of
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.events import Changed, Opened
from aegisbo.optimizer.settings import check_target
from aegisbo.options import SHARED, checked_changes
from aegisbo.space import Params
from aegisbo.study.lock import is_driven
from aegisbo.study.opening import Log, beside
from aegisbo.study.reading import read_events
from aegisbo.study.seat import Author, signed
from aegisbo.study.state import State


def add(path: Named, x: Any, *, author: Author = None) -> Params:
    """Have a point evaluated before the strategy chooses another one; a running study takes it within a second.

    Args:
        path: the study, a file or an address.
        x: the point, in the form that the function receives or by name.
        author: who proposes it, a person or a program; None is "user". Or a `Seat`, which bounds what it may do.

    Returns:
        Its values by name.

    Raises:
        StudyError: the study does not exist, or it cannot be written to from here.
        InvalidInput: the point is not in the space; or it is a trial or added already, unless values are noisy.
    """
    with _beside(place_of(path)) as store:
        state = State.after(store.events())
        added = state.optimizer.addition(x)
        store.append(signed(added, author, state))
    return added.params


def change(path: Named, *, author: Author = None, **changes: Any) -> dict[str, Any]:
    """Change the budget, the workers or the time limits of a run; a running study follows within about a second.

    A change also holds for later calls, unless such a call differs from the one before it in this option.

    Args:
        path: the study, a file or an address.
        author: who changes them, as for `add`.
        changes: options and their new values, as for `minimize`; `aegisbo set --help` lists which may change.

    Returns:
        The changes.

    Raises:
        StudyError: the study does not exist, or it cannot be written to from here.
        InvalidInput: an option cannot be changed, or not to this value.
    """
    changes = checked_changes(changes)
    with _beside(place_of(path)) as store:
        state = State.after(store.events())
        check_target(changes.get("target"), state.settings)
        for name in changes if state.ledger.copies else ():
            if name not in SHARED:
                raise InvalidInput(
                    f"{name} is each copy's own while copies of `aegisbo work` share {path}: start or stop copies "
                    f"instead. For all of them you can change {', '.join(SHARED)}."
                )
        store.append(signed(Changed(changes), author, state))
    return changes


@contextmanager
def _beside(place: Place) -> Iterator[Log]:
    """The study, opened for writing beside its driver or copies; all writes inside take effect, or none.

    Not to a file beside a driver on another machine: its write-ahead log works on one machine only.
    """
    last = State.after(read_events(place)).drivers.last
    elsewhere = isinstance(last, Opened) and last.host not in (None, platform.node())
    if isinstance(last, Opened) and elsewhere and not isinstance(place, Address) and is_driven(place):
        raise StudyError(
            f"{place} is being driven by process {last.pid} on {last.host}, and SQLite lets only that machine write "
            "to it meanwhile: run the same command there."
        )
    with closing(beside(place)) as log, log.transaction():
        yield log
