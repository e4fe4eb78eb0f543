"""How an evaluation ended: what is written into an event of a study, and what is read out of one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from aegisbo.outcome import Outcome
from aegisbo.study.events import Event

ENDINGS = ("told", "failed")  # events that end a trial


def as_event(outcome: Outcome, seconds: float) -> tuple[str, dict[str, Any]]:
    """What a study writes down when an evaluation ends like this: the kind of the event and its body."""
    went: dict[str, Any] = {
        "seconds": seconds,
        "began": outcome.began,
        "worker": outcome.worker,
        "output": outcome.output,
    }
    went |= {} if outcome.details is None else {"details": outcome.details}
    if outcome.state == "done":
        known: dict[str, Any] = {"measured": dict(outcome.measured)} if outcome.measured else {}
        known |= {} if outcome.sd is None else {"sd": outcome.sd}
        return "told", {"value": outcome.value, **known, **went}
    why = {"reason": outcome.reason, "traceback": outcome.traceback}
    return ("lost", {**why, **went}) if outcome.state == "lost" else ("failed", {"state": outcome.state, **why, **went})


def outcome_of(event: Event) -> Outcome:
    """The outcome that an event of `ENDINGS` tells of, or one of a point observed elsewhere."""
    body = event.body
    return Outcome(
        body.get("state", "done"),
        body.get("value", math.nan),
        reason=body.get("reason") or "",
        traceback=body.get("traceback", ""),
        seconds=body.get("seconds"),
        began=body.get("began"),
        worker=body.get("worker"),
        output=body.get("output", ""),
        measured=body.get("measured", {}),
        sd=body.get("sd"),
        details=body.get("details"),
    )


def how_it_went(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a trial keeps of its evaluation; studies of version 0.1 know the seconds only."""
    began, seconds = body.get("began"), body["seconds"]
    return {
        "started": began,
        "ended": None if began is None else began + seconds,
        "seconds": seconds,
        "worker": body.get("worker"),
        "output": body.get("output", ""),
        "traceback": body.get("traceback", ""),
        "details": body.get("details"),
    }
