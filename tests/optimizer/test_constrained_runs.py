"""Runs in spaces with constraints: none is ever broken, whoever chooses, and a run goes on as if never stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from aegisbo import Choice, Int, Optimizer, Real, Space, load, minimize
from aegisbo.errors import InvalidInput, SpaceExhausted, StudyError
from aegisbo.review.convergence import convergence
from aegisbo.review.record import Record
from aegisbo.space import Params
from aegisbo.strategies.base import Evidence, Memory, Suggestion
from aegisbo.strategies.registry import STRATEGIES
from aegisbo.study.replay import replay

MIXED = {
    "kind": Choice(["deep", "flat"]),
    "n": Int(1, 60, when={"kind": "deep"}),
    "a": Real(0, 1),
    "b": Real(1e-2, 1, log=True),
}
TEXTS = ["a < b", "a + b <= 1.5", "n * a <= 20"]


def keeps(params: Params) -> bool:
    return params["a"] < params["b"] and params["a"] + params["b"] <= 1.5 and params.get("n", 0) * params["a"] <= 20


def loss(params: Params) -> float:
    return (params["a"] - 0.9) ** 2 + (params["b"] - 0.8) ** 2 + 0.01 * abs(params.get("n", 70) - 40)


@pytest.mark.parametrize("preset", ["modern", "paper", "adaptive"])
def test_no_constraint_is_broken_with_any_preset(preset: str) -> None:
    optimizer = Optimizer(MIXED, constraints=TEXTS, preset=preset, seed=1, n_initial=4)
    assert_all_keep(optimizer, 11)


@pytest.mark.long
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_no_constraint_is_broken_by_any_strategy(strategy: str) -> None:
    text = f"{strategy}:n=5" if strategy == "random" else strategy
    optimizer = Optimizer([(-5, 10), (2, 3)], constraints=["x0 + 4*x1 <= 11"], strategy=text, seed=2)
    running = []
    for _ in range(12):
        running.append(optimizer.ask())
        x = running[-1].x
        assert x[0] + 4 * x[1] <= 11
        if len(running) > 2:
            trial = running.pop(0)
            optimizer.tell(trial, float((trial.x[0] - 9) ** 2 + trial.x[1]))


def assert_all_keep(optimizer: Optimizer, budget: int) -> None:
    running = []
    for _ in range(budget):
        running.append(optimizer.ask())
        assert keeps(running[-1].params)
        if len(running) > 2:
            trial = running.pop(0)
            optimizer.tell(trial, loss(trial.params))


class Stubborn:
    """A strategy that knows of no constraint."""

    def suggest(self, evidence: Evidence, memory: Memory, rng: np.random.Generator) -> Suggestion:
        return Suggestion(np.ones(2), memory, {"move": "corner"})


def test_a_strategy_that_knows_no_constraints_is_led_back() -> None:
    optimizer = Optimizer([(-5, 10), (2, 3)], constraints=["x0 + x1 <= 9"], strategy=Stubborn(), seed=0, n_initial=3)
    for _ in range(3):
        trial = optimizer.ask()
        optimizer.tell(trial, 0.0)
    trial = optimizer.ask()
    assert trial.note == {"move": "corner", "constraints": "moved"}
    assert 8.5 < trial.x.sum() <= 9


def test_it_is_led_to_what_is_allowed_and_near() -> None:
    """Not only to the edge, which all ways to the corner cross, but to where that is nearest, in the middle."""
    for seed in range(4):
        optimizer = Optimizer([(0, 1), (0, 1)], constraints=["x0 + x1 <= 1"], strategy=Stubborn(), seed=seed)
        for _ in range(4):
            optimizer.tell(optimizer.ask(), 0.0)
        assert np.linalg.norm(optimizer.ask().x - 1.0) < 1.02 * np.sqrt(0.5)


@pytest.mark.long
def test_the_optimum_on_an_edge_is_found() -> None:
    def bowl(x: Any) -> float:
        return float((x[0] - 8) ** 2 / 30 + (x[1] - 2.9) ** 2 * 3)

    witness = scipy_minimize(
        bowl,
        [0.0, 2.5],
        bounds=[(-5, 10), (2, 3)],
        constraints={"type": "ineq", "fun": lambda x: 7 - x[0] - x[1]},
        method="COBYLA",
    )
    found = minimize(
        bowl, [(-5, 10), (2, 3)], constraints=["x0 + x1 <= 7"], budget=25, seed=0, executor="serial", progress=False
    )
    assert found.x.sum() <= 7
    assert found.fun == pytest.approx(witness.fun, abs=2e-3)


@pytest.mark.parametrize("strategy", ["aegis", "random"])
def test_a_finite_space_is_exhausted_when_all_allowed_points_are_taken(strategy: str) -> None:
    space = Space(
        {"kind": Choice(["u", "v"]), "n": Int(1, 4), "m": Int(1, 3, when={"kind": "u"})},
        constraints=["n > m", "n != 2"],
    )
    expected = [("u", n, m) for n in (1, 3, 4) for m in (1, 2, 3) if n > m] + [("v", n, None) for n in (1, 3, 4)]
    optimizer = Optimizer(space, strategy=strategy, seed=0, n_initial=None if strategy == "aegis" else 99)
    optimizer.observe({"kind": "u", "n": 2, "m": 3}, 0.0)  # data may break them
    for _ in expected:
        trial = optimizer.ask()
        optimizer.tell(trial, float(trial.number))
    with pytest.raises(SpaceExhausted, match=f"All {len(expected)} points that keep the constraints"):
        optimizer.ask()
    asked = [(t.params["kind"], t.params["n"], t.params.get("m")) for t in optimizer.trials]
    assert sorted(map(repr, asked)) == sorted(map(repr, expected))


def test_an_observed_point_that_breaks_one_is_never_the_best() -> None:
    optimizer = Optimizer({"a": (0, 1), "b": (0, 1)}, constraints=["a < b"], seed=0)
    optimizer.observe({"a": 0.9, "b": 0.1}, 0.0)
    assert (optimizer.best, optimizer.tally().best) == (None, None)
    trial = optimizer.tell(optimizer.ask(), 1.0)
    assert (optimizer.best, optimizer.tally().best) == (trial, 1.0)
    assert [step.best for step in convergence(Record.of_optimizer(optimizer))] == [1.0]
    assert len(optimizer.evidence().y) == 2, "the model learns from both"


def test_points_on_the_edge_keep_a_constraint() -> None:
    """In the cube, 0.001 is where 0.0010000000000000002 is."""
    options: dict[str, Any] = {"constraints": ["lr <= 1e-3"], "seed": 0, "n_initial": 2}
    optimizer = Optimizer({"lr": Real(1e-6, 0.1, log=True)}, initial=[{"lr": 1e-3}], **options)
    optimizer.observe({"lr": 1e-3}, 0.5)
    assert optimizer.result().fun == optimizer.tally()[2] == 0.5
    assert optimizer.ask().params == {"lr": 1e-3}


def slope(a: float, b: float) -> float:
    return 10.0 * (b - a)  # lowest where a < b is broken most


def with_better_data_beyond(function: Callable[..., float] = slope, **options: Any) -> Optimizer:
    """A run that knows far better values than it can reach: those of points that break its constraint."""
    optimizer = Optimizer({"a": (0, 1), "b": (0, 1)}, constraints=["a < b"], seed=0, n_initial=0, **options)
    for a, b in [(0.9, 0.1), (0.8, 0.3), (0.7, 0.5), (0.5, 0.9), (0.1, 0.4), (0.4, 0.6)]:
        optimizer.observe({"a": a, "b": b}, function(a, b))
    return optimizer


@pytest.mark.parametrize("noisy", [False, True])
def test_the_best_to_beat_is_one_that_keeps_them(noisy: bool) -> None:
    optimizer = with_better_data_beyond(noisy=noisy)
    best, model = optimizer.best, optimizer.model()
    assert best is not None
    assert best.params == {"a": 0.4, "b": 0.6}
    assert model.best == optimizer.explain({"a": 0.5, "b": 0.6}).best == best
    level = model.belief.scale.measured(np.array([model.belief.best]))[0]
    assert level == pytest.approx(2.0, abs=0.2)
    assert model.predict({"a": 0.45, "b": 0.55}).chance > 0.95
    assert model.predict({"a": 0.3, "b": 0.7}).chance < 0.05


@pytest.mark.parametrize("strategy", ["ei", "kriging-believer", "local-penalization", "local-quadratic"])
def test_improvement_is_over_what_is_allowed(strategy: str) -> None:
    def valley(a: float, b: float) -> float:  # 0 at its bottom, and far less beyond the edge a = b
        return (a - 0.2) ** 2 + (b - 0.8) ** 2 - 8 * max(a - b, 0) ** 2

    optimizer = with_better_data_beyond(valley, strategy=strategy)
    for _ in range(8):
        trial = optimizer.ask()
        optimizer.tell(trial, valley(**trial.params))
    assert optimizer.result().fun < 0.01, "over the values beyond the edge, 0.04 to 0.18 is all there is"


def test_without_an_allowed_point_anything_is_better_than_nothing() -> None:
    optimizer = Optimizer({"a": (0, 1), "b": (0, 1)}, constraints=["a < b"], seed=0, n_initial=0)
    for a, b in [(0.9, 0.1), (0.8, 0.3), (0.7, 0.5)]:
        optimizer.observe({"a": a, "b": b}, slope(a, b))
    assert optimizer.best is None
    assert optimizer.predict({"a": 0.1, "b": 0.9}).chance == 1.0
    assert "100.0% to be better than the best so far, nothing" in repr(optimizer.explain({"a": 0.1, "b": 0.9}))
    trial = optimizer.ask()
    assert trial.params["a"] < trial.params["b"]


def test_without_the_function_what_is_written_down_still_counts(tmp_path: Path) -> None:
    pairs = [({"a": 0.9, "b": 0.1}, -5.0), ({"a": 0.6, "b": 0.9}, -4.0), ({"a": 0.1, "b": 0.2}, 3.0)]
    for constraints, value in ((["a < b"], -4.0), (["a < b", first_half], 3.0)):
        file = tmp_path / f"{len(constraints)}.db"
        options: Any = {"constraints": constraints, "n_initial": 1, "budget": 1, "executor": "serial", "seed": 0}
        result = minimize(lambda a, b: 9.0, {"a": (0, 1), "b": (0, 1)}, observed=pairs, study=file, **options)
        assert result.fun == value
    loaded = load(file)
    assert loaded.fun == -4.0, "-5 breaks what is written down; of -4 only the function could tell"
    assert loaded.message.endswith("one of the constraints is a function that is not here: x may break it.")
    assert "not here" not in load(tmp_path / "1.db").message


def test_a_function_is_asked_once_about_each_observed_point() -> None:
    asked: list[float] = []

    def low(a: float) -> bool:
        asked.append(a)
        return a < 0.5

    optimizer = Optimizer({"a": (0, 1)}, constraints=[low], seed=0, n_initial=0, strategy="random")
    for k in range(4):
        optimizer.observe({"a": 0.25 * k}, float(k))
        assert optimizer.evidence().kept.tolist() == [True, True, False, False][: k + 1]
    optimizer.result(), optimizer.evidence(), copy(optimizer).evidence()
    assert [a for a in asked if a in (0.0, 0.25, 0.5, 0.75)] == [0.0, 0.25, 0.5, 0.75]


@pytest.mark.parametrize("equation", ["a + b == 1", "a == 2 * b", "a <= 0"])
@pytest.mark.parametrize("more", [{}, {"c": Real(0, 1), "n": Int(0, 3)}])
def test_what_holds_at_corners_only_leaves_no_room(equation: str, more: dict[str, Any]) -> None:
    with pytest.raises(
        InvalidInput, match=f"No point of the space was found that satisfies the constraint {equation[:3]}"
    ):
        Optimizer({"a": (0, 1), "b": (0, 1), **more}, constraints=[equation])


@pytest.mark.parametrize(
    "constraints", [["a - b <= 1e-6", "b - a <= 1e-6"], ["a + b <= 1e-8"], ["n == 2 * m + 1"], ["n + m == 3000"]]
)
def test_what_is_thin_or_of_whole_numbers_has_room(constraints: list[str]) -> None:
    space = {"a": Real(0, 1), "b": Real(0, 1), "n": Int(0, 3000), "m": Int(0, 3000)}
    optimizer = Optimizer(space, constraints=constraints, seed=0)
    asked = [optimizer.ask().params for _ in range(8)]
    assert all(not optimizer.space.broken(params) for params in asked)
    assert len({tuple(params.values()) for params in asked}) == 8


def test_initial_points_must_keep_them() -> None:
    with pytest.raises(InvalidInput, match=r"initial holds .*'a': 0.9.*, which breaks the constraint a < b"):
        Optimizer({"a": (0, 1), "b": (0, 1)}, constraints=["a < b"], initial=[{"a": 0.9, "b": 0.1}])


def test_a_state_goes_on_with_the_same_choices() -> None:
    one = Optimizer(MIXED, constraints=[*TEXTS, first_half], seed=5, n_initial=4)
    assert_all_keep(one, 7)
    other = Optimizer.from_state(json.loads(json.dumps(one.state())), constraints=[first_half])
    assert one.ask().params == other.ask().params
    with pytest.raises(InvalidInput, match=r"first_half\(\), a function that is not part of it"):
        Optimizer.from_state(one.state()).ask()


def first_half(a: float) -> bool:
    return a < 0.5


def objective(**params: Any) -> float:
    return loss(params)


def options(study: Path | None, **others: Any) -> dict[str, Any]:
    return {"constraints": TEXTS, "seed": 3, "study": study, "executor": "serial", "progress": False, **others}


@pytest.mark.long
def test_a_study_is_resumed_and_replayed(tmp_path: Path) -> None:
    whole = minimize(objective, MIXED, budget=10, **options(None))
    file = tmp_path / "run.db"
    minimize(objective, MIXED, budget=9, **options(file))
    resumed = minimize(objective, MIXED, budget=10, **options(file))
    assert [t.params for t in resumed.trials] == [t.params for t in whole.trials]
    assert all(keeps(trial.params) for trial in resumed.trials)
    again = replay(file)
    assert again.faithful
    assert again.decisions == 10
    with pytest.raises(StudyError, match=r"constraints: a < b; .* in the study, nothing in this call"):
        minimize(objective, MIXED, budget=13, **options(file, constraints=()))
    assert load(file).optimizer.space == Space(MIXED, constraints=TEXTS)


def test_bounds_become_wider_under_the_same_constraints(tmp_path: Path) -> None:
    file = tmp_path / "run.db"
    minimize(objective, MIXED, budget=3, **options(file))
    wider = {**MIXED, "a": Real(-1, 1)}
    result = minimize(objective, wider, budget=6, **options(file, constraints=[TEXTS[2], *TEXTS[:2]]))
    assert all(keeps(trial.params) for trial in result.trials)
    assert result.optimizer.space == Space(wider, constraints=TEXTS)


def test_a_function_must_be_given_again(tmp_path: Path) -> None:
    file = tmp_path / "run.db"
    given = options(file, constraints=[first_half])
    minimize(objective, MIXED, budget=9, **given)
    result = minimize(objective, MIXED, budget=11, **given)
    assert all(trial.params["a"] < 0.5 for trial in result.trials)
    assert load(file).fun == result.fun  # without it, the file can be looked at
    assert replay(file, constraints=[first_half]).faithful
    with pytest.raises(InvalidInput, match=r"first_half\(\), a function that is not part of it: pass it again"):
        replay(file)
    with pytest.raises(StudyError, match=r"first_half\(\) in the study, nothing in this call"):
        minimize(objective, MIXED, budget=12, **options(file, constraints=()))
