"""The loop's journal on a study file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aegisbo.outcome import Outcome
from aegisbo.runners.protocol import Asked
from aegisbo.study import Study


@dataclass(frozen=True)
class Recorder:
    """Writes what the loop reports as events of the study."""

    study: Study

    @property
    def known(self) -> int:
        """The study was read up to the event that says it was opened."""
        return self.study.opened

    def asked(self, trial: Asked, memory: Mapping[str, Any], seen: int, seconds: float) -> int:
        """Write a point down before it is submitted."""
        return self.study.asked(trial.number, trial.params, trial.note, memory, seen, seconds)

    def ended(self, number: int, outcome: Outcome, seconds: float) -> int:
        """Write down what became of a job."""
        if outcome.state == "done":
            return self.study.told(number, outcome.value, seconds)
        if outcome.state == "lost":
            return self.study.lost(number, outcome.reason)
        return self.study.failed(number, outcome.state, outcome.reason, outcome.traceback, seconds)
