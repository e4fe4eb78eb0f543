"""Logs a study to Weights & Biases: a run for each trial, and one for the study, all in one group."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.integrations.tracker import Entry, ListedSession, Session, Tracker, Whole

wandb: Any = import_module("wandb")

OURS = ("config", "group", "id", "job_type", "name", "reinit", "resume", "settings")  # arguments of wandb.init
QUIET = {"console": "off", "silent": True, "x_disable_stats": True, "disable_git": True}  # settings


class WandbCallback(Tracker):
    """Log a study to Weights & Biases while it runs: a run for each trial, and one for the study, all in one group.

    Args:
        project: the project; None takes WANDB_PROJECT or W&B's default.
        name: of the group; None takes the name of the study.
        options: other arguments of `wandb.init`, such as entity="team", mode="offline" or dir="logs".

    Raises:
        InvalidInput: an argument of `wandb.init` is one that the callback gives itself, or W&B has no API key.
    """

    title = "Weights & Biases"

    def __init__(self, project: str | None = None, *, name: str | None = None, **options: Any) -> None:
        super().__init__(name)
        if taken := sorted(options.keys() & set(OURS)):
            raise InvalidInput(f"WandbCallback gives {taken[0]} to wandb.init itself: leave it out.")
        mode = options.get("mode") or os.environ.get("WANDB_MODE") or "online"
        if mode == "online" and not _logged_in():
            raise InvalidInput('Weights & Biases has no API key: run `wandb login`, or give mode="offline".')
        folder = Path(options.get("dir") or os.environ.get("WANDB_DIR") or ".").absolute()
        self._options = {"project": project, **options, "dir": str(folder)}

    def _opened(self, study: Whole) -> Session:
        return _Session(self._options, study)


class _Session(ListedSession):
    def __init__(self, options: dict[str, Any], study: Whole) -> None:
        super().__init__(Path(options["dir"]) / "wandb" / f"aegisbo-{study.key}.txt")
        self._options, self._study = options, study
        self._group = f"{study.name}-{study.key}"
        self._whole: Any = None  # the run for the study, once there is something to log

    def _run(self, key: str, name: str, kind: str, config: dict[str, Any], **more: Any) -> Any:
        return wandb.init(
            id=key,
            name=name,
            group=self._group,
            job_type=kind,
            config=config,
            resume="allow",
            reinit="create_new",  # beside a run that the caller may have
            settings=wandb.Settings(**QUIET),
            **self._options,
        )

    def log(self, entry: Entry) -> None:
        study, trial = self._study, entry.trial
        if self._whole is None:
            self._whole = self._run(study.key, study.name, "study", study.facts)
        run = self._run(f"{study.key}-{entry.file}", entry.name, "trial", dict(trial.params))
        try:
            for step, value, _ in entry.curve:
                run.log({"reported": value}, step=step)
            run.summary.update({**entry.metrics, **entry.facts, "started": trial.started, "ended": trial.ended})
        finally:  # an open run could not be opened again
            run.finish(exit_code=0 if trial.state in ("done", "stopped") else 1)
        self._whole.log({**entry.best, **entry.metrics, "trial": trial.number}, step=entry.place)

    def close(self) -> None:
        if self._whole is not None:
            self._whole.finish()


def _logged_in() -> bool:
    with suppress(wandb.errors.UsageError):  # there is nobody to ask for a key
        return bool(wandb.login(verify=False))
    return False
