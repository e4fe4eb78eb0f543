"""A study as a table, in CSV or JSON: a row for each trial, after the points observed elsewhere."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TextIO

from aegisbo.address import Named, place_of
from aegisbo.errors import UnknownName
from aegisbo.events import Asked, Ended
from aegisbo.optimizer import Trial
from aegisbo.optimizer.trial import ADDED, move_of
from aegisbo.space.text import spelled
from aegisbo.stopping.expected_end import ExpectedEnd
from aegisbo.study.reading import read_events
from aegisbo.study.state import State

OBEYED = ("=", "+", "-", "@", "\t", "\r", "'")  # first characters that a spreadsheet may take for a formula
PREFIX = "param_"  # of the columns with values of parameters
MEASURED = "measured_"  # of the columns with other measured quantities
TIMES = ("asked_at", "started_at", "ended_at")


def table_of(state: State) -> list[dict[str, Any]]:
    """A row for each point observed elsewhere and each trial of a study; times are in seconds since 1970.

    A parameter that a trial lacks is not in its row.
    """
    trials, front = (*state.optimizer.observed, *state.optimizer.trials), None
    if state.settings.objectives:
        front = {trial.number for trial in state.optimizer.found().front}
    ends = state.optimizer.expected_ends()
    return [
        _row(trial, state.asked.get(trial.number), state.ended.get(trial.number), front, ends.get(trial.number))
        for trial in trials
    ]


def _row(
    trial: Trial, asked: Asked | None, ended: Ended | None, front: set[int] | None, end: ExpectedEnd | None
) -> dict[str, Any]:
    started_at, ended_at = trial.started, trial.ended
    if ended_at is None and ended is not None and trial.seconds is not None:  # not measured where it ran
        started_at, ended_at = ended.at - trial.seconds, ended.at
    return {
        "number": trial.number,
        "state": trial.state,
        "value": trial.value,
        **({} if trial.sd is None else {"sd": trial.sd}),
        **({"step": trial.reports[-1].step, "reported": trial.reports[-1].value} if trial.reports else {}),
        **({} if end is None else {"expected_end": end.value, "expected_end_sd": end.sd}),
        **{f"{PREFIX}{name}": value for name, value in trial.params.items()},
        **{f"{MEASURED}{name}": value for name, value in trial.measured.items()},
        **({} if front is None else {"front": trial.number in front}),
        "move": trial.note.get("move"),
        **({"author": trial.author} if move_of(trial) == ADDED else {}),
        "asked_at": None if asked is None else asked.at,
        "suggestion_seconds": None if asked is None else asked.seconds,
        "started_at": started_at,
        "ended_at": ended_at,
        "seconds": trial.seconds,
        "worker": trial.worker,
        "reason": trial.reason,
    }


def all_names(table: Sequence[dict[str, Any]]) -> list[str]:
    """The names of all columns, in the order of the rows that have them."""
    names: list[str] = []
    for row in table:
        for before, name in zip(["", *row], row, strict=False):
            if name not in names:
                names.insert(names.index(before) + 1 if before else 0, name)
    return names


def write(path: Named, form: str, out: TextIO) -> None:
    """Export the trials of a study as "csv" or "json"."""
    if form not in WRITERS:
        raise UnknownName("export format", form, WRITERS)
    WRITERS[form](State.after(read_events(place_of(path))), out)


def _csv(state: State, out: TextIO) -> None:
    table = table_of(state)
    writer = csv.DictWriter(_Lines(out), fieldnames=all_names(table) or ["number"])
    writer.writeheader()
    for row in table:
        values = {name: spelled(value) for name, value in row.items() if name.startswith(PREFIX)}
        cells = {**row, **values, **{name: _iso(row[name]) for name in TIMES}}
        writer.writerow({name: as_cell(cell) for name, cell in cells.items()})


class _Lines:
    """Ends lines with a newline; if the csv module did so itself, it would not quote a cell that holds a return."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, line: str) -> int:
        """Write one row."""
        return self._out.write(line.removesuffix("\r\n") + "\n")


def as_cell(cell: Any) -> Any:
    """A cell of a CSV file; an apostrophe keeps spreadsheets from reading a text as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(OBEYED) else cell


def from_cell(cell: Any) -> Any:
    """The text that `as_cell` was given."""
    return cell[1:] if isinstance(cell, str) and cell[:1] == "'" and cell[1:].startswith(OBEYED) else cell


def _iso(at: float | None) -> str | None:
    """A time that people and programs can read: local, with its zone."""
    return None if at is None else datetime.fromtimestamp(at).astimezone().isoformat(timespec="milliseconds")


def _json(state: State, out: TextIO) -> None:
    created, optimizer = state.created.body, state.optimizer
    settings = {**created["optimizer"], "space": optimizer.space.describe()}  # it may have been widened
    trials = [trial.describe() for trial in optimizer.trials]
    document = {**created, "optimizer": settings, "trials": trials, "table": table_of(state)}
    parts = (f"{json.dumps(name)}: {_lined(part)}" for name, part in document.items())
    out.write("{\n" + ",\n".join(parts) + "\n}\n")


def _lined(part: Any) -> str:
    """JSON with a line for each entry of a list; indentation by the json module takes minutes for a large study."""
    return "[\n" + ",\n".join(map(json.dumps, part)) + "\n]" if isinstance(part, list) else json.dumps(part)


WRITERS = {"csv": _csv, "json": _json}
