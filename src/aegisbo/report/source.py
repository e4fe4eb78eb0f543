"""Whatever stands for a run, and its record."""

from __future__ import annotations

import os
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.optimizer import Core, Found
from aegisbo.report.record import Record

Run = Found[Core] | Core | str | os.PathLike[str]


def record_of(run: Any) -> Record:
    """The record of a result, of an optimizer or of the study in a file; a study is read as it is now.

    Raises:
        InvalidInput: it is none of these.
        StudyError: there is no such file, or it is no study.
    """
    if isinstance(run, Core):
        return Record.of_optimizer(run)
    if isinstance(run, Found):
        if run.study is not None and run.study.exists():
            return Record.of_study(run.study)
        return Record.of_optimizer(run.optimizer, run.ending)
    if isinstance(run, str | os.PathLike):
        return Record.of_study(run)
    raise InvalidInput(f"Expected a result, an optimizer or the file of a study, got {run!r}.")
