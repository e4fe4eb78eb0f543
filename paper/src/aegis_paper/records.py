"""The runs on record: one SQLite file, which all plans share. A run that is in it is never done again.

    cells     what repeated runs have in common: problem, strategy, preset, workers, budget, law, seed; and the minimum
    builds    the versions and the processor that runs were computed with, in JSON
    runs      one row per run: its cell, its number, its seed, its makespan, its build, its cost, its scores

A score is the regret after so many completions, or the best value where nobody knows the minimum. It never rises, so
only its steps are stored, to the last bit: see `_packed`. The points are not stored; whoever needs them repeats the
run, which its row describes completely.

A run is added in one transaction. Whatever is killed, SQLite undoes what was half written: only that run is lost.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aegis_paper.runs import Cell
from aegisbo.arrays import Array
from aegisbo.errors import AegisError, InvalidInput
from aegisbo.simulation.runs import SimulatedRun
from aegisbo.simulation.runs import Spec as AnySpec
from aegisbo.study.agreement import build as build_here
from aegisbo.study.lock import DriverLock

APPLICATION = 0x61656770  # "aegp": marks the file as ours
FORMAT = 1
PATIENCE = 60.0  # seconds to wait for somebody who is writing at this moment

KEY = ", ".join(field.name for field in fields(Cell))
SAME_CELL = " AND ".join(f"{field.name} = ?" for field in fields(Cell))

TABLES = f"""
CREATE TABLE cells (
    id INTEGER PRIMARY KEY,
    problem TEXT NOT NULL,
    strategy TEXT NOT NULL,
    preset TEXT NOT NULL,
    workers INTEGER NOT NULL,
    budget INTEGER NOT NULL,
    law TEXT NOT NULL,       -- of the job times
    seed INTEGER NOT NULL,
    minimum REAL,            -- of the problem, where it is known
    UNIQUE ({KEY})
);
CREATE TABLE builds (
    id INTEGER PRIMARY KEY,
    build TEXT NOT NULL UNIQUE
);
CREATE TABLE runs (
    cell INTEGER NOT NULL REFERENCES cells,
    run INTEGER NOT NULL,
    run_seed INTEGER NOT NULL,
    makespan REAL NOT NULL,  -- seconds of the virtual clock
    build INTEGER NOT NULL REFERENCES builds,
    core_seconds REAL,       -- what it cost, if it was measured
    steps BLOB NOT NULL,     -- of the scores
    PRIMARY KEY (cell, run)
) WITHOUT ROWID;
"""

STEP = np.dtype([("first", "<u4"), ("score", "<f8")])  # the score after completion number `first`, counted from 0


class Records:
    """The runs in one file; many may read it, one at a time may write.

    Args:
        file: the SQLite file. It is made when the first run is added.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def runs(self) -> dict[Cell, set[int]]:
        """The numbers of the runs that have finished, by cell."""
        found: dict[Cell, set[int]] = {}
        for *cell, run in self._rows(f"SELECT {KEY}, run FROM runs JOIN cells ON cell = id ORDER BY id, run"):
            found.setdefault(Cell(*cell), set()).add(run)
        return found

    def headers(self) -> pd.DataFrame:
        """One row per run: all that is known about it, apart from its scores."""
        columns = [*(field.name for field in fields(Cell)), "run", "run_seed", "minimum", "makespan", "core_seconds"]
        query = (
            f"SELECT {', '.join(columns)}, builds.build FROM runs JOIN cells ON cell = cells.id "
            "JOIN builds ON runs.build = builds.id ORDER BY cells.id, run"
        )
        table = pd.DataFrame(self._rows(query), columns=[*columns, "build"])
        return table.assign(build=table["build"].map(json.loads))

    def curves(self, cell: Cell) -> dict[int, Array]:
        """The scores after each completion, (budget,), by run.

        Raises:
            AegisError: the file cannot be read, or its runs began with other seeds than they would now.
        """
        query = f"SELECT run, run_seed, steps FROM runs JOIN cells ON cell = id WHERE {SAME_CELL} ORDER BY run"
        curves = {}
        for run, seed, steps in self._rows(query, astuple(cell)):
            now = cell.spec(run).run_seed
            if seed != now:
                raise AegisError(
                    f"{self.file}: run {run} of {cell.strategy} on {cell.problem} began with seed {seed}, but would "
                    f"begin with {now} now. Another version of aegisbo wrote it: read it with that one, or use "
                    "another file."
                )
            with self._explained():
                curves[run] = _unpacked(steps, cell.budget)
        return curves

    def add(
        self, record: SimulatedRun, build: Mapping[str, str] | None = None, core_seconds: float | None = None
    ) -> None:
        """Write one run to disk; for whoever holds the lock.

        Args:
            record: the run.
            build: the versions and the processor that it was computed with; those of this process if left out.
            core_seconds: what it cost.

        Raises:
            InvalidInput: the run is on record already.
            AegisError: the file cannot be written. Everything that was on record still is.
        """
        cell, run = Cell.of(record.spec), record.spec.run
        text = json.dumps(dict(build_here() if build is None else build), sort_keys=True)
        steps = _packed(record.scores)
        with self._open("rwc") as connection:
            self._prepare(connection)
            cell_id = _id_of(connection, "cells", (*astuple(cell), record.minimum), f"{KEY}, minimum", SAME_CELL)
            if connection.execute("SELECT 1 FROM runs WHERE cell = ? AND run = ?", (cell_id, run)).fetchone():
                raise InvalidInput(f"Run {run} of {cell.strategy} on {cell.problem} is in {self.file} already.")
            build_id = _id_of(connection, "builds", (text,), "build", "build = ?")
            row = (cell_id, run, record.spec.run_seed, record.makespan, build_id, core_seconds, steps)
            connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def lock(self) -> DriverLock:
        """To be held while runs are added: a second writer is told who holds it."""
        if self.file.is_dir():
            raise InvalidInput(f"{self.file} is a folder: name a file, such as {self.file / 'records.sqlite'}.")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AegisError(f"Folder {self.file.parent} cannot be made ({error.strerror}): choose another.") from error
        return DriverLock(self.file)

    def __contains__(self, spec: AnySpec) -> bool:
        """Whether this run has finished."""
        return spec.run in self.runs().get(Cell.of(spec), ())

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        if not self.file.exists():
            return []
        # Not read-only: the first who comes after a crash undoes what was half written.
        with self._open("rw") as connection:
            if not self._is_ours(connection):
                return []
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _open(self, mode: str) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        address = f"{self.file.resolve().as_uri()}?mode={mode}"
        with (
            self._explained(),
            closing(sqlite3.connect(address, PATIENCE, isolation_level=None, uri=True)) as connection,
            connection,
        ):
            connection.execute("BEGIN" if mode == "rw" else "BEGIN IMMEDIATE")
            yield connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if not self._is_ours(connection):
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            for statement in filter(str.strip, TABLES.split(";\n")):
                connection.execute(statement)

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether there are records; False if there is nothing at all, as before the first run."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if (application, version) == (APPLICATION, FORMAT):
            return True
        if application == APPLICATION:
            raise AegisError(f"{self.file} has format {version}, this version knows {FORMAT}: use another file.")
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise InvalidInput(f"{self.file} is a database of something else: name another file.")
        return False

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, zlib.error, ValueError) as error:
            if isinstance(error, AegisError):
                raise
            raise AegisError(
                f"{self.file} cannot be read or written ({error}). Finished runs are safe unless the file itself is "
                "damaged; then restore it from a copy, or name another file."
            ) from error


def _id_of(
    connection: sqlite3.Connection, table: str, values: tuple[Any, ...], columns: str, same: str
) -> int:  # of the row with these values, which is added if it is new
    key = values[: same.count("?")]
    found = connection.execute(f"SELECT id FROM {table} WHERE {same}", key).fetchone()
    if found:
        return int(found[0])
    places = ", ".join("?" * len(values))
    cursor = connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({places})", values)
    return int(cursor.lastrowid or 0)


def _packed(scores: Array) -> bytes:  # (budget,)
    """The steps of scores that never rise, compressed: all first bytes of the steps, then all second bytes, and so on.

    Neighbors are then alike, and compress better.
    """
    falls = np.flatnonzero(np.diff(scores, prepend=np.inf))
    steps = np.empty(len(falls), STEP)
    steps["first"], steps["score"] = falls, scores[falls]
    return zlib.compress(steps.view(np.uint8).reshape(-1, STEP.itemsize).T.tobytes(), 9)


def _unpacked(content: bytes, budget: int) -> Array:  # (budget,)
    planes = np.frombuffer(zlib.decompress(content), np.uint8).reshape(STEP.itemsize, -1)
    steps = np.ascontiguousarray(planes.T).view(STEP)[:, 0]
    lengths = np.diff(steps["first"], append=np.uint32(budget))
    return np.repeat(steps["score"].astype(np.float64), lengths)
