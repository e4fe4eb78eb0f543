"""Copies of one study in one process, to be interleaved by hand, on a clock that stands still."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aegisbo.optimizer import Settings
from aegisbo.study.agreement import Caller
from aegisbo.study.membership import join
from aegisbo.study.shared import Shared
from aegisbo.study.store import Store

BOX = {"u": (-5.0, 10.0), "v": (2.0, 3.0)}


@dataclass
class Hall:
    """Where copies work on one study, each with a connection of its own and without a heart that beats by itself."""

    path: Path
    budget: int = 100
    lease: float = 10.0
    now: float = 1000.0
    settings: Settings = field(default_factory=lambda: Settings.checked(BOX, strategy="random", seed=3))
    stores: list[Store] = field(default_factory=list)

    def copy(self, *, alone: bool = False, retries: int = 2, **call: Any) -> Shared:
        store = Store(self.path, print, shared=True)
        self.stores.append(store)
        call = {"budget": self.budget, "workers": 1, **call}
        state, joined = join(store, Caller(self.settings, call=call), self.lease, alone=alone)
        return Shared(store, state.optimizer, joined, retries=retries, clock=lambda: self.now)

    def close(self) -> None:
        for store in self.stores:
            store.close()
