"""The folders of a resumable run, one for each trial: where they are, and which of them are kept.

A trial has the same folder whenever it goes on, on any worker. While it may go on, nothing is deleted.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aegisbo.address import Address, Place
from aegisbo.optimizer import Core, Trial
from aegisbo.runners.own_folder import own_folder
from aegisbo.runners.slots import InFolder

ENDING = ".trials"  # of the folder beside a study, which has one for each trial in it


class TrialFolders:
    """The folders of all trials of a run."""

    def __init__(self, base: Path) -> None:
        self._base = base.absolute()  # once: a callback may change the directory

    def place(self, trial: Trial) -> Any:
        """What a worker gets of a trial."""
        return InFolder(trial.x, self._base / str(trial.number))

    def tidy_up(self, core: Core) -> None:
        """Delete the folders of trials that have ended and will not go on; those of the best ones stay."""
        found = core.found()
        best = [found.single.trial] if found.single else found.several.front if found.several else ()
        kept = {trial.number for trial in best}
        for trial in core.trials:
            if trial.state not in ("pending", "stopped", "lost") and trial.number not in kept:
                shutil.rmtree(self._base / str(trial.number), ignore_errors=True)


@contextmanager
def trial_folders(study: Place | None, *, resumable: bool) -> Iterator[TrialFolders | None]:
    """The folders of a run, beside its study, or here if that is on a server; without one they are temporary."""
    if not resumable:
        yield None
    elif isinstance(study, Address):
        yield TrialFolders(study.beside(ENDING))
    elif study is not None:
        yield TrialFolders(study.with_name(study.name + ENDING))
    else:
        with own_folder() as folder:
            yield TrialFolders(Path(folder))
