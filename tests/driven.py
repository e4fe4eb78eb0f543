"""A study that a test drives by hand."""

from __future__ import annotations

from dataclasses import replace

from aegisbo.optimizer import Trial
from aegisbo.outcome import Outcome
from aegisbo.study import Study


def ask(study: Study, seconds: float = 0.0, within: float | None = None) -> Trial:
    """The next trial of a study, written down as if its choice had taken so many seconds."""
    asked = replace(study.optimizer.choose(within), seen=study._seen, seconds=seconds)
    return study.optimizer.apply(study._log.append(asked))


def end(study: Study, number: int, outcome: Outcome, seconds: float) -> None:
    """Let a trial have ended like this, which the optimizer knows at once."""
    study.take_in(study.ended(number, outcome, seconds))
