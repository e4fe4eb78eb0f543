"""What others ask of a run while it goes on, carried out: points that must be tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aegisbo.optimizer import Optimizer
from aegisbo.optimizer.trial import in_brief
from aegisbo.runners.loop import Change, Rules
from aegisbo.runners.progress.log_lines import logger
from aegisbo.study.store import Event


@dataclass
class Steering:
    """Reads what others ask, and says in the log that it is done."""

    requests: Callable[[], Iterable[Event]]  # since the last call
    optimizer: Optimizer

    def __call__(self, rules: Rules) -> Change | None:
        """What the loop must know of it; None if nobody has asked anything."""
        events = list(self.requests())
        for event in events:
            self.optimizer.enqueue(event.body["params"])
            logger.info(f"Added: {in_brief(event.body['params'])} is tried next.")
        return Change(rules) if events else None
