"""How a copy joins the others that share a study, and how it goes: on its own, or given up by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from aegisbo.errors import InvalidInput, StudyError
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.space.widening import widened
from aegisbo.study.endings import as_event
from aegisbo.study.events import Event
from aegisbo.study.ledger import Ledger, ledger_of
from aegisbo.study.objective import Objective
from aegisbo.study.store import Store
from aegisbo.study.study import agreed, begin, settings_of


def join(
    store: Store,
    settings: Settings | None,
    me: Mapping[str, Any],
    say: Callable[[str], None] = lambda text: None,
    *,
    objective: Objective | None = None,
    anyway: bool = False,
    alone: bool = False,
) -> Event:
    """Write down that a copy is there, and the beginning of the study if it is new.

    Args:
        store: the study.
        settings: as the user gave them; None if the study is to know them.
        me: what is known of the copy: its "lease" and its "call" at least.
        say: is told, in a sentence, what the user should know.
        objective: the function whose values are stored; None if nobody knows it.
        anyway: go on although the study holds values of another function.
        alone: no other copy is alive, whatever the study says.

    Returns:
        The event, whose id is the name of the copy.

    Raises:
        StudyError: the study was begun with other settings, or holds values of another function.
        InvalidInput: it has no budget.
    """
    with store.transaction():
        news = _settled(store, settings, say, objective, anyway=anyway)
        ledger = ledger_of(store.events())
        for each in tuple(ledger.copies) if alone else ():
            bury(store, ledger, each, "was killed")
        ledger = ledger_of(store.events())
        call = {**me["call"], "budget": me["call"].get("budget") or ledger.terms.asked.get("budget")}
        if (call["budget"] or ledger.budget) is None:
            raise InvalidInput(f"{store.path} has no budget: say how many evaluations there are to be in all.")
        lane = _free_lane(ledger, call.get("workers") or 1)
        joined = store.append("joined", None, {**me, **news, "call": call, "lane": lane})
        store.beat(joined)
        return store.events(joined - 1)[0]


def _settled(
    store: Store,
    settings: Settings | None,
    say: Callable[[str], None],
    objective: Objective | None,
    *,
    anyway: bool,
) -> dict[str, Any]:
    """Begin the study, or agree with what is there; returns what must be added to it."""
    events = store.events()
    if not events and settings is not None:
        begin(store, settings.decided(), objective)
        return {}
    if not events:
        raise StudyError(f"{store.path} holds nothing yet: give its space, and what to minimize.")
    _, news = agreed(store, events, settings, say, objective=objective, anyway=anyway)
    space = settings_of(events).space
    if settings is not None and widened(space, settings.space) != space:
        raise StudyError(
            f"{store.path} has narrower bounds, and copies cannot widen them: `minimize` can, when no copy is at work."
        )
    return news


def _free_lane(ledger: Ledger, workers: int) -> int:
    """The first of so many numbers for workers that no other copy has, so that a picture shows each by itself."""
    taken = {
        joined.body["lane"] + k
        for joined in ledger.copies.values()
        for k in range(joined.body["call"].get("workers") or 1)
    }
    return next(lane for lane in count() if not taken.intersection(range(lane, lane + workers)))


def bury(store: Store, ledger: Ledger, copy: int, how: str) -> None:
    """Write down that a copy is dead, and free what it held."""
    body = ledger.copies[copy].body
    who = f"process {body.get('pid')} on {body.get('host')}"
    part(store, ledger, copy, f"Killed: the copy ({who}) {how}.", f"Its copy ({who}) {how}.", [], buried=True)


def part(
    store: Store,
    ledger: Ledger,
    copy: int,
    message: str,
    reason: str,
    idle: Sequence[Mapping[str, float]],
    **marks: bool,
) -> None:
    """Write down that a copy is not there any more; what it held is lost, and free for others."""
    _, lost = as_event(Outcome("lost", reason=reason), 0.0)
    for number in ledger.held_by(copy):
        store.append("lost", number, {**lost, "seconds": None, **marks})
    store.append("left", None, {"copy": copy, "message": message, "idle": list(idle), **marks})
    store.stop_beating(copy)
