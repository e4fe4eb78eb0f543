"""Who drove a study: when, how it ended, and how the workers spent their time."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from aegisbo.printable import printable
from aegisbo.study.events import Event
from aegisbo.study.ledger import ledger_of
from aegisbo.study.lock import is_driven

BETWEEN = {  # events that no driver writes, and what is said of them if they came after the last one
    **dict.fromkeys(("retried", "forgotten"), "trials were retried or forgotten"),
    "added": "points were added",
    "set": "settings were changed",
}
COMING, GOING = ("opened", "joined"), ("closed", "left")  # of a driver, and of a copy
AGAIN = {"closed": "make the same call again", "left": "start `aegisbo work` again"}


def ending(path: Path, events: Sequence[Event]) -> str:
    """How the last driver ended, or that it is at work."""
    return printable(_ending(path, events))


def _ending(path: Path, events: Sequence[Event]) -> str:
    *_, last = (event for event in events if event.kind in ("created", *COMING, *GOING))
    if last.kind in ("joined", "left") and (copies := _at_work(events)):
        return _of_copies(path, copies)
    if last.kind in GOING:
        news = dict.fromkeys(BETWEEN[event.kind] for event in events if event.id > last.id and event.kind in BETWEEN)
        since = f" Since then {', '.join(news)}: {AGAIN[last.kind]} to go on." if news else ""
        return f"{last.body['message']}{since}"
    host = last.body.get("host", platform.node())
    process = f" (process {last.body['pid']} on {host})" if last.kind == "opened" else ""
    if is_driven(path):
        return f"Running{process}."
    if host == platform.node():
        return f"Killed: the driver{process} did not end by itself. Make the same call again to go on."
    return f"Running or killed, on another machine{process}."


def _at_work(events: Iterable[Event]) -> list[Event]:
    """How each copy joined that is at work, as far as the events tell: one that was killed is, until others notice."""
    return list(ledger_of(events).copies.values())


def _of_copies(path: Path, copies: Sequence[Event]) -> str:
    counts = Counter(joined.body["host"] for joined in copies)
    where = ", ".join(f"{count} on {host}" for host, count in counts.items())
    if is_driven(path):
        return f"Running: {len(copies)} {'copy' if len(copies) == 1 else 'copies'} at work ({where})."
    if set(counts) == {platform.node()}:
        return f"Killed: copies did not end by themselves ({where}). Start `aegisbo work` again to go on."
    return f"Running or killed, on other machines too: copies ({where})."


def sittings(events: Iterable[Event]) -> list[tuple[float, float]]:
    """When drivers began, and when they were last heard of, in seconds since 1970; copies share a sitting."""
    spans: list[tuple[float, float]] = []
    copies: set[int] = set()  # at work
    for event in events:
        name = event.body.get("copy", event.id)
        if event.kind == "opened" or (event.kind == "joined" and not copies):
            spans.append((event.at, event.at))
        elif spans and event.kind not in BETWEEN and not event.body.get("buried"):
            spans[-1] = (spans[-1][0], event.at)
        if event.kind == "joined":
            copies.add(name)
        elif event.kind == "left":
            copies.discard(name)
    return spans


def idle_shares(events: Iterable[Event]) -> dict[str, float] | None:
    """The shares of their time that all workers of all drivers were idle, by cause; None if no driver has told."""
    seconds: Counter[str] = Counter()
    for event in events:
        if event.kind in GOING:
            for worker in event.body["idle"]:
                seconds.update(worker)
    total = seconds.total()
    return {cause: spent / total for cause, spent in seconds.items() if cause != "busy"} if total else None
