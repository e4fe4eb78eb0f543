"""Logs a study for TensorBoard: a folder for each trial in one for the study, with curves and hyper-parameters."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from time import time
from typing import Any

from aegisbo.integrations.tracker import Entry, ListedSession, Session, Tracker, Whole
from aegisbo.outcome import FAILURES

Event: Any = import_module("tensorboard.compat.proto.event_pb2").Event
Summary: Any = import_module("tensorboard.compat.proto.summary_pb2").Summary
EventFileWriter: Any = import_module("tensorboard.summary.writer.event_file_writer").EventFileWriter
text_pb: Any = import_module("tensorboard.plugins.text.summary_v2").text_pb
hparams_pb: Any = import_module("tensorboard.plugins.hparams.summary_v2").hparams_pb
metadata: Any = import_module("tensorboard.plugins.hparams.metadata")
plugin_data: Any = import_module("tensorboard.plugins.hparams.plugin_data_pb2")
Status: Any = import_module("tensorboard.plugins.hparams.api_pb2").Status
STATUS = {"done": Status.STATUS_SUCCESS, **dict.fromkeys((*FAILURES, "lost"), Status.STATUS_FAILURE)}


class TensorBoardCallback(Tracker):
    """Log a study for TensorBoard while it runs: a folder for each trial in one for the study.

    Args:
        log_dir: the folder that `tensorboard --logdir` is given.
        name: of the study's folder, which also has a key; None takes the name of the study.
    """

    title = "TensorBoard"

    def __init__(self, log_dir: str | os.PathLike[str] = "runs", *, name: str | None = None) -> None:
        super().__init__(name)
        self._log_dir = Path(log_dir).absolute()  # once: a callback may change the directory

    def _opened(self, study: Whole) -> Session:
        known = sorted(self._log_dir.glob(f"*-{study.key}"))
        name = re.sub(r"[^\w.-]", "-", study.name)
        return _Session(known[0] if known else self._log_dir / f"{name}-{study.key}", study)


class _Session(ListedSession):
    def __init__(self, folder: Path, study: Whole) -> None:
        super().__init__(folder / "logged.txt")
        self._folder, self._study = folder, study
        self._whole: Any = None  # writes what concerns the study, once there is something to log

    def log(self, entry: Entry) -> None:
        trial = entry.trial
        if self._whole is None:
            self._whole = EventFileWriter(str(self._folder))
            table = "\n".join(f"| {name} | {fact} |" for name, fact in self._study.facts.items())
            self._whole.add_event(Event(wall_time=time(), summary=text_pb("study", f"| | |\n|---|---|\n{table}")))
        begun, end = trial.started or trial.ended or time(), trial.ended or time()
        writer = EventFileWriter(str(self._folder / entry.file))
        point = {name: _plain(value) for name, value in trial.params.items()}
        facts = {name: fact for name, fact in entry.facts.items() if name != "reason"}
        start = hparams_pb({**facts, **point}, f"{entry.name} of {self._folder.name}", begun)
        writer.add_event(Event(wall_time=begun, summary=start))
        if trial.reason:
            writer.add_event(Event(wall_time=end, summary=text_pb("reason", entry.facts["reason"])))
        for step, value, at in entry.curve:
            writer.add_event(_scalars({"reported": value}, at, step))
        writer.add_event(_scalars(entry.metrics, end, 0))
        ended = plugin_data.SessionEndInfo(status=STATUS.get(trial.state, Status.STATUS_UNKNOWN), end_time_secs=end)
        what = metadata.create_summary_metadata(plugin_data.HParamsPluginData(session_end_info=ended))
        last = Summary.Value(tag=metadata.SESSION_END_INFO_TAG, metadata=what, tensor=metadata.NULL_TENSOR)
        writer.add_event(Event(wall_time=end, summary=Summary(value=[last])))
        writer.close()
        self._whole.add_event(_scalars(entry.best, end, entry.place))
        self._whole.flush()

    def close(self) -> None:
        if self._whole is not None:
            self._whole.close()


def _plain(value: Any) -> bool | float | str:
    return value if isinstance(value, bool | int | float | str) else str(value)


def _scalars(values: Mapping[str, float], at: float, step: int) -> Any:  # an event
    summary = Summary(value=[Summary.Value(tag=name, simple_value=value) for name, value in values.items()])
    return Event(wall_time=at, step=step, summary=summary)
