"""One line that says what run a figure shows."""

from __future__ import annotations

from aegisbo.outcome import FAILURES
from aegisbo.plot.canvas import as_label
from aegisbo.report.record import Record


def summary(record: Record) -> str:
    """The name of the run, the best value, and how many evaluations it took."""
    result = record.result
    failed = sum(trial.state in FAILURES for trial in record.trials)
    said = [f"{result.nfev} evaluations", *([f"{failed} without a value"] if failed else [])]
    said += [f"{len(record.optimizer.pending)} pending"] if record.optimizer.pending else []
    if result.best is None:
        return f"{as_label(record.name)}: {', '.join(said)}"
    where = f"trial {result.best.number}" if result.best.number >= 0 else "observed elsewhere"
    return f"{as_label(record.name)}: best {result.fun:.6g} ({where}), {', '.join(said)}"
