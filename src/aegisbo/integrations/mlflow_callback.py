"""Logs a study to MLflow: a run for each trial, below one for the study."""

from __future__ import annotations

import os
import re
from importlib import import_module
from time import time
from typing import Any

from aegisbo.integrations.tracker import Entry, Session, Tracker, Whole

MlflowClient: Any = import_module("mlflow").MlflowClient
entities: Any = import_module("mlflow.entities")
STATUS = {"done": "FINISHED", "stopped": "KILLED", "lost": "KILLED"}  # else FAILED
PARENT = "mlflow.parentRunId"  # the tag by which MLflow's pages nest runs
STUDY, MARK = "aegisbo.study", "aegisbo.mark"  # tags by which a later call finds its runs
PAGE = 1000  # runs in one answer


class MLflowCallback(Tracker):
    """Log a study to MLflow while it runs: a run for each trial, below one for the study.

    Args:
        tracking_uri: the server or database, such as "http://mlflow:5000" or "sqlite:///mlflow.db"; None takes
            MLFLOW_TRACKING_URI or MLflow's default.
        experiment_name: the experiment, which is made if there is none; None takes MLFLOW_EXPERIMENT_NAME or "Default".
        run_name: of the study's run; None takes the name of the study.
    """

    title = "MLflow"

    def __init__(
        self, *, tracking_uri: str | None = None, experiment_name: str | None = None, run_name: str | None = None
    ) -> None:
        super().__init__(run_name)
        self._uri = tracking_uri
        self._experiment = experiment_name or os.environ.get("MLFLOW_EXPERIMENT_NAME") or "Default"

    def _opened(self, study: Whole) -> Session:
        client = MlflowClient(tracking_uri=self._uri)
        known = client.get_experiment_by_name(self._experiment)
        experiment = client.create_experiment(self._experiment) if known is None else known.experiment_id
        return _Session(client, experiment, study)


class _Session(Session):
    def __init__(self, client: Any, experiment: str, study: Whole) -> None:
        self._client, self._experiment, self._study = client, experiment, study
        runs = self._found(f"tags.`{STUDY}` = '{study.key}'")
        parents = [run for run in runs if PARENT not in run.data.tags]
        marks = {run.data.tags[MARK]: run for run in runs if MARK in run.data.tags}
        self._half = {mark: run.info.run_id for mark, run in marks.items() if run.info.status == "RUNNING"}
        self.logged = marks.keys() - self._half.keys()
        parent = parents[0] if parents else client.create_run(experiment, tags={STUDY: study.key}, run_name=study.name)
        self._parent = parent.info.run_id
        missing = study.facts.items() if not parent.data.params else ()
        client.log_batch(self._parent, params=[entities.Param(_allowed(name), fact) for name, fact in missing])
        client.update_run(self._parent, status="RUNNING")

    def _found(self, which: str) -> list[Any]:
        page = self._client.search_runs([self._experiment], which, max_results=PAGE)
        found = list(page)
        while page.token:
            page = self._client.search_runs([self._experiment], which, max_results=PAGE, page_token=page.token)
            found += page
        return found

    def write(self, entry: Entry) -> None:
        trial, client, now = entry.trial, self._client, _ms(entry.trial.ended or time())
        run = self._half.get(entry.mark) or self._new(entry)
        client.log_batch(
            run,
            [entities.Metric(_allowed(name), value, now, 0) for name, value in entry.metrics.items()]
            + [entities.Metric("reported", value, _ms(at), step) for step, value, at in entry.curve],
            [entities.Param(_allowed(name), str(value)) for name, value in trial.params.items()],
            [entities.RunTag(name, fact) for name, fact in entry.facts.items()],
        )
        client.log_batch(
            self._parent,
            [entities.Metric(_allowed(name), value, now, entry.place) for name, value in entry.best.items()],
        )
        client.set_terminated(run, STATUS.get(trial.state, "FAILED"), now)

    def _new(self, entry: Entry) -> str:
        tags = {PARENT: self._parent, STUDY: self._study.key, MARK: entry.mark}
        begun = None if entry.trial.started is None else _ms(entry.trial.started)
        return str(self._client.create_run(self._experiment, begun, tags, entry.name).info.run_id)

    def close(self) -> None:
        self._client.set_terminated(self._parent)


def _ms(seconds: float) -> int:
    return round(1000 * seconds)


def _allowed(name: str) -> str:
    """A name with _ for what MLflow does not allow there."""
    return re.sub(r"[^\w\-. /]", "_", name)
