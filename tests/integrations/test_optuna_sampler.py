from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from numpy.random import Generator, default_rng
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from aegisbo.errors import InvalidInput
from aegisbo.integrations import AegisSampler
from aegisbo.integrations.optuna_space import SearchSpace
from aegisbo.integrations.optuna_storage import PublishedPoint, publish
from aegisbo.strategies.base import Evidence, Memory, Suggestion
from aegisbo.strategies.registry import DEFAULT_PRESET, STRATEGIES, resolve

Kinds = dict[str, BaseDistribution]
PLANE: Kinds = {"x": FloatDistribution(-5, 10), "y": FloatDistribution(2, 3)}
MIXED: Kinds = {
    "act": CategoricalDistribution(["relu", "tanh", None]),
    "lr": FloatDistribution(1e-5, 1e-1, log=True),
    "momentum": FloatDistribution(0.5, 0.95, step=0.05),
    "units": IntDistribution(16, 512, log=True),
}


def bowl(params: dict[str, Any]) -> float:
    return (params["x"] - 3) ** 2 + 10 * (params["y"] - 2.25) ** 2


def tuned(params: dict[str, Any]) -> float:
    return math.log10(params["lr"] / 1e-3) ** 2 + abs(params["momentum"] - 0.9) + (params["act"] != "tanh")


@dataclass(frozen=True)
class Watched:
    """Chooses points at random and writes down what it was shown."""

    seen: list[Evidence] = field(default_factory=list)

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        self.seen.append(evidence)
        asked = memory.get("asked", 0)
        return Suggestion(rng.random(evidence.cube.width), {"asked": asked + 1}, {"move": "watched", "asked": asked})


def play(
    samplers: Iterator[AegisSampler], f: Callable[[dict[str, Any]], float], kinds: Kinds, n: int = 14, **options: Any
) -> list[dict[str, Any]]:
    """The points of a run with up to three trials in flight, which end in a random, but always the same order."""
    study = optuna.create_study(**options)
    order = default_rng(5)
    running: list[optuna.Trial] = []
    for _ in range(n):
        study.sampler = next(samplers)
        running.append(study.ask(kinds))
        if len(running) == 3:
            ended = running.pop(order.integers(3))
            study.tell(
                ended, None if ended.number == 6 else f(ended.params), TrialState.FAIL if ended.number == 6 else None
            )
    return [trial.params for trial in study.trials]


def always(sampler: AegisSampler) -> Iterator[AegisSampler]:
    while True:
        yield sampler


@pytest.mark.long
def test_equal_seeds_give_equal_points_whoever_asks_and_whatever_optuna_reseeds() -> None:
    def fresh() -> Iterator[AegisSampler]:  # as if every trial was asked for by another process
        while True:
            yield AegisSampler(seed=3)

    def reseeded() -> Iterator[AegisSampler]:
        sampler = AegisSampler(seed=3)
        while True:
            sampler.reseed_rng()
            yield sampler

    points = play(always(AegisSampler(seed=3)), tuned, MIXED)
    assert play(fresh(), tuned, MIXED) == points
    assert play(reseeded(), tuned, MIXED) == points
    assert play(always(AegisSampler(seed=4)), tuned, MIXED) != points


@pytest.mark.long
def test_points_are_the_same_in_every_process() -> None:
    """Whatever salt Python adds to its hashes there."""
    code = "import optuna; from aegisbo.integrations import AegisSampler\n"
    code += "study = optuna.create_study(sampler=AegisSampler(seed=3))\n"
    code += "study.optimize(lambda trial: trial.suggest_float('x', -5, 10) ** 2, n_trials=4)\n"
    code += "print([trial.params for trial in study.trials])"
    points = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for salt in ("1", "2")
    }
    assert len(points) == 1


def test_threads_do_not_shift_any_draw() -> None:
    """Two threads take turns, so the order of arrival is that of a single one."""

    def run(n_jobs: int) -> list[dict[str, Any]]:
        study = optuna.create_study(sampler=AegisSampler(seed=1, search_space=PLANE))
        with ThreadPoolExecutor(n_jobs) as pool:
            trials = [pool.submit(study.ask, PLANE).result() for _ in range(2)]
            for _ in range(6):
                trial = trials.pop(0)
                pool.submit(study.tell, trial, bowl(trial.params)).result()
                study.sampler.reseed_rng()
                trials.append(pool.submit(study.ask, PLANE).result())
        return [trial.params for trial in study.trials]

    assert run(1) == run(4)


def test_the_choice_is_that_of_the_strategy_on_the_same_data() -> None:
    rng = default_rng(2)
    study = optuna.create_study(sampler=AegisSampler(seed=8, n_initial=0, preset=DEFAULT_PRESET))
    U = rng.random((7, 2))
    for u in U[:6]:
        params = {"x": -5 + 15 * u[0], "y": 2 + u[1]}
        study.add_trial(optuna.create_trial(params=params, distributions=PLANE, value=bowl(params)))
    study.enqueue_trial({"x": -5 + 15 * U[6, 0], "y": 2 + U[6, 1]})
    study.ask(PLANE)
    y = 15**2 * (U[:6, 0] - 8 / 15) ** 2 + 10 * (U[:6, 1] - 0.25) ** 2
    evidence = Evidence(U[:6], y, np.empty((0, 2)), U[6:], SearchSpace(PLANE).cube)
    expected = resolve("aegis", DEFAULT_PRESET).suggest(evidence, {}, default_rng([8, 2, 7]))
    chosen = study.ask(PLANE).params
    np.testing.assert_allclose([(chosen["x"] + 5) / 15, chosen["y"] - 2], expected.x, rtol=1e-6)
    assert study.trials[-1].user_attrs["aegisbo:move"] == expected.note["move"] == "exploit"


def test_looking_for_the_largest_value_is_looking_for_the_smallest_of_its_negative() -> None:
    downhill = play(always(AegisSampler(seed=3)), bowl, PLANE)
    uphill = play(always(AegisSampler(seed=3)), lambda params: -bowl(params), PLANE, direction="maximize")
    assert uphill == downhill


def test_the_reason_for_a_point_is_in_the_units_and_direction_of_the_study() -> None:
    notes = []
    for sign, direction in [(1, "minimize"), (-1, "maximize")]:
        study = optuna.create_study(sampler=AegisSampler(seed=0, search_space=PLANE), direction=direction)
        study.optimize(lambda trial, sign=sign: sign * (100 + bowl(trial_params(trial))), n_trials=5)
        first, *_, last = study.trials
        assert first.user_attrs["aegisbo:move"] == "initial"
        assert last.user_attrs["aegisbo:move"] == "exploit"
        notes.append(last.user_attrs["aegisbo:note"])
    assert notes[0]["mean"] == pytest.approx(-notes[1]["mean"])
    assert notes[0]["std"] == pytest.approx(notes[1]["std"])
    assert 50 < notes[0]["mean"] < 250


def trial_params(trial: optuna.Trial) -> dict[str, Any]:
    return {name: trial._suggest(name, kind) for name, kind in PLANE.items()}


def test_two_interleaved_asks_see_each_other(tmp_path: Path) -> None:
    """Also in another process, and before the objective has asked for the second parameter."""
    watched = Watched()

    def study() -> optuna.Study:
        storage = JournalStorage(JournalFileBackend(str(tmp_path / "journal.log")))
        sampler = AegisSampler(strategy=watched, seed=0, search_space=PLANE, n_initial=0)
        return optuna.create_study(storage=storage, sampler=sampler, study_name="shared", load_if_exists=True)

    one, other = study(), study()
    study_with_data(one)
    first = one.ask()
    x = first.suggest_float("x", -5, 10)
    other.ask(PLANE)
    y = first.suggest_float("y", 2, 3)
    np.testing.assert_allclose(watched.seen[-1].pending, [[(x + 5) / 15, y - 2]])
    second = other.trials[-1]
    one.ask(PLANE)
    assert len(watched.seen[-1].pending) == 2
    np.testing.assert_allclose(watched.seen[-1].pending[1], [(second.params["x"] + 5) / 15, second.params["y"] - 2])
    assert [trial.user_attrs["aegisbo:note"]["asked"] for trial in one.trials[4:]] == [0, 1, 2]  # one memory for all


def test_the_first_choice_by_model_exploits_and_the_others_explore_whichever_process_asks() -> None:
    study = study_with_data(optuna.create_study())
    for seed in range(8):
        study.sampler = AegisSampler(seed=seed, n_initial=0, strategy="aegis:epsilon=0")
        study.ask(PLANE)
    moves = [trial.user_attrs["aegisbo:move"] for trial in study.trials[4:]]
    assert moves[0] == "exploit"
    assert set(moves[1:]) == {"thompson", "pareto"}


def study_with_data(study: optuna.Study) -> optuna.Study:
    """Four completed trials."""
    for x in range(4):
        params = {"x": x, "y": 2.5 + x / 10}
        study.add_trial(optuna.create_trial(params=params, distributions=PLANE, value=bowl(params)))
    return study


def test_of_two_equal_choices_at_the_same_time_one_is_changed() -> None:
    """Another process publishes the same point while this one is still choosing."""
    study = study_with_data(optuna.create_study())
    rival = study.ask()
    strategy = resolve("aegis:guard=on", "modern")  # which does not look at what pending points promise
    digest = SearchSpace(PLANE).digest

    @dataclass(frozen=True)
    class Overtaken:
        chosen: list[Suggestion] = field(default_factory=list)

        def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
            suggestion = strategy.suggest(evidence, memory, rng)
            if not self.chosen:
                publish(study, study.trials[rival.number], PublishedPoint(digest, suggestion.x.tolist(), "", {}), 0)
            self.chosen.append(suggestion)
            return suggestion

    overtaken = Overtaken()
    study.sampler = AegisSampler(strategy=overtaken, seed=0, n_initial=0)
    params = study.ask(PLANE).params
    first, second = overtaken.chosen
    assert np.linalg.norm((first.x - second.x) / second.note["lengthscale"]) >= 1e-6
    assert second.note["guard"]
    assert [(params["x"] + 5) / 15, params["y"] - 2] == pytest.approx(second.x, abs=1e-9)


def test_a_dead_trial_stops_mattering() -> None:
    def shown(stale_after: float) -> int:
        watched = Watched()
        study = optuna.create_study(
            sampler=AegisSampler(strategy=watched, n_initial=0, search_space=PLANE, stale_after=stale_after)
        )
        study_with_data(study)
        study.ask(PLANE)  # and never heard of again
        study.ask(PLANE)
        return len(watched.seen[-1].pending)

    assert shown(stale_after=3600) == 1
    assert shown(stale_after=1e-9) == 0


def test_the_first_points_are_spread_out_by_number_whoever_asks() -> None:
    study = optuna.create_study()
    for k in range(8):
        kinds = PLANE if k % 2 else dict(reversed(PLANE.items()))
        study.sampler = AegisSampler(seed=0, search_space=kinds, n_initial=8)
        study.ask(kinds)
    X = np.array([[(trial.params["x"] + 5) / 15, trial.params["y"] - 2] for trial in study.trials])
    assert {trial.user_attrs["aegisbo:move"] for trial in study.trials} == {"initial"}
    for column in X.T:  # one point in each of eight slices: Sobol', not chance
        assert sorted(np.floor(column * 8)) == list(range(8))


def test_the_space_is_filled_until_there_are_more_results_than_parameters() -> None:
    study = optuna.create_study(sampler=AegisSampler(seed=0, search_space=PLANE))
    trials = [study.ask(PLANE) for _ in range(6)]
    for trial in trials[:4]:
        study.tell(trial, bowl(trial.params))
        study.ask(PLANE)
    moves = [trial.user_attrs["aegisbo:move"] for trial in study.trials]
    assert moves[:9] == ["initial"] * 8 + ["exploit"]
    assert moves[9] in ("thompson", "pareto", "exploit")


def test_parameters_that_not_all_trials_have_are_modeled_with_the_others() -> None:
    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", -5, 10)
        if trial.suggest_categorical("deep", [True, False]):
            return abs(x) + trial.suggest_int("layers", 2, 9)
        return abs(x)

    study = optuna.create_study(sampler=AegisSampler(seed=0))
    study.optimize(objective, n_trials=16)
    layers = [trial.params["layers"] for trial in study.trials if "layers" in trial.params]
    assert 1 < len(layers) < 16
    assert len(set(layers)) > 1
    assert [trial.user_attrs["aegisbo:move"] for trial in study.trials[:2]] == ["independent", "initial"]
    assert study.trials[-1].user_attrs["aegisbo:move"] in ("exploit", "improve", "thompson", "pareto")
    kinds = {
        "deep": CategoricalDistribution([True, False]),
        "layers": IntDistribution(2, 9),
        "x": FloatDistribution(-5, 10),
    }
    assert SearchSpace(kinds).digest in str(study.trials[-1].system_attrs)


def test_independent_values_are_uniform_and_do_not_depend_on_each_other() -> None:
    study = optuna.create_study(sampler=AegisSampler(seed=0))
    for _ in range(300):
        study.ask(PLANE)
    X = np.array([[(trial.params["x"] + 5) / 15, trial.params["y"] - 2] for trial in study.trials])
    for column in X.T:
        assert np.abs(np.sort(column) - np.linspace(0, 1, 300)).max() < 1.63 / 300**0.5  # Kolmogorov, 1 %
    assert abs(np.corrcoef(X.T)[0, 1]) < 0.15


def test_enqueued_values_are_respected() -> None:
    study = optuna.create_study(sampler=AegisSampler(seed=0, search_space=PLANE, n_initial=0))
    study_with_data(study)
    study.enqueue_trial({"x": -4.5})
    study.enqueue_trial({"x": 9.5, "y": 2.125})
    assert study.ask(PLANE).params["x"] == -4.5
    assert study.ask(PLANE).params == {"x": 9.5, "y": 2.125}


def test_when_every_point_has_been_tried_the_study_goes_on() -> None:
    kinds: Kinds = {"c": CategoricalDistribution(["a", "b"]), "k": IntDistribution(1, 3)}
    study = optuna.create_study(sampler=AegisSampler(strategy="aegis:guard=on", seed=0, search_space=kinds))
    for _ in range(9):
        trial = study.ask(kinds)
        study.tell(trial, float(trial.params["k"]))
    points = [tuple(trial.params.items()) for trial in study.trials]
    assert len(set(points[:6])) == 6
    assert [trial.user_attrs["aegisbo:move"] for trial in study.trials[6:]] == ["exhausted"] * 3


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_of_the_registry_is_a_sampler(name: str) -> None:
    study = optuna.create_study(sampler=AegisSampler(strategy=name, seed=0, n_initial=4))
    study.optimize(lambda trial: bowl(trial_params(trial)), n_trials=7)
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 7


def test_it_finds_the_bottom_of_a_bowl() -> None:
    study = optuna.create_study(sampler=AegisSampler(seed=0))
    study.optimize(lambda trial: bowl(trial_params(trial)), n_trials=20, n_jobs=2)
    assert study.best_value < 0.5


def test_trials_of_all_brackets_of_a_hyperband_pruner_are_seen() -> None:
    watched = Watched()
    study = optuna.create_study(
        sampler=AegisSampler(strategy=watched, n_initial=0, search_space=PLANE),
        pruner=optuna.pruners.HyperbandPruner(min_resource=1, max_resource=9),
    )

    def objective(trial: optuna.Trial) -> float:
        value = bowl(trial_params(trial))
        for step in range(1, 10):
            trial.report(value + 1 / step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    study.optimize(objective, n_trials=12)
    assert len(watched.seen[-1].y) == 11


def test_a_sampler_can_be_pickled() -> None:
    sampler = AegisSampler(strategy="aegis:guard=on", seed=3, search_space=MIXED, stale_after=60, n_initial=3)
    assert play(always(pickle.loads(pickle.dumps(sampler))), tuned, MIXED, n=12) == play(
        always(sampler), tuned, MIXED, n=12
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strategy": "aegis:gama=1"}, "did you mean 'gamma'"),
        ({"preset": "papr"}, "did you mean 'paper'"),
        ({"seed": -1}, "seed must be an integer from 0 upwards"),
        ({"n_initial": 2.5}, "n_initial must be an integer"),
        ({"stale_after": 0}, "stale_after must be a number of seconds above 0"),
        ({"stale_after": math.nan}, "stale_after must be"),
        ({"search_space": ["x"]}, "search_space must be a dict of Optuna's distributions by name, got"),
        ({"search_space": {"x": (0, 1)}}, "'x' must be one of Optuna's distributions"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AegisSampler(**arguments)


def test_a_cost_that_is_not_known_is_refused() -> None:
    with pytest.raises(InvalidInput, match="cost is 'money': give 'time'"):
        AegisSampler(cost="money")


def test_where_time_is_the_cost_the_strategy_sees_how_long_trials_took() -> None:
    seen = []

    class Observer:
        weighs_time = True

        def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
            seen.append(evidence.timing)
            return Suggestion(rng.random(evidence.cube.width), memory, {"move": "observed"})

    sampler = AegisSampler(strategy=Observer(), seed=3, search_space=PLANE, n_initial=0, cost="time")
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: trial.suggest_float("x", -5, 10) + trial.suggest_float("y", 2, 3), n_trials=5)
    expected = [trial.duration.total_seconds() for trial in study.trials[:4] if trial.duration]
    np.testing.assert_array_equal(seen[-1].seconds, expected)
