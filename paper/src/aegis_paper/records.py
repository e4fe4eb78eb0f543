"""A folder of finished runs, one file a cell, which all plans share: a run that is here is never done again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aegis_paper.record_file import Cell, read_contents, read_records, write_added
from aegisbo.errors import AegisError, InvalidInput
from aegisbo.simulation.runs import Record
from aegisbo.simulation.runs import Spec as AnySpec
from aegisbo.study.lock import DriverLock
from aegisbo.study.study import build as build_here

__all__ = ["Cell", "Records"]


class Records:
    """The runs in `folder`; many may read, one at a time may write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __contains__(self, spec: AnySpec) -> bool:
        """Whether this run has finished."""
        return spec.run in self.runs(Cell.of(spec))

    def runs(self, cell: Cell) -> set[int]:
        """The numbers of the runs that have finished."""
        return set(self._about(cell, "run"))

    def builds(self, cell: Cell) -> dict[int, dict[str, str]]:
        """The versions and the processor that each run was computed with, by its number."""
        return self._about(cell, "build")

    def core_seconds(self, cell: Cell) -> dict[int, float]:
        """What each run cost, by its number, where it was measured."""
        return {run: seconds for run, seconds in self._about(cell, "core_seconds").items() if seconds is not None}

    def load(self, cell: Cell) -> list[Record]:
        """The finished runs of a cell, in order of their numbers."""
        return read_records(self.file(cell)) if self.runs(cell) else []

    def cells(self) -> list[Cell]:
        """All cells with at least one finished run."""
        return [read_contents(file).cell for file in sorted(self.folder.glob("q*/*/*/*.npz"))]

    def add(self, record: Record, build: Mapping[str, str] | None = None, core_seconds: float | None = None) -> None:
        """Keep a run that was computed with this build, or else the one of this process; for who holds the lock."""
        file = self.file(Cell.of(record.spec))
        if record.spec in self:
            raise InvalidInput(f"Run {record.spec.run} is in {file} already: add it once.")
        build = build_here() if build is None else build
        write_added(file, record, {"build": dict(build), "core_seconds": core_seconds})

    def lock(self) -> DriverLock:
        """To be held while runs are added: a second writer is told who holds it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AegisError(f"Folder {self.folder} cannot be made ({error.strerror}): choose another.") from error
        return DriverLock(self.folder)

    def file(self, cell: Cell) -> Path:
        """Where the runs of a cell are; a colon is no letter for the names of files."""
        preset, strategy = (text.replace(":", ",") for text in (cell.preset, cell.strategy))
        return self.folder / f"q{cell.workers}" / preset / strategy / f"{cell.problem}.npz"

    def _about(self, cell: Cell, name: str) -> dict[int, Any]:
        file = self.file(cell)
        if not file.exists():
            return {}
        contents = read_contents(file)
        _require_same(file, contents.cell, cell)
        return {run["run"]: run.get(name) for run in contents.runs}


def _require_same(file: Path, found: Cell, wanted: Cell) -> None:
    if found == wanted:
        return
    differences = [
        f"{name} {value}, not {asdict(wanted)[name]}"
        for name, value in asdict(found).items()
        if value != asdict(wanted)[name]
    ]
    raise AegisError(f"{file} holds runs with {', '.join(differences)}: use another folder.")
