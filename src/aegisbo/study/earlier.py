"""Earlier results, wherever they are: a study, a table in a file or in memory, a result, or trials."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from aegisbo.address import Address, Place, place_of
from aegisbo.errors import InvalidInput
from aegisbo.number import as_number, number_in
from aegisbo.optimizer import Core, Trial
from aegisbo.outcome import FAILURES, RESULTS, Ended, Outcome, Wanted, judged
from aegisbo.printable import printable
from aegisbo.study.export import MEASURED, PREFIX, from_cell
from aegisbo.study.reading import read_events
from aegisbo.study.state import State
from aegisbo.study.stored_function import StoredFunction

TABLE = ".csv"  # ends the name of a table; any other file is a study
EMPTY = ("NAType", "NaTType")  # pandas' types of empty cells

Row = tuple[Mapping[str, Any], Outcome | None]  # values by name, in a table texts or None; None if it has not ended


@dataclass(frozen=True)
class Earlier:
    """Results of an earlier run, for `minimize(observed=...)`: those that fit the new space are used, others reported.

    Args:
        source: a study, by its file or its address; a CSV file (its name ends in .csv) as `aegisbo export` writes it,
            or with a column for each parameter and one for the value; a pandas DataFrame of either form; a `Result`, a
            `Study` or an `Optimizer`; or a list of trials.
        given: values by name. For a parameter that the earlier run did not have: the value that applied there. For one
            that the new space does not have: only results with this value are used.
        value: the column that holds the values, in a table not written by `aegisbo export`.
    """

    source: Any
    given: Mapping[str, Any] | None = None
    value: str = "value"

    def table(self, objectives: Sequence[str] = ()) -> Table:
        """Everything in the source.

        Args:
            objectives: the columns of a table that hold values, if there are several.

        Raises:
            InvalidInput: it is none of the above, or a table without the values.
            StudyError: the study cannot be read.
        """
        source = self.source
        if isinstance(source, Earlier) or not is_source(source):
            raise InvalidInput(f"Earlier results are a file, a table, a result or a list of trials, got {source!r}.")
        if isinstance(source, str | os.PathLike | Address):
            place = place_of(source)
            if isinstance(place, Address) or place.suffix.lower() != TABLE:
                return _of_study(place)
            return self._of_cells(str(place), _cells_of_file(place), "line", 2, objectives)
        if _is_frame(source):
            cells = [{name: _typed(cell) for name, cell in row.items()} for row in source.to_dict("records")]
            return self._of_cells("The table", cells, "row", 0, objectives)
        optimizer = _optimizer_of(source)
        return _of_optimizer(optimizer, "The earlier run") if optimizer else Table("The trials", _rows(source))

    def _of_cells(
        self, name: str, cells: list[dict[str, Any]], kind: str, first: int, objectives: Sequence[str]
    ) -> Table:
        """The table with these cells; those of a file are texts, and empty ones are "" or None."""
        columns = list(cells[0]) if cells else []
        exported = {"state", "value"} <= set(columns) and any(str(column).startswith(PREFIX) for column in columns)
        values = ["value"] if exported else [*objectives] or [self.value]
        for value in values if cells else ():
            if value not in columns:
                known = printable(", ".join(map(str, columns)))
                remedy = (
                    "give each objective a column"
                    if objectives
                    else "say which one holds the values, with Earlier(..., value=...) or --value-column"
                )
                raise InvalidInput(f"{name} has no column {value!r}, only {known}: {remedy}.")
        rows: list[Row] = []
        for k, row in enumerate(cells, start=first):
            if None in row:
                raise InvalidInput(f"{name}, {kind} {k}: it has more cells than there are columns.")
            params = (
                _named(PREFIX, row) if exported else {column: row[column] for column in row if column not in values}
            )
            try:
                rows.append((params, _outcome(row, values, exported=exported, named=bool(objectives))))
            except InvalidInput as error:
                raise InvalidInput(f"{name}, {kind} {k}: {error}") from None
        return Table(name, tuple(rows), exact=exported, cells=True)


@dataclass(frozen=True)
class Table:
    """Earlier evaluations."""

    name: str  # at the beginning of a sentence
    rows: tuple[Row, ...]
    maximize: bool | None = None  # None if unknown
    objective: StoredFunction | None = None
    exact: bool = True  # whether rows have the parameters and nothing else
    cells: bool = False  # whether a value may be missing (None) or a text

    @property
    def names(self) -> set[str]:
        """Everything that has a value in some row."""
        return {name for params, _ in self.rows for name in params}


def is_source(entry: Any) -> bool:
    """Whether this holds earlier results, and is not a pair of a point and a value."""
    known = (
        isinstance(entry, str | os.PathLike | Address | Earlier) or _optimizer_of(entry) is not None or _is_frame(entry)
    )
    return known or (isinstance(entry, list | tuple) and bool(entry) and all(isinstance(each, Trial) for each in entry))


def outcome_of(trial: Trial) -> Outcome:
    """The outcome of a trial."""
    state, value = cast("Ended", trial.state), trial.value if trial.state == "done" else math.nan
    return Outcome(state, value, reason=trial.reason or "", measured=trial.measured, sd=trial.sd)


def _is_frame(source: Any) -> bool:
    """Whether this is a pandas DataFrame, or something that is used like one."""
    return hasattr(source, "columns") and hasattr(source, "to_dict")


def _optimizer_of(source: Any) -> Core | None:
    """The optimizer, or that of a result or a study."""
    found = getattr(source, "optimizer", source)
    return found if isinstance(found, Core) else None


def _of_study(path: Place) -> Table:
    state = State.after(read_events(path))
    known = None if state.objective is None else StoredFunction.from_description(state.objective)
    return replace(_of_optimizer(state.optimizer, str(path)), objective=known)


def _of_optimizer(optimizer: Core, name: str) -> Table:
    return Table(name, _rows((*optimizer.observed, *optimizer.trials)), optimizer.settings.maximize)


def _rows(trials: Iterable[Trial]) -> tuple[Row, ...]:
    return tuple((trial.params, outcome_of(trial) if trial.state in RESULTS else None) for trial in trials)


def _cells_of_file(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [{name: from_cell(cell) for name, cell in row.items()} for row in csv.DictReader(file)]
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{path} is no CSV file: {error}.") from error


def _named(prefix: str, row: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): cell for name, cell in row.items() if str(name).startswith(prefix)}


def _outcome(row: Mapping[str, Any], values: Sequence[str], *, exported: bool, named: bool) -> Outcome | None:
    """The outcome in a row of a table; None if the evaluation has not ended.

    These columns have the values, which are `named` if they are several objectives.
    """
    state = row["state"] if exported else "done"
    if state in FAILURES:
        return Outcome(state, reason=row.get("reason") or "")
    if state != "done":
        return None
    told = {name: _number(name, row[name]) for name in values if row[name] not in (None, "")}
    measured = {name: _number(name, cell) for name, cell in _named(MEASURED, row).items() if cell not in (None, "")}
    if exported:
        named = not told and len(measured) > 1
        told, values = (measured, [*measured]) if named else (told, values)
    if len(told) < len(values):
        return None
    if named:
        return judged({**told, **measured}, Wanted(tuple(values)))
    (value,) = told.values()
    return judged((value, measured) if measured else value)


def _number(name: str, cell: Any) -> float:
    number = number_in(cell) if isinstance(cell, str) else as_number(cell)
    if number is None:
        raise InvalidInput(f"{name} is {cell!r}, which is no number: leave it empty where there is none.")
    return number


def _typed(cell: Any) -> Any:
    """A cell of a DataFrame as a plain value; None if it holds none."""
    cell = cell.item() if hasattr(cell, "item") else cell
    missing = type(cell).__name__ in EMPTY or (isinstance(cell, float) and math.isnan(cell))
    return None if missing else cell
