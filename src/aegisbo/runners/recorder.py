"""The loop's journal on a study file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aegisbo.runners.journal import Asked
from aegisbo.runners.workers import Finished
from aegisbo.study import Study


@dataclass(frozen=True)
class Recorder:
    """Writes what the loop reports as events of the study."""

    study: Study

    @property
    def known(self) -> int:
        """The study was read up to the event that says it was opened."""
        return self.study.opened

    def asked(self, trial: Asked, memory: Mapping[str, Any], seen: int, seconds: float) -> None:
        """Write a point down before it is submitted."""
        self.study.asked(trial.number, trial.params, trial.note, memory, seen, seconds)

    def ended(self, job: Finished) -> int:
        """Write down what became of a job."""
        outcome = job.outcome
        if outcome.state == "done":
            return self.study.told(job.number, outcome.value, job.seconds)
        if outcome.state == "lost":
            return self.study.lost(job.number, outcome.reason)
        return self.study.failed(job.number, outcome.state, outcome.reason, outcome.traceback, job.seconds)
