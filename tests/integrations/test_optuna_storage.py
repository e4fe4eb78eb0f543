from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import optuna
import pytest
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

from aegisbo.integrations.optuna_storage import LONGEST, PublishedPoint, all_trials, publish, record_of, shared_seed

STORAGES: dict[str, Callable[[Path], BaseStorage]] = {
    "memory": lambda folder: InMemoryStorage(),
    "journal": lambda folder: JournalStorage(JournalFileBackend(str(folder / "journal.log"))),
    "sqlite": lambda folder: RDBStorage(f"sqlite:///{folder}/study.db"),
}


@pytest.fixture(params=STORAGES)
def study(request: pytest.FixtureRequest, tmp_path: Path) -> optuna.Study:
    return optuna.create_study(storage=STORAGES[request.param](tmp_path))


def record(length: int = 3, **memory: object) -> PublishedPoint:
    return PublishedPoint("space", [k / 7 for k in range(length)], "strategy", memory)


def ask(study: optuna.Study) -> optuna.trial.FrozenTrial:
    study.ask()
    return study.trials[-1]


def test_a_record_is_read_as_it_was_written(study: optuna.Study) -> None:
    publish(study, ask(study), record(phi=[0.1, 1e-300]), attempt=0)
    assert record_of(all_trials(study)[0]) == record(phi=[0.1, 1e-300])


def test_a_trial_without_a_record_has_none(study: optuna.Study) -> None:
    ask(study)
    assert record_of(all_trials(study)[0]) is None


def test_a_long_record_goes_into_pieces_that_every_database_takes(study: optuna.Study) -> None:
    publish(study, ask(study), record(1000), attempt=0)
    attributes = all_trials(study)[0].system_attrs
    assert len(attributes) > 5
    assert max(map(len, attributes.values())) <= LONGEST
    assert record_of(all_trials(study)[0]) == record(1000)


def test_the_last_attempt_counts_once_it_is_complete(study: optuna.Study) -> None:
    trial = ask(study)
    publish(study, trial, record(1000), attempt=0)
    publish(study, trial, record(900), attempt=1)
    (found,) = all_trials(study)
    assert record_of(found) == record(900)
    pieces = [key for key in found.system_attrs if ":1:" in key]
    for key in pieces:  # as if it was read before that piece was written
        half = {name: value for name, value in found.system_attrs.items() if name < key or ":0:" in name}
        assert record_of(optuna.create_trial(value=0.0, system_attrs=half)) == record(1000)


def test_unseeded_samplers_of_a_study_share_a_seed(study: optuna.Study) -> None:
    other = optuna.load_study(study_name=study.study_name, storage=study._storage)
    assert shared_seed(study) == shared_seed(other) == study.user_attrs["aegisbo:seed"]
    assert shared_seed(optuna.create_study(storage=study._storage)) != shared_seed(study)
