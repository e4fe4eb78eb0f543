"""Studies with several directions: what the model is shown, whom it sees, and Optuna's own front as a witness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import optuna
import pytest
from numpy.random import Generator, default_rng
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from aegisbo.errors import InvalidInput
from aegisbo.integrations import AegisSampler, from_optuna
from aegisbo.integrations.optuna_history import Reader, direction_of
from aegisbo.integrations.optuna_space import SearchSpace
from aegisbo.optimizer.front import rows_of_front
from aegisbo.search.hypervolume import hypervolume
from aegisbo.strategies.base import Evidence, Memory, Suggestion
from aegisbo.strategies.registry import resolve

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")  # of set_metric_names

PLANE: dict[str, BaseDistribution] = {"x": FloatDistribution(-5, 10), "y": FloatDistribution(2, 3)}
UP_AND_DOWN = ["maximize", "minimize"]


def two_bowls(x: float, y: float) -> tuple[float, float]:
    """The first is to be large. The best points lie between the summit of one and the bottom of the other."""
    u, v = (x + 5) / 15, y - 2
    return -((u - 0.2) ** 2 + (v - 0.3) ** 2), (u - 0.8) ** 2 + (v - 0.7) ** 2


def objective(trial: optuna.Trial) -> tuple[float, float]:
    return two_bowls(trial.suggest_float("x", -5, 10), trial.suggest_float("y", 2, 3))


@dataclass(frozen=True)
class Watched:
    """Chooses points at random and writes down what it was shown."""

    several_objectives: ClassVar[bool] = True
    seen: list[Evidence] = field(default_factory=list)

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        self.seen.append(evidence)
        return Suggestion(rng.random(evidence.cube.width), memory, {"move": "watched"})


def shown(study: optuna.Study) -> Evidence:
    return Reader(SearchSpace(PLANE), direction_of(study), None).read(study.trials, asking=99).evidence


def added(study: optuna.Study, x: float, y: float, state: TrialState = TrialState.COMPLETE, **more: Any) -> None:
    study.add_trial(optuna.create_trial(params={"x": x, "y": y}, distributions=PLANE, state=state, **more))


def test_the_model_is_shown_all_values_each_to_be_minimized() -> None:
    study = optuna.create_study(directions=["maximize", "minimize", "maximize"])
    assert shown(study).y.shape == (0, 3)
    added(study, -5, 2, values=[1.0, 2.0, 3.0])
    added(study, 10, 3, values=[4.0, math.inf, 5.0])
    added(study, 1, 2.25, TrialState.FAIL)
    added(study, 1, 2.5, TrialState.PRUNED)
    added(study, 4, 2.75, values=[-6.0, 7.0, 0.5])
    study.enqueue_trial({"x": 1, "y": 3})
    study.ask(PLANE)
    evidence = shown(study)
    np.testing.assert_array_equal(evidence.y, [[-1, 2, -3], [6, 7, -0.5]])
    np.testing.assert_allclose(evidence.X, [[0, 0], [0.6, 0.75]])
    np.testing.assert_allclose(evidence.failed, [[1, 1], [0.4, 0.25], [0.4, 0.5]])
    np.testing.assert_allclose(evidence.pending, [[0.4, 1]])


def test_the_choice_is_that_of_the_strategy_on_the_same_data() -> None:
    U = default_rng(2).random((8, 2))
    study = optuna.create_study(directions=UP_AND_DOWN, sampler=AegisSampler(seed=8, n_initial=0))
    study.set_metric_names(["gain", "price"])
    points = [(-5 + 15 * u[0], 2 + u[1]) for u in U]
    for x, y in points[:7]:
        added(study, x, y, values=two_bowls(x, y))
    study.enqueue_trial({"x": points[7][0], "y": points[7][1]})
    study.ask(PLANE)
    losses = np.array([two_bowls(x, y) for x, y in points[:7]]) * [-1, 1]
    evidence = Evidence(U[:7], losses, np.empty((0, 2)), U[7:], SearchSpace(PLANE).cube)
    expected = resolve("aegis").suggest(evidence, {}, default_rng([8, 2, 8]))
    chosen = study.ask(PLANE).params
    np.testing.assert_allclose([(chosen["x"] + 5) / 15, chosen["y"] - 2], expected.x, rtol=1e-5)
    told = study.trials[-1].user_attrs
    assert told["aegisbo:move"] == expected.note["move"] == "exploit"
    assert told["aegisbo:note"]["mean"] == pytest.approx(
        {"gain": -expected.note["mean"][0], "price": expected.note["mean"][1]}, rel=1e-4
    )


def points_of(directions: Sequence[str], signs: Sequence[int]) -> list[dict[str, Any]]:
    """The points of a study with up to three trials running, which end in a random, but always the same order."""
    study = optuna.create_study(directions=directions)
    order, running = default_rng(5), list[optuna.Trial]()
    for _ in range(14):
        study.sampler = AegisSampler(seed=3)  # as if every trial was asked for by another process
        running.append(study.ask(PLANE))
        if len(running) == 3:
            ended = running.pop(order.integers(3))
            values = [sign * value for sign, value in zip(signs, two_bowls(**ended.params), strict=True)]
            study.tell(ended, None if ended.number == 6 else values, TrialState.FAIL if ended.number == 6 else None)
    return [trial.params for trial in study.trials]


def test_equal_seeds_give_equal_points_whichever_way_is_up() -> None:
    assert points_of(UP_AND_DOWN, [1, 1]) == points_of(["minimize", "maximize"], [-1, -1])


@pytest.mark.parametrize("kind", ["journal", "database"])
def test_parallel_asks_see_each_other(kind: str, tmp_path: Path) -> None:
    """Also in another process, before the objective has asked for the second parameter."""
    watched = Watched()

    def storage() -> BaseStorage:
        if kind == "database":
            return RDBStorage(f"sqlite:///{tmp_path}/optuna.db")
        return JournalStorage(JournalFileBackend(str(tmp_path / "journal.log")))

    def opened() -> optuna.Study:
        sampler = AegisSampler(strategy=watched, seed=0, search_space=PLANE, n_initial=0)
        options = {"sampler": sampler, "study_name": "shared", "load_if_exists": True}
        return optuna.create_study(directions=UP_AND_DOWN, storage=storage(), **options)

    one, other = opened(), opened()
    for x in range(3):
        added(one, x, 2.5 + x / 10, values=two_bowls(x, 2.5 + x / 10))
    first = one.ask()
    x = first.suggest_float("x", -5, 10)
    other.ask(PLANE)
    y = first.suggest_float("y", 2, 3)
    np.testing.assert_allclose(watched.seen[-1].pending, [[(x + 5) / 15, y - 2]])
    one.ask(PLANE)
    assert len(watched.seen[-1].pending) == 2


def heavy(trial: FrozenTrial) -> list[float]:
    return [trial.params["x"] - 4.0, 2.3 - trial.params["y"]]


@pytest.mark.parametrize("constraints", [None, heavy])
def test_the_front_is_that_of_optuna(constraints: Any) -> None:
    sampler = AegisSampler(seed=0, strategy="random", constraints_func=constraints)
    study = optuna.create_study(directions=["minimize", "maximize", "minimize"], sampler=sampler)
    study.optimize(lambda trial: (*objective(trial), trial.params["x"]), n_trials=40)
    evidence = shown(study)
    ours = rows_of_front(evidence, evidence.y)
    theirs = [trial.number for trial in study.best_trials]
    assert sorted(ours.tolist()) == sorted(theirs)
    assert 2 < len(theirs) < evidence.kept.sum()
    assert evidence.kept.all() == (constraints is None)


def between(count: int) -> np.ndarray:
    """Losses along the exact front: the best points are those between both bowls."""
    share = np.linspace(0, 1, count)
    return 0.52 * np.stack([share**2, (1 - share) ** 2], axis=1)  # 0.52 = 0.6² + 0.4²


@pytest.mark.long
def test_the_front_is_found_with_four_at_a_time() -> None:
    study = optuna.create_study(directions=UP_AND_DOWN, sampler=AegisSampler(seed=0, search_space=PLANE))
    study.optimize(objective, n_trials=30, n_jobs=4)
    points = [tuple(trial.params.values()) for trial in study.trials]
    assert len(set(points)) == 30
    reached = np.array([trial.values for trial in study.best_trials]) * [-1, 1]
    corner = np.array([0.6, 0.6])
    exact = sum((0.6 - later[1]) * (later[0] - earlier[0]) for earlier, later in pairwise(between(5001)))
    exact += (0.6 - 0.52) * 0.6  # beyond the end of the front
    assert 0.95 * exact < hypervolume(reached, corner) < exact


@pytest.mark.long
def test_points_are_chosen_where_constraints_are_kept() -> None:
    sampler = AegisSampler(seed=0, search_space=PLANE, constraints_func=heavy)
    study = optuna.create_study(directions=UP_AND_DOWN, sampler=sampler)
    study.optimize(objective, n_trials=18)
    assert "feasible" in study.trials[-1].user_attrs["aegisbo:note"]
    kept = [all(value <= 0 for value in heavy(trial)) for trial in study.trials[4:]]
    assert np.mean(kept) > 0.9  # 42 % of the plane keeps both


def test_branches_failures_and_enqueued_points_are_known() -> None:
    def branching(trial: optuna.Trial) -> tuple[float, float]:
        x = trial.suggest_float("x", -5, 10)
        if x > 8:
            raise ValueError("too large")
        if trial.suggest_categorical("deep", [True, False]):
            return abs(x) + trial.suggest_int("layers", 2, 9), abs(x - 3)
        return abs(x), abs(x - 3) + 1

    study = optuna.create_study(directions=["minimize", "minimize"], sampler=AegisSampler(seed=0, n_initial=6))
    study.enqueue_trial({"x": 9.0})
    study.enqueue_trial({"x": 1.25, "deep": True, "layers": 3})
    study.optimize(branching, n_trials=16, catch=ValueError)
    assert study.trials[0].state == TrialState.FAIL
    assert study.trials[1].params == {"x": 1.25, "deep": True, "layers": 3}
    layered = ["layers" in trial.params for trial in study.trials[2:]]
    assert any(layered)
    assert not all(layered)
    last = study.trials[-1].user_attrs
    assert last["aegisbo:move"] in ("exploit", "improve", "thompson", "pareto")
    assert last["aegisbo:note"]["mean"].keys() == {"values_0", "values_1"}


@pytest.mark.parametrize("count", [2, 3, 4])
def test_it_takes_up_to_four_directions(count: int) -> None:
    study = optuna.create_study(directions=["minimize"] * count, sampler=AegisSampler(seed=0, n_initial=4))
    study.optimize(lambda trial: [abs(trial.suggest_float("x", -5, 10) - k) for k in range(count)], n_trials=7)
    assert study.trials[-1].user_attrs["aegisbo:move"] in ("exploit", "improve", "thompson", "pareto")


def test_five_directions_are_refused_with_the_remedy() -> None:
    study = optuna.create_study(directions=["minimize"] * 5, sampler=AegisSampler(search_space=PLANE))
    with pytest.raises(InvalidInput, match=r"has 5 directions, and aegisbo optimizes one to 4 .*: make constraints"):
        study.ask(PLANE)
    with pytest.raises(InvalidInput, match="has 5 directions"):
        from_optuna(study)


def test_a_strategy_that_looks_at_one_number_is_refused() -> None:
    sampler = AegisSampler(strategy="ei", search_space=PLANE)
    with pytest.raises(InvalidInput, match=r"go with the strategies aegis, thompson and random: .* one number only"):
        optuna.create_study(directions=UP_AND_DOWN, sampler=sampler).ask(PLANE)


def test_an_optimizer_goes_on_where_a_study_has_ended() -> None:
    study = optuna.create_study(directions=UP_AND_DOWN, sampler=AegisSampler(seed=0, strategy="random"))
    study.set_metric_names(["gain", "price"])
    study.optimize(objective, n_trials=12)
    added(study, 0, 2.5, values=[math.inf, 1.0])
    added(study, 0, 2.25, TrialState.FAIL)
    optimizer = from_optuna(study, seed=1)
    assert [objective.text for objective in optimizer.settings.objectives] == ["gain max", "price min"]
    assert [trial.state for trial in optimizer.observed] == ["done"] * 12 + ["invalid"] * 2
    front = optimizer.result().front
    # An infinite value dominates in Optuna, and is no value here.
    finite = [trial for trial in study.trials[:12] if trial.values]
    again = optuna.create_study(directions=UP_AND_DOWN)
    again.add_trials(finite)
    assert {trial.measured["gain"] for trial in front} == {trial.values[0] for trial in again.best_trials}
    assert optimizer.ask().note["move"] == "exploit"


def test_metrics_without_a_name_are_called_as_in_a_data_frame() -> None:
    study = optuna.create_study(directions=UP_AND_DOWN)
    added(study, 0, 2.5, values=[1.0, 2.0])
    (trial,) = from_optuna(study).observed
    assert trial.measured == {"values_0": 1.0, "values_1": 2.0}
    study.set_metric_names(["the gain", "price"])
    with pytest.raises(InvalidInput, match="The name of an objective is one word, such as 'latency', got 'the gain'"):
        from_optuna(study)
