"""The file of one cell: a table of all evaluations of all its runs, compressed, behind a header in JSON.

Values, makespan and utilisation are kept to the last bit. Points are fractions of the box, and these and the virtual
times have single precision; the measured seconds have half precision, three digits. When an evaluation started is not
kept: it did so when a worker became free. Of the rows of the table, all first bytes stand together, then all second
bytes, and so on: neighbours are then alike, and compress better.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from aegis_paper.runs import Spec
from aegisbo.arrays import Array
from aegisbo.errors import AegisError
from aegisbo.simulation.problems import get
from aegisbo.simulation.runs import Evaluation, Record
from aegisbo.simulation.runs import Spec as AnySpec

Table = npt.NDArray[np.void]  # of evaluations: see _row
FORMAT = 3


@dataclass(frozen=True)
class Cell:
    """What the runs of one file have in common: they differ in their number only."""

    problem: str
    strategy: str
    preset: str
    workers: int
    budget: int = 200
    law: str = "half-normal"
    seed: int = 0

    @classmethod
    def of(cls, spec: AnySpec) -> Cell:
        """The cell that a run belongs to."""
        return cls(**{name: value for name, value in asdict(spec).items() if name != "run"})

    def spec(self, run: int) -> Spec:
        """The run with this number."""
        return Spec(**asdict(self), run=run)


@dataclass(frozen=True)
class Contents:
    """What is in a file, without the evaluations, or in a new one."""

    cell: Cell
    moves: tuple[str, ...] = ()  # names of what chose the points
    runs: tuple[Mapping[str, Any], ...] = ()  # of each run all that is no array, in order of their numbers


def read_contents(file: Path) -> Contents:
    """The header alone, which is quick."""
    with _opened(file) as archive:
        return _contents(file, archive)


def read_records(file: Path) -> list[Record]:
    """All runs, in order of their numbers."""
    contents, table = _read(file)
    low, high = np.array(get(contents.cell.problem).bounds).T
    points = np.clip(low + table["x"].astype(np.float64) * (high - low), low, high)
    records = []
    for run, x, rows in zip(contents.runs, points, table, strict=True):
        spec = contents.cell.spec(run["run"])
        if spec.run_seed != run["run_seed"]:
            raise AegisError(
                f"{file}: run {spec.run} began with seed {run['run_seed']}, but would begin with {spec.run_seed} now. "
                "Another version of aegisbo wrote it: read it with that one, or use another folder."
            )
        evaluations = _evaluations(x, rows, spec.workers, contents.moves)
        scores = spec.make_problem().scores(rows["value"])
        records.append(Record(spec, run["minimum"], scores, evaluations, run["makespan"], run["utilization"]))
    return records


def write_added(file: Path, record: Record, about: Mapping[str, Any]) -> None:
    """Replace the file, if it exists, by one with this run as well; who looks meanwhile sees either."""
    old, before = _read(file) if file.exists() else (Contents(Cell.of(record.spec)), None)
    moves = (*old.moves, *sorted({each.move for each in record.evaluations} - set(old.moves)))
    entry = {
        "run": record.spec.run,
        "run_seed": record.spec.run_seed,
        "minimum": record.minimum,
        "makespan": record.makespan,
        "utilization": record.utilization,
        **about,
    }
    place = sum(run["run"] < record.spec.run for run in old.runs)
    runs = (*old.runs[:place], entry, *old.runs[place:])
    table = _rows(record, moves)[None]
    if before is not None:
        table = np.concatenate([before[:place], table, before[place:]])
    header = {"format": FORMAT, "cell": asdict(old.cell), "moves": moves, "runs": runs}
    _replace(file, {"header": np.array(json.dumps(header)), "evaluations": _planes(table)})


def _row(d: int) -> np.dtype[np.void]:
    """One evaluation, at a point of d coordinates."""
    return np.dtype(
        [
            ("x", "<f4", (d,)),  # fractions of the box
            ("value", "<f8"),
            ("finish", "<f4"),
            ("number", "<u2"),
            ("move", "<u1"),  # its place in the header's list of moves
            ("seconds", "<f2"),  # that the suggestion took
        ]
    )


def _rows(record: Record, moves: tuple[str, ...]) -> Table:  # (budget,)
    evaluations = record.evaluations
    low, high = np.array(get(record.spec.problem).bounds).T
    rows = np.empty(len(evaluations), _row(len(low)))
    rows["x"] = (np.array([each.x for each in evaluations]) - low) / (high - low)
    rows["value"] = [each.value for each in evaluations]
    rows["finish"] = [each.finish for each in evaluations]
    rows["number"] = [each.number for each in evaluations]
    rows["move"] = [moves.index(each.move) for each in evaluations]
    rows["seconds"] = [each.suggestion_seconds for each in evaluations]
    return rows


def _evaluations(x: Array, rows: Table, workers: int, moves: Sequence[str]) -> tuple[Evaluation, ...]:
    numbers, finish = rows["number"].tolist(), rows["finish"].tolist()
    # The first points go to one worker each; then every end, and they are in order, frees one for the next number.
    start = [finish[number - workers] if number >= workers else 0.0 for number in numbers]
    points, values, seconds = x.tolist(), rows["value"].tolist(), rows["seconds"].tolist()
    names = [moves[move] for move in rows["move"].tolist()]
    columns = zip(numbers, map(tuple, points), values, names, start, finish, seconds, strict=True)
    return tuple(Evaluation(*column) for column in columns)


def _planes(table: Table) -> Array:
    """The bytes (k, runs, budget) of the rows (runs, budget), k of each."""
    return np.moveaxis(table[..., None].view(np.uint8), -1, 0)


def _read(file: Path) -> tuple[Contents, Table]:
    """Header and table (runs, budget) of one and the same state of the file, which somebody may be replacing."""
    with _opened(file) as archive:
        contents = _contents(file, archive)
        d = len(get(contents.cell.problem).bounds)
        return contents, np.ascontiguousarray(np.moveaxis(archive["evaluations"], 0, -1)).view(_row(d))[..., 0]


def _contents(file: Path, archive: Mapping[str, Array]) -> Contents:
    header = json.loads(str(archive["header"]))
    if header["format"] != FORMAT:
        raise AegisError(f"{file} has format {header['format']}, this version knows {FORMAT}: use another folder.")
    return Contents(Cell(**header["cell"]), tuple(header["moves"]), tuple(header["runs"]))


@contextmanager
def _opened(file: Path) -> Iterator[Mapping[str, Array]]:
    try:
        with file.open("rb") as stream, np.load(stream) as archive:
            yield archive
    except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile, zlib.error) as error:
        raise AegisError(
            f"{file} cannot be read ({error}): if it is damaged, delete it, and its runs will be done again."
        ) from error


def _replace(file: Path, arrays: Mapping[str, Array]) -> None:
    """Write beside the file and rename: the power may fail at any moment."""
    unfinished = file.with_suffix(".unfinished")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as stream:
            np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(file)
    except OSError as error:
        raise AegisError(f"{file} cannot be written ({error.strerror}): all earlier runs are kept.") from error
