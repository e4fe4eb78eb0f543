"""Who drove a study: when, how it ended, and how the workers spent their time."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from aegisbo.study.lock import is_driven
from aegisbo.study.store import Event

SECOND_THOUGHTS = ("retried", "forgotten")  # events that no driver writes while it runs


def ending(path: Path, events: Sequence[Event]) -> str:
    """How the last driver ended, or that it is at work."""
    *_, last = (event for event in events if event.kind in ("created", "opened", "closed"))
    if last.kind == "closed":
        edited = any(event.kind in SECOND_THOUGHTS for event in events if event.id > last.id)
        since = " Since then trials were retried or forgotten: make the same call again to go on." if edited else ""
        return f"{last.body['message']}{since}"
    host = last.body.get("host", platform.node())
    process = f" (process {last.body['pid']} on {host})" if last.kind == "opened" else ""
    if is_driven(path):
        return f"Running{process}."
    if host == platform.node():
        return f"Killed: the driver{process} did not end by itself. Make the same call again to go on."
    return f"Running or killed, on another machine{process}."


def sittings(events: Iterable[Event]) -> list[tuple[float, float]]:
    """When each driver began, and when it was last heard of, in seconds since 1970."""
    spans: list[tuple[float, float]] = []
    for event in events:
        if event.kind == "opened":
            spans.append((event.at, event.at))
        elif spans and event.kind not in SECOND_THOUGHTS:
            spans[-1] = (spans[-1][0], event.at)
    return spans


def idle_shares(events: Iterable[Event]) -> dict[str, float] | None:
    """The shares of their time that all workers of all drivers were idle, by cause; None if no driver has told."""
    seconds: Counter[str] = Counter()
    for event in events:
        if event.kind == "closed":
            for worker in event.body["idle"]:
                seconds.update(worker)
    total = seconds.total()
    return {cause: spent / total for cause, spent in seconds.items() if cause != "busy"} if total else None
