"""How a copy joins the others that share a study, and how it leaves: by itself, or declared dead."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from itertools import count

from aegisbo.errors import InvalidInput, StudyError
from aegisbo.events import Event, Joined, Left, Lost
from aegisbo.outcome import Outcome
from aegisbo.space.widening import widened
from aegisbo.study.agreement import Caller, settled
from aegisbo.study.ledger import Ledger
from aegisbo.study.opening import Log
from aegisbo.study.state import State


def join(store: Log, caller: Caller, lease: float, *, alone: bool = False) -> tuple[State, Joined]:
    """Record that a copy has joined, and the beginning of the study if it is new.

    Args:
        store: the study.
        caller: the copy. Its "budget" holds for all copies; by default the last one of the study.
        lease: seconds without a sign of life after which others count the copy as dead.
        alone: no other copy is alive, whatever the study says.

    Returns:
        The state of the study, and its last event, whose id names the copy.

    Raises:
        StudyError: the study was begun with other settings, or holds values of another function.
        InvalidInput: it has no budget.
    """
    with store.transaction():
        state, objective = settled(store, caller)
        space = state.settings.space
        if caller.settings is not None and widened(space, caller.settings.space) != space:
            raise StudyError(
                f"{store.path} has narrower bounds or other guesses, and copies cannot change them: `minimize` can, "
                "when no copy is at work."
            )
        ledger = state.ledger
        for each in tuple(ledger.copies) if alone else ():
            for event in bury(store, ledger, each, "was killed"):
                state.apply(event)
        call = {**caller.call, "budget": caller.call.get("budget") or ledger.terms.asked.get("budget")}
        if (call["budget"] or ledger.budget) is None:
            raise InvalidInput(f"{store.path} has no budget: give the total number of evaluations.")
        lane = _free_lane(ledger, call.get("workers") or 1)
        joined = store.append(Joined(lease, call, lane, os.getpid(), platform.node(), objective))
        store.beat(joined.id)
        state.apply(joined)
        return state, joined


def _free_lane(ledger: Ledger, workers: int) -> int:
    """The first of consecutive worker numbers that no other copy has, so that figures show each worker separately."""
    taken = {joined.lane + k for joined in ledger.copies.values() for k in range(joined.call.get("workers") or 1)}
    return next(lane for lane in count() if not taken.intersection(range(lane, lane + workers)))


def bury(store: Log, ledger: Ledger, copy: int, how: str) -> list[Event]:
    """Record that a copy is dead, and free its trials."""
    joined = ledger.copies[copy]
    who = f"process {joined.pid} on {joined.host}"
    return part(store, ledger, copy, f"Killed: the copy ({who}) {how}.", f"Its copy ({who}) {how}.", [], buried=True)


def part(
    store: Log,
    ledger: Ledger,
    copy: int,
    message: str,
    reason: str,
    idle: Sequence[Mapping[str, float]],
    **marks: bool,
) -> list[Event]:
    """Record that a copy has left; its trials are lost, and free for others."""
    lost = [Lost(number, Outcome("lost", reason=reason), **marks) for number in ledger.held_by(copy)]
    written = [store.append(event) for event in (*lost, Left(copy, message, list(idle), **marks))]
    store.stop_beating(copy)
    return written
