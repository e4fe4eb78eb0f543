"""The file of one cell: all its runs in a few compressed arrays behind a header in JSON.

Values, makespan and utilisation are kept to the last bit. Points are fractions of the box, and these and the virtual
times have single precision; the measured seconds have half precision, three digits. Of each array the first bytes of
all numbers stand together, then the second bytes, and so on: neighbours are then alike, which saves 7 % of the file.
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

from aegisbo.arrays import Array
from aegisbo.errors import AegisError
from aegisbo.experiments.simulation import Evaluation, Record, Spec
from aegisbo.problems import get

FORMAT = 2
PRECISION = {
    "x": "<f4",  # (runs, budget, d) fractions of the box
    "value": "<f8",  # (runs, budget), as all that follow
    "start": "<f4",
    "finish": "<f4",
    "number": "<u2",
    "move": "<u1",  # its place in the header's list of moves
    "seconds": "<f2",
}


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
    def of(cls, spec: Spec) -> Cell:
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
    contents, columns = _read(file)
    low, high = np.array(get(contents.cell.problem).bounds).T
    columns["x"] = np.clip(low + columns["x"].astype(np.float64) * (high - low), low, high)
    records = []
    for row, run in enumerate(contents.runs):
        spec = contents.cell.spec(run["run"])
        if spec.run_seed != run["run_seed"]:
            raise AegisError(
                f"{file}: run {spec.run} began with seed {run['run_seed']}, but would begin with {spec.run_seed} now. "
                "Another version of aegisbo wrote it: read it with that one, or use another folder."
            )
        evaluations = _evaluations({name: column[row].tolist() for name, column in columns.items()}, contents.moves)
        records.append(Record(spec, run["minimum"], evaluations, run["makespan"], run["utilization"]))
    return records


def write_added(file: Path, record: Record, about: Mapping[str, Any]) -> None:
    """Replace the file, if it exists, by one with this run as well; who looks meanwhile sees either."""
    old, before = _read(file) if file.exists() else (Contents(Cell.of(record.spec)), {})
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
    columns = {
        name: np.insert(before.get(name, np.empty_like(column[None])[:0]), place, column, axis=0)
        for name, column in _columns(record, moves).items()
    }
    header = {"format": FORMAT, "cell": asdict(old.cell), "moves": moves, "runs": runs}
    _replace(file, {"header": np.array(json.dumps(header)), **{name: _bytes(columns[name]) for name in columns}})


def _columns(record: Record, moves: tuple[str, ...]) -> dict[str, Array]:
    evaluations = record.evaluations
    low, high = np.array(get(record.spec.problem).bounds).T
    columns = {
        "x": (np.array([each.x for each in evaluations]) - low) / (high - low),
        "value": [each.value for each in evaluations],
        "start": [each.start for each in evaluations],
        "finish": [each.finish for each in evaluations],
        "number": [each.number for each in evaluations],
        "move": [moves.index(each.move) for each in evaluations],
        "seconds": [each.suggestion_seconds for each in evaluations],
    }
    return {name: np.asarray(columns[name], dtype) for name, dtype in PRECISION.items()}


def _evaluations(columns: Mapping[str, list[Any]], moves: Sequence[str]) -> tuple[Evaluation, ...]:
    rows = zip(*(columns[name] for name in PRECISION), strict=True)
    return tuple(
        Evaluation(number, tuple(x), value, moves[move], start, finish, seconds)
        for x, value, start, finish, number, move, seconds in rows
    )


def _bytes(numbers: Array) -> Array:
    """The bytes (k, ...) of numbers (...) of k bytes each."""
    return np.moveaxis(numbers[..., None].view(np.uint8), -1, 0)


def _numbers(planes: Array, dtype: str) -> Array:
    """The inverse of `_bytes`."""
    return np.ascontiguousarray(np.moveaxis(planes, 0, -1)).view(dtype)[..., 0]


def _read(file: Path) -> tuple[Contents, dict[str, Array]]:
    """Header and arrays of one and the same state of the file, which somebody may be replacing."""
    with _opened(file) as archive:
        return _contents(file, archive), {name: _numbers(archive[name], dtype) for name, dtype in PRECISION.items()}


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
