"""Earlier results, wherever they are: a study, a table in a file or in memory, a result, or trials."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.number import as_number
from aegisbo.optimizer import Core, Found, Trial
from aegisbo.outcome import FAILURES, Outcome, judged
from aegisbo.printable import printable
from aegisbo.study.export import PREFIX, from_cell
from aegisbo.study.objective import Objective
from aegisbo.study.reading import read_events
from aegisbo.study.state import State
from aegisbo.study.study import Study

MEASURED = "measured_"  # of columns that `aegisbo export` and `Result.to_pandas` write, beside those of parameters
TABLE = ".csv"  # how the name of a file ends that is a table; any other one is a study
EMPTY = ("NAType", "NaTType")  # what pandas has in a cell without a value


@dataclass(frozen=True)
class Earlier:
    """Results of an earlier run, for `minimize(observed=...)`: what fits the new space is used, the rest is told.

    Args:
        source: a study file; a CSV file (its name ends in .csv) as `aegisbo export` writes it, or with a column for
            each parameter and one for the value; a pandas DataFrame of either form; a `Result`, a `Study` or an
            `Optimizer`; or a list of trials.
        given: values by name. Of a parameter that the earlier run did not have, the value that it had there all the
            same; of one that the new space does not have, the value whose results are used.
        value: the column of a plain table that holds the values.
    """

    source: Any
    given: Mapping[str, Any] | None = None
    value: str = "value"

    def table(self) -> Table:
        """All that the source holds.

        Raises:
            InvalidInput: it is none of the above, or a table without the values.
            StudyError: the study cannot be read.
        """
        source = self.source.optimizer if isinstance(self.source, Found | Study) else self.source
        if isinstance(source, str | os.PathLike):
            path = Path(source)
            return self._of_file(path) if path.suffix.lower() == TABLE else _of_study(path)
        if isinstance(source, Core):
            return _of_optimizer(source, "The earlier run")
        if is_frame(source):
            cells = [{name: _typed(cell) for name, cell in row.items()} for row in source.to_dict("records")]
            return self._of_cells("The table", cells, "row", 0)
        if not is_trials(source):
            raise InvalidInput(f"Earlier results are a file, a table, a result or a list of trials, got {source!r}.")
        return Table("The trials", tuple(_row(trial) for trial in source))

    def _of_file(self, path: Path) -> Table:
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                cells = [{name: from_cell(cell) for name, cell in row.items()} for row in csv.DictReader(file)]
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise InvalidInput(f"{path} is no CSV file: {error}.") from error
        return self._of_cells(str(path), cells, "line", 2)

    def _of_cells(self, name: str, cells: list[dict[str, Any]], kind: str, first: int) -> Table:
        """The table with these cells; those of a file are texts, and empty ones are "" or None."""
        columns = list(cells[0]) if cells else []
        exported = {"state", "value"} <= set(columns) and any(str(column).startswith(PREFIX) for column in columns)
        value = "value" if exported else self.value
        if cells and value not in columns:
            known = printable(", ".join(map(str, columns)))
            raise InvalidInput(
                f"{name} has no column {value!r}, only {known}: say which one holds the values, "
                f"with Earlier(..., value=...) or --value-column."
            )
        rows = []
        for k, row in enumerate(cells, start=first):
            if None in row:
                raise InvalidInput(f"{name}, {kind} {k}: it has more cells than there are columns.")
            try:
                outcome = _outcome(row, value, exported=exported)
            except InvalidInput as error:
                raise InvalidInput(f"{name}, {kind} {k}: {error}") from None
            rows.append(Row(_exported(row) if exported else _without(row, value), outcome))
        return Table(name, tuple(rows), exact=exported, cells=True)


@dataclass(frozen=True)
class Row:
    """One earlier evaluation."""

    params: Mapping[str, Any]  # in a table, texts or None
    outcome: Outcome | None  # None if it has not ended


@dataclass(frozen=True)
class Table:
    """Earlier evaluations."""

    name: str  # at the beginning of a sentence
    rows: tuple[Row, ...]
    maximize: bool | None = None  # None if nobody knows
    objective: Objective | None = None
    exact: bool = True  # whether rows have the parameters and nothing else
    cells: bool = False  # whether a value may be missing (None), and may be a text that stands for another value

    @property
    def names(self) -> set[str]:
        """Everything that a row has a value for."""
        return {name for row in self.rows for name in row.params}


def _of_study(path: Path) -> Table:
    state = State.after(read_events(path))
    known = None if state.objective is None else Objective.from_description(state.objective)
    return _of_optimizer(state.optimizer, str(path), known)


def _of_optimizer(optimizer: Core, name: str, objective: Objective | None = None) -> Table:
    rows = tuple(_row(trial) for trial in (*optimizer.observed, *optimizer.trials))
    return Table(name, rows, optimizer.settings.maximize, objective)


def _row(trial: Trial) -> Row:
    if trial.state == "done":
        return Row(trial.params, Outcome("done", trial.value, measured=trial.measured, sd=trial.sd))
    return Row(trial.params, Outcome(trial.state, reason=trial.reason or "") if trial.state in FAILURES else None)


def _exported(row: Mapping[str, Any], prefix: str = PREFIX) -> dict[str, Any]:
    return {name.removeprefix(prefix): cell for name, cell in row.items() if str(name).startswith(prefix)}


def _without(row: Mapping[str, Any], column: str) -> dict[str, Any]:
    return {name: cell for name, cell in row.items() if name != column}


def _outcome(row: Mapping[str, Any], value: str, *, exported: bool) -> Outcome | None:
    """How the evaluation in a row of a table ended; None if it has not."""
    state, cell = row["state"] if exported else "done", row[value]
    if state in FAILURES:
        return Outcome(state, reason=row.get("reason") or "")
    if state != "done" or cell in (None, ""):
        return None
    measured = {name: _number(name, cell) for name, cell in _exported(row, MEASURED).items() if cell not in (None, "")}
    return judged((_number(value, cell), measured) if measured else _number(value, cell))


def _number(name: str, cell: Any) -> float:
    try:
        number = float(cell) if isinstance(cell, str) else as_number(cell)
    except ValueError:
        number = None
    if number is None:
        raise InvalidInput(f"{name} is {cell!r}, which is no number: leave it empty where there is none.")
    return number


def _typed(cell: Any) -> Any:
    """A cell of a DataFrame as a plain value; None if it holds none."""
    cell = cell.item() if hasattr(cell, "item") else cell
    missing = type(cell).__name__ in EMPTY or (isinstance(cell, float) and math.isnan(cell))
    return None if missing else cell


def is_frame(source: Any) -> bool:
    """Whether this is a pandas DataFrame, or something that is used like one."""
    return hasattr(source, "columns") and hasattr(source, "to_dict")


def is_trials(source: Any) -> bool:
    """Whether these are trials, and not pairs of a point and a value."""
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(entry, Trial) for entry in source)
