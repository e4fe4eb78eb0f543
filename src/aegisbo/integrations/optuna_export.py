"""A study file as an Optuna study, for Optuna's dashboard, plots and storages."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages.journal import JournalFileBackend
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from aegisbo.address import Named, place_of
from aegisbo.errors import InvalidInput
from aegisbo.optimizer import Trial
from aegisbo.outcome import FAILURES
from aegisbo.space import Choice, Int
from aegisbo.space.parameters import Parameter
from aegisbo.study.file import is_study
from aegisbo.study.reading import read_events
from aegisbo.study.state import State

STATES: dict[str, TrialState] = {
    "done": TrialState.COMPLETE,
    **dict.fromkeys(FAILURES, TrialState.FAIL),
    "stopped": TrialState.PRUNED,
}


def export(path: Named, storage: str, name: str | None = None) -> optuna.Study:
    """Copy the trials of a study file that have ended into a new Optuna study.

    Args:
        path: the study, a file or an address.
        storage: an SQLAlchemy URL, or the name of a journal file (ending in .log or .journal).
        name: of the Optuna study; the name of the file unless given.
    """
    place = place_of(path)
    state = State.after(read_events(place))
    if is_study(Path(file := storage.removeprefix("sqlite:///"))):
        raise InvalidInput(f"{file} is already a study: name another file for Optuna's.")
    optimizer = state.optimizer
    name = place.stem if name is None else name
    kinds = [each.maximize for each in optimizer.settings.objectives] or [optimizer.settings.maximize]
    directions = [StudyDirection.MAXIMIZE if maximize else StudyDirection.MINIMIZE for maximize in kinds]
    try:
        study = optuna.create_study(storage=_storage(storage), study_name=name, directions=directions)
    except optuna.exceptions.DuplicatedStudyError:
        raise InvalidInput(f"{storage} already has a study {name!r}: choose another --name.") from None
    except Exception as error:  # from SQLAlchemy, a database driver or the system
        said = str(error).partition("\n")[0]
        raise InvalidInput(
            f"{storage!r} cannot be used ({type(error).__name__}: {said}): give a URL such as sqlite:///optuna.db, or "
            "a journal file such as optuna.log, in a folder that exists."
        ) from error
    if names := [each.name for each in optimizer.settings.objectives]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            study.set_metric_names(names)
    distributions = {name: _distribution(kind) for name, kind in optimizer.space.parameters.items()}
    ended = [trial for trial in optimizer.trials if trial.state in STATES]
    study.add_trials([_frozen(trial, distributions, state) for trial in ended])
    return study


def _storage(text: str) -> str | optuna.storages.BaseStorage:
    if not text.endswith((".log", ".journal")):
        return text
    return optuna.storages.JournalStorage(JournalFileBackend(text))


def _frozen(trial: Trial, distributions: Mapping[str, BaseDistribution], state: State) -> FrozenTrial:
    asked, ended, limits = state.asked[trial.number], state.ended[trial.number], state.settings.limits
    done, objectives = trial.state == "done", state.settings.objectives
    why = "stopped" if trial.state == "stopped" else "reason"
    told = {why: trial.reason, "sd": trial.sd, "measured": dict(trial.measured) or None}
    reports = {int(each.step): each.value for each in trial.reports if each.step >= 0 and each.step.is_integer()}
    values = [trial.measured.get(each.name) for each in objectives] or [trial.value]
    frozen = optuna.trial.create_trial(
        state=STATES[trial.state],
        values=[value for value in values if value is not None] or None,
        params=dict(trial.params),
        distributions={name: distributions[name] for name in trial.params},
        intermediate_values={step: math.nan if value is None else value for step, value in reports.items()},
        user_attrs={
            "aegisbo:move": trial.note.get("move"),
            "aegisbo:note": dict(trial.note),
            **{f"aegisbo:{name}": value for name, value in told.items() if value is not None},
        },
        constraints={limit.text: limit.excess(trial.measured[limit.name]) for limit in limits} if done else None,
    )
    begin = datetime.fromtimestamp(ended.at - (ended.outcome.seconds or 0.0))
    frozen.datetime_start = max(begin, datetime.fromtimestamp(asked.at))
    frozen.datetime_complete = datetime.fromtimestamp(ended.at)
    return frozen


def _distribution(parameter: Parameter) -> BaseDistribution:
    if isinstance(parameter, Choice):
        return CategoricalDistribution(list(parameter.values))
    kind: Any = IntDistribution if isinstance(parameter, Int) else FloatDistribution
    # Optuna has no steps on a logarithmic scale.
    step = {"step": parameter.step} if isinstance(parameter, Int) and not parameter.log else {}
    distribution: BaseDistribution = kind(parameter.low, parameter.high, log=parameter.log, **step)
    return distribution
