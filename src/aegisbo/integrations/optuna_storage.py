"""What aegisbo stores with trials in Optuna's storage.

A sampler may read all trials and write attributes, but Optuna's public names do not cover that: this is the only file
that touches `study._storage` and the keys that Optuna itself keeps in the system attributes.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

from optuna import Study
from optuna.trial import FrozenTrial, TrialState

from aegisbo.strategies.base import Memory, Note

RECORD = "aegisbo:record"
MOVE, NOTE = "aegisbo:move", "aegisbo:note"
SEED = "aegisbo:seed"
STOPPED = "aegisbo:stopped"
ATTEMPTS = 8  # most records of a trial
LONGEST = 2045  # characters that any of Optuna's databases takes under one key


@dataclass(frozen=True)
class PublishedPoint:
    """A point with its context, published at once so that the next ask in any process knows of it."""

    space: str  # digest of the space
    x: list[float]  # the point of its cube
    strategy: str
    memory: Memory  # of the strategy, after this point


def all_trials(study: Study) -> list[FrozenTrial]:
    """All trials by number, not to be changed; fresh from the storage, and of all brackets of a Hyperband pruner."""
    return study._storage.get_all_trials(study._study_id, deepcopy=False)


def publish(study: Study, trial: FrozenTrial, record: PublishedPoint, attempt: int) -> None:
    """Attach a record to the trial; a later attempt supersedes an earlier one without overwriting it.

    So a reader never sees a mixture of two records, however many keys they take.
    """
    text = json.dumps(asdict(record))
    for piece, start in enumerate(range(0, len(text), LONGEST)):
        key = f"{RECORD}:{attempt}:{piece}"
        study._storage.set_trial_system_attr(trial._trial_id, key, text[start : start + LONGEST])


def record_of(trial: FrozenTrial) -> PublishedPoint | None:
    """The last complete record of a trial."""
    attributes = trial.system_attrs
    for attempt in reversed(range(ATTEMPTS)):
        text = ""
        for piece in count():
            if (key := f"{RECORD}:{attempt}:{piece}") not in attributes:
                break
            text += attributes[key]
        try:
            return PublishedPoint(**json.loads(text))
        except json.JSONDecodeError:  # there is none, or it is being written right now
            continue
    return None


def explain(study: Study, trial: FrozenTrial, note: Note) -> None:
    """Show the reason for a point where Optuna's dashboard and data frames do: the move by itself, to sort by."""
    rest = dict(note)
    study._storage.set_trial_user_attr(trial._trial_id, MOVE, rest.pop("move"))
    if rest:
        study._storage.set_trial_user_attr(trial._trial_id, NOTE, rest)


def mark_stopped(study: Study, trial: FrozenTrial, reason: str) -> None:
    """Show why a trial is to stop."""
    study._storage.set_trial_user_attr(trial._trial_id, STOPPED, reason)


def was_stopped(trial: FrozenTrial) -> bool:
    """Whether a trial was pruned by our rules."""
    return trial.state == TrialState.PRUNED and STOPPED in trial.user_attrs


def store_constraints(study: Study, trial: FrozenTrial, values: Sequence[float]) -> None:
    """Attach a trial's constraints under the key that Optuna's own samplers use."""
    study._storage.set_trial_system_attr(trial._trial_id, "constraints", list(values))


def enqueued_params(trial: FrozenTrial) -> dict[str, Any]:
    """The values that the trial was enqueued with, which no sampler chose."""
    return dict(trial.system_attrs.get("fixed_params", {}))


def retried_numbers(trials: Iterable[FrozenTrial]) -> set[int]:
    """The failed trials that Optuna has queued again."""
    return {number for trial in trials for number in trial.system_attrs.get("retry_history", ())}


def shared_seed(study: Study) -> int:
    """The seed that all unseeded samplers of a study use, drawn by the first of them."""
    storage, study_id = study._storage, study._study_id
    if SEED not in storage.get_study_user_attrs(study_id):
        storage.set_study_user_attr(study_id, SEED, secrets.randbits(32))
    return int(storage.get_study_user_attrs(study_id)[SEED])
