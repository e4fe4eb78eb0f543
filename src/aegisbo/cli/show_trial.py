"""`aegisbo show --trial`: all that a study knows of one trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from aegisbo.cli.tables import Terminal, local_time
from aegisbo.errors import TrialError

if TYPE_CHECKING:
    from aegisbo.events import Event
    from aegisbo.optimizer import Trial
    from aegisbo.report.record import Record


def show_trial(number: int, record: Record) -> None:
    """Print one trial, or point observed elsewhere, in full."""
    trials = (*record.optimizer.observed, *record.optimizer.trials)
    found = [(trial, row) for trial, row in zip(trials, record.table, strict=True) if trial.number == number]
    if not found:
        known = f"{trials[0].number} to {trials[-1].number} are known" if trials else "none was asked for yet"
        raise TrialError(f"There is no trial {number} in the study: {known}.")
    console = Terminal(soft_wrap=True)
    ((trial, row),) = found
    _print(console, _facts(trial, row))
    _print(console, trial.params.items(), "parameters")
    _print(console, trial.measured.items(), "measured")
    _print(console, _history(number, record.events), "what happened")
    for heading, text in {"what it printed": trial.output, "traceback": trial.traceback}.items():
        if text:
            console.print(f"\n{heading}\n{text.rstrip()}")


def _facts(trial: Trial, row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    from aegisbo.optimizer.trial import in_short

    times = {name: row[f"{name}_at"] for name in ("asked", "started", "ended")}
    yield "trial", trial.number
    yield "state", trial.state
    yield "value", trial.value
    yield "reason", trial.reason
    yield from ((name, None if at is None else local_time(at)) for name, at in times.items())
    yield "seconds", None if trial.seconds is None else f"{trial.seconds:.4g}"
    yield "worker", trial.worker
    yield "why here", in_short(trial.note)


def _history(number: int, events: Iterable[Event]) -> list[tuple[str, str]]:
    """Every event of the trial, if there is more to tell than its beginning and its end."""
    from aegisbo.events import Asked, Ended, Observed, concerns

    own = [event for event in events if concerns(event, number)]
    if all(isinstance(event, Asked | Ended | Observed) for event in own):
        return []
    bodies = [(event, event.body) for event in own]
    return [
        (local_time(event.at), f"{event.kind} {body.get('value', body.get('reason', ''))}") for event, body in bodies
    ]


def _print(console: Terminal, pairs: Iterable[tuple[str, Any]], title: str = "") -> None:
    known = [(name, value) for name, value in pairs if value is not None or title]
    if title and known:
        console.print(f"\n{title}")
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        console.print(f"{'  ' * bool(title)}{name:<{width}}  {value}".rstrip())
