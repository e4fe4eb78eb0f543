"""Our rules as Optuna's pruner: they decide as in our own runs, and the sampler learns as there."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

import aegisbo
from aegisbo.errors import InvalidInput, Stopped, UnknownName
from aegisbo.integrations import AegisPruner, AegisSampler
from aegisbo.integrations.optuna_history import Reader, direction_of
from aegisbo.integrations.optuna_space import SearchSpace
from aegisbo.integrations.optuna_storage import all_trials
from aegisbo.stopping.curve import Curve
from aegisbo.stopping.end_model import EndModel

STEPS = 27


def curve(x: float, y: float) -> list[float]:
    """Noisy by the point, with a value that is not finite now and then."""
    rng = np.random.default_rng(abs(hash((x, y))))
    values = (x - 3) ** 2 / 20 + (y - 2.25) ** 2 + 3.0 / np.arange(1, STEPS + 1) + rng.normal(0, 0.3, STEPS)
    values[rng.random(STEPS) < 0.02] = math.nan
    values[-1] = np.nan_to_num(values[-1], nan=5.0)
    return [float(value) for value in values]


def objective(sign: float) -> Callable[[optuna.Trial], float]:
    def train(trial: optuna.Trial) -> float:
        values = curve(trial.suggest_float("x", -5, 10), trial.suggest_float("y", 2, 3))
        for step, value in enumerate(values, start=1):
            trial.report(sign * value, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return sign * values[-1]

    return train


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("steps", [None, STEPS, 10.5])
def test_it_stops_what_a_run_of_our_own_stops(direction: str, steps: float | None) -> None:
    sign = -1.0 if direction == "maximize" else 1.0
    study = optuna.create_study(direction=direction, sampler=RandomSampler(seed=4), pruner=AegisPruner(steps=steps))
    study.optimize(objective(sign), n_trials=30)
    ours = aegisbo.Optimizer(
        {"x": (-5.0, 10.0), "y": (2.0, 3.0)}, strategy="random", maximize=sign < 0, stop_early="ranks", steps=steps
    )
    for trial in study.trials:
        values = curve(trial.params["x"], trial.params["y"])
        mine, stopped = ours.ask(), ""
        try:
            for step, value in enumerate(values, start=1):
                ours.report(mine, sign * value, step)
            ours.tell(mine, sign * values[-1])
        except Stopped as stop:
            stopped = str(stop)
        assert trial.user_attrs.get("aegisbo:stopped", "") == stopped
        assert trial.state == (TrialState.PRUNED if stopped else TrialState.COMPLETE)
        assert trial.last_step == ours.trials[mine.number].reports[-1].step
    states = [trial.state for trial in study.trials]
    assert states.count(TrialState.PRUNED) > 5
    assert states.count(TrialState.COMPLETE) > 3


@pytest.mark.parametrize("sampler", [lambda: AegisSampler(seed=0), lambda: TPESampler(seed=0)])
def test_threads_on_a_storage_prune_beside_any_sampler(sampler: Callable[[], BaseSampler], tmp_path: Path) -> None:
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "journal.log")))
    study = optuna.create_study(storage=storage, sampler=sampler(), pruner=AegisPruner(steps=STEPS))
    study.optimize(objective(1.0), n_trials=16, n_jobs=4)
    states = [trial.state for trial in study.trials]
    assert set(states) <= {TrialState.COMPLETE, TrialState.PRUNED}
    assert states.count(TrialState.PRUNED) > 0
    for trial in study.trials:
        assert (trial.state == TrialState.PRUNED) == ("aegisbo:stopped" in trial.user_attrs)


PROCESS = """
import sys
sys.path.insert(0, sys.argv[1])
import optuna
from test_optuna_pruner import STEPS, AegisPruner, JournalFileBackend, JournalStorage, objective
storage = JournalStorage(JournalFileBackend(sys.argv[2]))
study = optuna.load_study(study_name="shared", storage=storage, pruner=AegisPruner(steps=STEPS))
study.optimize(objective(1.0), n_trials=6)
"""


@pytest.mark.long
def test_processes_on_a_storage_prune_by_the_reports_of_all(tmp_path: Path) -> None:
    journal = str(tmp_path / "journal.log")
    study = optuna.create_study(study_name="shared", storage=JournalStorage(JournalFileBackend(journal)))
    command = [sys.executable, "-W", "ignore", "-c", PROCESS, str(Path(__file__).parent), journal]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(300.0) for process in processes] == [0] * 4
    stopped = [trial.user_attrs["aegisbo:stopped"] for trial in study.trials if trial.state == TrialState.PRUNED]
    assert len(study.trials) == 24
    assert max(int(reason.rstrip(".").split()[-1]) for reason in stopped) > 6  # more than one process has run


def told(study: optuna.Study, *, by: str, reports: list[float], value: float | None, x: float) -> None:
    """A trial with these reports, which ended with a value or was pruned."""
    kinds: dict[str, optuna.distributions.BaseDistribution] = {"x": optuna.distributions.FloatDistribution(-5, 10)}
    study.add_trial(
        optuna.create_trial(
            state=TrialState.PRUNED if value is None else TrialState.COMPLETE,
            value=reports[-1] if value is None else value,
            params={"x": x},
            distributions=kinds,
            intermediate_values=dict(enumerate(reports)),
            user_attrs={"aegisbo:stopped": "..."} if by == "us" else {},
        )
    )


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_model_learns_where_a_trial_that_we_stopped_would_have_ended(direction: str) -> None:
    sign = -1.0 if direction == "maximize" else 1.0
    study = optuna.create_study(direction=direction)
    reader = Reader(SearchSpace({"x": optuna.distributions.FloatDistribution(-5, 10)}), direction_of(study), None)

    def tell(by: str, reports: list[float], value: float | None, x: float) -> None:
        told(
            study, by=by, reports=[sign * each for each in reports], value=None if value is None else sign * value, x=x
        )

    tell("us", [6.0, 5.0], None, -5)
    tell("", [4.0, 3.0, 2.0], 1.5, 1)
    tell("", [5.0, 4.0, 2.0], 2.0, 4)
    before = reader.read(all_trials(study), asking=99).evidence
    assert before.y.tolist() == [5.0, 1.5, 2.0]  # too few to tell: the last value, as with other pruners
    assert before.sd is None
    assert before.kept.all()
    tell("", [3.0, 2.0, 2.0], 0.5, 7)
    tell("others", [9.0, 8.0], None, 10)
    evidence = reader.read(all_trials(study), asking=99).evidence
    curves = [Curve(np.arange(3.0), np.array([k, k - 1, 2.0]), end) for k, end in ((4, 1.5), (5, 2.0), (3, 0.5))]
    (end,) = EndModel(curves).forecasts([Curve(np.arange(2.0), np.array([6.0, 5.0]))])
    assert end is not None
    np.testing.assert_allclose(evidence.y, [1.5, 2.0, 0.5, 8.0, end.mean])
    np.testing.assert_allclose(evidence.X[:, 0], [0.4, 0.6, 0.8, 1.0, 0.0])
    assert evidence.sd is not None
    np.testing.assert_allclose(evidence.sd, [0, 0, 0, 0, end.sd])
    assert evidence.kept.tolist() == [True, True, True, True, False]
    tell("us", [1.0, -9.0], None, 9)
    assert reader.read(all_trials(study), asking=99).evidence.y[-1] == 0.5  # none is expected to beat the best


def test_with_constraints_the_last_value_counts() -> None:
    study = optuna.create_study()
    for value in (1.5, 2.0, 0.5, None):
        told(study, by="us", reports=[6.0, 5.0], value=value, x=1)
    trial = study.ask()
    x = trial.suggest_float("x", -5, 10)
    trial.set_constraint("size", -1.0)
    study.tell(trial, x)
    reader = Reader(SearchSpace({"x": optuna.distributions.FloatDistribution(-5, 10)}), direction_of(study), None)
    known = reader.read(all_trials(study), asking=99).known
    assert (known[3].role, known[3].loss) == ("done", 5.0)


def test_several_directions_have_no_reports() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"], pruner=AegisPruner())
    asked = study.ask()
    with pytest.raises(NotImplementedError, match="multi-objective"):
        asked.should_prune()
    with pytest.raises(InvalidInput, match=r"^The study has 2 directions, and Optuna takes reports with one\.$"):
        AegisPruner().prune(study, study.trials[0])


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(UnknownName, match="ranks"):
        AegisPruner("rank")
    with pytest.raises(InvalidInput, match="steps is 0: give the step at which an evaluation ends"):
        AegisPruner(steps=0)
