"""How a copy joins the others that share a study, and how it goes: on its own, or given up by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from aegisbo.errors import InvalidInput, StudyError
from aegisbo.events import Event, Joined, Left, Lost
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.space.widening import widened
from aegisbo.study.agreement import agreed, begin, described
from aegisbo.study.ledger import Ledger
from aegisbo.study.objective import Objective
from aegisbo.study.state import State
from aegisbo.study.store import Store


def join(
    store: Store,
    settings: Settings | None,
    me: Joined,
    say: Callable[[str], None] = lambda text: None,
    *,
    objective: Objective | None = None,
    anyway: bool = False,
    alone: bool = False,
) -> tuple[State, Joined]:
    """Write down that a copy is there, and the beginning of the study if it is new.

    Args:
        store: the study.
        settings: as the user gave them; None if the study is to know them.
        me: what is known of the copy.
        say: is told, in a sentence, what the user should know.
        objective: the function whose values are stored; None if nobody knows it.
        anyway: go on although the study holds values of another function.
        alone: no other copy is alive, whatever the study says.

    Returns:
        How the study stands, and the last event of it, whose id is the name of the copy.

    Raises:
        StudyError: the study was begun with other settings, or holds values of another function.
        InvalidInput: it has no budget.
    """
    with store.transaction():
        state, news = _settled(store, settings, say, objective, anyway=anyway)
        ledger = state.ledger
        for each in tuple(ledger.copies) if alone else ():
            for event in bury(store, ledger, each, "was killed"):
                state.apply(event)
        call = {**me.call, "budget": me.call.get("budget") or ledger.terms.asked.get("budget")}
        if (call["budget"] or ledger.budget) is None:
            raise InvalidInput(f"{store.path} has no budget: say how many evaluations there are to be in all.")
        lane = _free_lane(ledger, call.get("workers") or 1)
        joined = store.append(replace(me, call=call, lane=lane, objective=described(news)))
        store.beat(joined.id)
        state.apply(joined)
        return state, joined


def _settled(
    store: Store,
    settings: Settings | None,
    say: Callable[[str], None],
    objective: Objective | None,
    *,
    anyway: bool,
) -> tuple[State, Objective | None]:
    """Begin the study, or agree with what is there; returns how it stands, and what must be added to it."""
    events = store.events()
    if not events and settings is not None:
        return begin(store, settings.decided(), objective, settings), None
    if not events:
        raise StudyError(f"{store.path} holds nothing yet: give its space, and what to minimize.")
    state, news = agreed(store, events, settings, say, objective=objective, anyway=anyway)
    space = state.settings.space
    if settings is not None and widened(space, settings.space) != space:
        raise StudyError(
            f"{store.path} has narrower bounds, and copies cannot widen them: `minimize` can, when no copy is at work."
        )
    return state, news


def _free_lane(ledger: Ledger, workers: int) -> int:
    """The first of so many numbers for workers that no other copy has, so that a picture shows each by itself."""
    taken = {joined.lane + k for joined in ledger.copies.values() for k in range(joined.call.get("workers") or 1)}
    return next(lane for lane in count() if not taken.intersection(range(lane, lane + workers)))


def bury(store: Store, ledger: Ledger, copy: int, how: str) -> list[Event]:
    """Write down that a copy is dead, and free what it held."""
    joined = ledger.copies[copy]
    who = f"process {joined.pid} on {joined.host}"
    return part(store, ledger, copy, f"Killed: the copy ({who}) {how}.", f"Its copy ({who}) {how}.", [], buried=True)


def part(
    store: Store,
    ledger: Ledger,
    copy: int,
    message: str,
    reason: str,
    idle: Sequence[Mapping[str, float]],
    **marks: bool,
) -> list[Event]:
    """Write down that a copy is not there any more; what it held is lost, and free for others."""
    lost = [Lost(number, Outcome("lost", reason=reason), **marks) for number in ledger.held_by(copy)]
    written = [store.append(event) for event in (*lost, Left(copy, message, list(idle), **marks))]
    store.stop_beating(copy)
    return written
