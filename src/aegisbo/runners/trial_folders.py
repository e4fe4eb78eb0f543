"""The folders of a resumable run, one for each trial: where they are, and which of them are kept.

A trial has the same folder whenever it goes on, on any worker. While it may go on, nothing is deleted.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aegisbo.address import Address
from aegisbo.errors import StudyError
from aegisbo.optimizer import Core, Trial
from aegisbo.runners.own_folder import own_folder
from aegisbo.runners.slots import InFolder
from aegisbo.study import Study

ENDING = ".trials"  # of the folder beside a study, which has one for each trial in it
MARK = ".study"  # a file in each of them, which says when the study was begun


class TrialFolders:
    """The folders of all trials of a run.

    Raises:
        StudyError: there are some of an earlier study of this name, whose states would be those of other points.
    """

    def __init__(self, base: Path, begun: float) -> None:
        self._base = base.absolute()  # once: a callback may change the directory
        self._mine = repr(begun)
        for folder in self._base.glob("*/"):
            mark = folder / MARK
            whose = mark.read_text("utf-8") if mark.exists() else ""
            if whose != self._mine and (whose or any(file != mark for file in folder.iterdir())):
                raise StudyError(f"{folder} is not of this study: move {self._base} away, or use another study.")

    def place(self, trial: Trial) -> Any:
        """What a worker gets of a trial."""
        folder = self._base / str(trial.number)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / MARK).exists():  # another copy may be reading it
            (folder / MARK).write_text(self._mine, "utf-8")
        return InFolder(trial.x, folder)

    def tidy_up(self, core: Core) -> None:
        """Delete the folders of trials that have ended and will not go on; those of the best ones stay."""
        found = core.found()
        best = [found.single.trial] if found.single else found.several.front if found.several else ()
        kept = {trial.number for trial in best}
        for trial in core.trials:
            if trial.state not in ("pending", "stopped", "lost") and trial.number not in kept:
                shutil.rmtree(self._base / str(trial.number), ignore_errors=True)


@contextmanager
def trial_folders(study: Study) -> Iterator[TrialFolders | None]:
    """The folders of a resumable run, beside its file, or here if it is on a server; without one they are temporary."""
    if not study.resumable:
        yield None
    elif isinstance(study.file, Address):
        yield TrialFolders(study.file.beside(ENDING), study.begun)
    elif study.file is not None:
        yield TrialFolders(study.file.with_name(study.file.name + ENDING), study.begun)
    else:
        with own_folder() as folder:
            yield TrialFolders(Path(folder), study.begun)
