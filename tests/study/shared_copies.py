"""Copies of one study in one process, to be interleaved by hand, on a clock that stands still."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aegisbo.address import Address, Place
from aegisbo.optimizer import Settings
from aegisbo.study.agreement import Caller
from aegisbo.study.membership import join
from aegisbo.study.opening import Log
from aegisbo.study.server import connected
from aegisbo.study.server_log import ServerLog
from aegisbo.study.shared import Shared
from aegisbo.study.store import Store

BOX = {"u": (-5.0, 10.0), "v": (2.0, 3.0)}


@dataclass
class Hall:
    """Where copies work on one study, each with a connection of its own and without a heart that beats by itself."""

    path: Place
    budget: int = 100
    lease: float = 10.0
    settings: Settings = field(default_factory=lambda: Settings.checked(BOX, strategy="random", seed=3))
    stores: list[Log] = field(default_factory=list)
    _now: float = 1000.0

    @property
    def now(self) -> float:
        return self._now

    @now.setter
    def now(self, now: float) -> None:
        """Let time pass; a server's clock goes by itself, so there all signs of life become older instead."""
        passed, self._now = now - self._now, now
        if isinstance(self.path, Address):
            with connected(self.path) as link:
                link.execute("UPDATE aegisbo.copies SET beat = beat - %s * interval '1 second'", (passed,))

    def copy(self, *, alone: bool = False, retries: int = 2, **call: Any) -> Shared:
        store = self._store()
        self.stores.append(store)
        call = {"budget": self.budget, "workers": 1, **call}
        state, joined = join(store, Caller(self.settings, call=call), self.lease, alone=alone)
        return Shared(store, state.optimizer, joined, retries=retries)

    def close(self) -> None:
        for store in self.stores:
            store.close()

    def _store(self) -> Log:
        if isinstance(self.path, Path):
            return Store(self.path, print, shared=True, clock=lambda: self.now)
        return ServerLog(self.path, print, shared=True)
