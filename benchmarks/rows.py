"""Results in files, to which only those are added that they lack: stop at any time, and repeat the command to go on.

Either in comma-separated values, a dataclass a row, or in JSON lines, an object a row.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
from dataclasses import astuple, fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

J = TypeVar("J")
R = TypeVar("R")

READ: dict[Any, Callable[[str], Any]] = {"int": int, "float": float, "str": str}  # by the annotation of a field


def read(file: Path, kind: type[R]) -> list[R]:
    """All rows; none if there is no such file."""
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as stream:
        kinds = {field.name: READ[field.type] for field in fields(kind)}
        return [kind(**{name: kinds[name](text) for name, text in row.items()}) for row in csv.DictReader(stream)]


def append(file: Path, rows: Iterable[Any]) -> None:
    for row in rows:
        new = not file.exists()
        with file.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            if new:
                writer.writerow(field.name for field in fields(row))
            writer.writerow(f"{value:.6g}" if isinstance(value, float) else value for value in astuple(row))


def job_of(row: Any, kind: type[J]) -> J:
    """What decided a run, from the row of its results, which begins with that."""
    return kind(*astuple(row)[: len(fields(kind))])


def missing(file: Path, kind: type[Any], jobs: Iterable[J]) -> list[J]:
    """The jobs of which the file has no row yet; a row begins with its job."""
    jobs = list(jobs)
    done = {job_of(row, type(jobs[0])) for row in read(file, kind)} if jobs else set()
    return [job for job in jobs if job not in done]


def fill(
    file: Path,
    kind: type[R],
    perform: Callable[[J], R],
    jobs: Iterable[J],
    processes: int,
    told: Callable[[R], str] = lambda result: "done",
) -> None:
    """Perform the jobs of which the file has no row yet, and append a row of each."""
    for result in performed(perform, missing(file, kind, jobs), processes, told):
        append(file, [result])


def performed(
    perform: Callable[[J], R], jobs: list[J], processes: int, told: Callable[[R], str] = lambda result: "done"
) -> Iterator[R]:
    """The results, as runs end, after a line that tells of each. A run may fail: the others go on, and the program
    fails at its end."""
    failures = 0
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))  # torch's threads make a fork unsafe
    try:
        futures = {pool.submit(perform, job): job for job in jobs}
        for count, future in enumerate(as_completed(futures), start=1):
            try:
                result = future.result()
            except BrokenExecutor:
                raise
            except Exception as error:  # of one run, whatever it is
                failures += 1
                print(f"[{count}/{len(jobs)}] {futures[future]}: failed with {error!r}", flush=True)
                continue
            print(f"[{count}/{len(jobs)}] {futures[future]}: {told(result)}", flush=True)
            yield result
    finally:
        pool.shutdown(cancel_futures=True)
    if failures:
        sys.exit(f"{failures} runs failed: repeat the command to try them again.")


class Kept:
    """Rows in a file of JSON lines. Some of their entries, which are named, tell them apart."""

    def __init__(self, file: Path, names: tuple[str, ...], holding: str = "") -> None:
        self._file, self._names = file, names
        rows = map(json.loads, file.read_text("utf-8").splitlines() if file.exists() else [])
        self.rows: dict[tuple[Hashable, ...], dict[str, Any]] = {
            tuple(row[name] for name in names): row for row in rows if not holding or holding in row
        }

    def get(self, key: tuple[Hashable, ...], compute: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
        """The row with these entries; it is computed, without them, and kept if there is none."""
        if key not in self.rows:
            row = self.rows[key] = {**dict(zip(self._names, key, strict=True)), **compute(*given)}
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
        return self.rows[key]
