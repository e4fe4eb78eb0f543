"""Who drove a study: when, how it ended, and how the workers spent their time."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aegisbo.address import Place
from aegisbo.events import (
    Added,
    Changed,
    Closed,
    Created,
    Ended,
    Event,
    Forgotten,
    Joined,
    Late,
    Left,
    Lost,
    Opened,
    Retried,
)
from aegisbo.printable import printable
from aegisbo.study.lock import is_driven

BETWEEN: dict[type[Event], str] = {  # events that no driver writes, and their description if they came last
    **dict.fromkeys((Retried, Forgotten), "trials were retried or forgotten"),
    Added: "points were added",
    Changed: "settings were changed",
}
AGAIN: dict[type[Event], str] = {Closed: "make the same call again", Left: "start `aegisbo work` again"}


@dataclass
class Drivers:
    """The drivers and copies of a study, event by event."""

    last: Created | Opened | Joined | Closed | Left  # the last to come or go
    copies: Mapping[int, Joined]  # at work before this event, from the ledger
    call: Mapping[str, Any] = field(default_factory=dict)  # the call of the last that came
    sittings: list[tuple[float, float]] = field(default_factory=list)  # seconds since 1970; copies share one
    idle: Counter[str] = field(default_factory=Counter)  # seconds of all workers, by what they did
    workers: int = 0  # that reported their time
    since: dict[str, None] = field(default_factory=dict)  # what happened since the last went

    def apply(self, event: Event) -> None:
        """Apply one more event, which the ledger does not know yet."""
        self._extend(event)
        match event:
            case Opened() | Joined():
                self.last, self.call, self.since = event, event.call or {}, {}
            case Closed() | Left():
                self.last, self.since = event, {}
                self.workers = max(self.workers, len(event.idle))
                for worker in event.idle:
                    self.idle.update(worker)
            case Ended() | Lost() | Late() if event.outcome.worker is not None:
                self.workers = max(self.workers, event.outcome.worker + 1)
        if type(event) in BETWEEN:
            self.since[BETWEEN[type(event)]] = None

    def _extend(self, event: Event) -> None:
        """Extend the sitting until now, or begin another one."""
        if isinstance(event, Opened) or (isinstance(event, Joined) and not self.copies):
            self.sittings.append((event.at, event.at))
        elif self.sittings and type(event) not in BETWEEN and not (isinstance(event, Left | Lost) and event.buried):
            self.sittings[-1] = (self.sittings[-1][0], event.at)

    @property
    def idle_shares(self) -> dict[str, float] | None:
        """The shares of their time that all workers of all drivers were idle, by cause; None if none reported it."""
        total = self.idle.total()
        return {cause: spent / total for cause, spent in self.idle.items() if cause != "busy"} if total else None

    def ending(self, path: Place) -> str:
        """How the last driver ended, or that it is running."""
        return printable(self._ending(path))

    def _ending(self, path: Place) -> str:
        last = self.last
        if isinstance(last, Joined | Left) and self.copies:
            return _of_copies(path, [*self.copies.values()])
        if isinstance(last, Closed | Left):
            since = f" Since then {', '.join(self.since)}: {AGAIN[type(last)]} to continue." if self.since else ""
            return f"{last.message}{since}"
        host = (None if isinstance(last, Created) else last.host) or platform.node()
        process = f" (process {last.pid} on {host})" if isinstance(last, Opened) else ""
        if is_driven(path):
            return f"Running{process}."
        if host == platform.node():
            return f"Killed: the driver{process} did not end by itself. Make the same call again to continue."
        return f"Running or killed, on another machine{process}."


def _of_copies(path: Place, copies: Sequence[Joined]) -> str:
    counts = Counter(joined.host for joined in copies)
    where = ", ".join(f"{count} on {host}" for host, count in counts.items())
    if is_driven(path):
        return f"Running: {len(copies)} {'copy' if len(copies) == 1 else 'copies'} at work ({where})."
    if set(counts) == {platform.node()}:
        return f"Killed: copies did not end by themselves ({where}). Start `aegisbo work` again to continue."
    return f"Running or killed, on other machines too: copies ({where})."
