"""Changes to the trials of a study: repeat some, or drop them."""

from __future__ import annotations

from collections.abc import Iterable

from aegisbo.address import Named, place_of
from aegisbo.errors import InvalidInput
from aegisbo.events import Forgotten, Retried
from aegisbo.number import as_whole
from aegisbo.optimizer import Core
from aegisbo.outcome import FAILURES
from aegisbo.study.opening import driving
from aegisbo.study.reading import read_events
from aegisbo.study.seat import Author, signed
from aegisbo.study.state import State


def retry(path: Named, numbers: Iterable[int] | None = None, *, author: Author = None) -> tuple[int, ...]:
    """Make trials pending again: the next `minimize`, or a copy of `aegisbo work`, evaluates the same points.

    Args:
        path: the study, a file or an address.
        numbers: the trials to repeat, which must have ended; their values are dropped. None: all without a value.
        author: who wants it, a person or a program; None is "user". Or a `Seat`, which bounds what it may do.

    Returns:
        The numbers of the trials that are pending again.

    Raises:
        StudyError: the study does not exist, or `minimize` is driving it.
        TrialError: a trial was never asked for, is pending, or was forgotten; nothing has been changed.
    """
    return _changed(path, Retried, None if numbers is None else _listed(numbers), author)


def forget(path: Named, numbers: Iterable[int], *, author: Author = None) -> tuple[int, ...]:
    """Drop trials: from now on the model does not learn from them, and they do not count.

    Args:
        path: the study, a file or an address.
        numbers: the trials to drop, pending or ended.
        author: who wants it, as for `retry`.

    Returns:
        The numbers of the trials that were dropped.

    Raises:
        StudyError: the study does not exist, or `minimize` is driving it.
        TrialError: a trial was never asked for, or was forgotten already; nothing has been changed.
    """
    return _changed(path, Forgotten, _listed(numbers), author)


def _changed(
    path: Named, kind: type[Retried | Forgotten], numbers: list[int] | None, author: Author
) -> tuple[int, ...]:
    """Check the change on the state of the study, then write it as one event.

    It is written as by a copy, since copies may be at work.
    """
    place = place_of(path)
    read_events(place)  # first, so that no lock file is made beside a file that is no study
    with driving(place, lambda text: None, shared=True) as (log, lock), lock.turn(), log.transaction():
        state = State.after(log.events())
        chosen = without_value(state.optimizer) if numbers is None else numbers
        if chosen:
            wanted = signed(kind(chosen), author, state)
            state.optimizer.apply(wanted)
            log.append(wanted)
    return tuple(chosen)


def without_value(optimizer: Core) -> list[int]:
    """The numbers of the trials that have ended without a value."""
    return [trial.number for trial in optimizer.trials if trial.state in FAILURES]


def _listed(numbers: Iterable[int]) -> list[int]:
    listed = isinstance(numbers, Iterable) and not isinstance(numbers, str)
    known = {as_whole(number) for number in numbers} if listed else {None}
    if None in known:
        raise InvalidInput(f"numbers must be a list of trial numbers, got {numbers!r}.")
    return sorted(number for number in known if number is not None)
