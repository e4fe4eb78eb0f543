"""Results in files of comma-separated values, a dataclass a row, and the runs that are not in such a file yet."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
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
