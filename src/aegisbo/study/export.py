"""A study as a table: one row per trial, in CSV or JSON."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any, TextIO

from aegisbo.errors import UnknownName
from aegisbo.study.history import ENDINGS, optimizer_after
from aegisbo.study.store import read_events


def rows(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The trials of a study by number, with when they were asked for and ended."""
    events = read_events(Path(path))
    asked = {event.number: event for event in events if event.kind == "asked"}
    ended = {event.number: event for event in events if event.kind in ENDINGS}
    table = []
    for trial in optimizer_after(events).trials:
        end = ended.get(trial.number)
        table.append(
            {
                "number": trial.number,
                "state": trial.state,
                "value": trial.value,
                **{f"param_{name}": value for name, value in trial.params.items()},
                "move": trial.note.get("move"),
                "asked_at": asked[trial.number].at,
                "suggestion_seconds": asked[trial.number].body["seconds"],
                "ended_at": None if end is None else end.at,
                "seconds": None if end is None else end.body["seconds"],
                "reason": trial.reason,
            }
        )
    return table


def write(path: str | os.PathLike[str], form: str, out: TextIO) -> None:
    """Write the study's trials as "csv" or "json"."""
    if form not in WRITERS:
        raise UnknownName("export format", form, WRITERS)
    WRITERS[form](path, out)


def _csv(path: str | os.PathLike[str], out: TextIO) -> None:
    table = rows(path)
    writer = csv.DictWriter(out, fieldnames=list(table[0]) if table else ["number"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)


def _json(path: str | os.PathLike[str], out: TextIO) -> None:
    events = read_events(Path(path))
    created, state = events[0].body, optimizer_after(events).state()
    settings = {**created["optimizer"], "space": state["space"]}  # which may have been widened
    document = {**created, "optimizer": settings, "trials": state["trials"], "table": rows(path)}
    json.dump(document, out, indent=1)
    out.write("\n")


WRITERS = {"csv": _csv, "json": _json}
