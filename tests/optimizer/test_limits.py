"""Limits on what is measured: which trial is the best, which limit binds, what is refused; by hand or brute force."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from aegisbo import Int, Optimizer, load, minimize
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.optimizer.limits import limits_of
from aegisbo.outcome import Wanted, judged
from aegisbo.review.record import Record
from aegisbo.strategies.registry import STRATEGIES
from aegisbo.study.replay import replay

SQUARE = [(-5, 10), (2, 3)]


def told(optimizer: Optimizer, entries: list[tuple[float, float, float]]) -> None:
    for k, (value, latency, memory) in enumerate(entries):
        optimizer.observe([k, 2.5], value, {"latency": latency, "memory": memory})


@pytest.mark.parametrize("maximize", [False, True])
def test_the_best_keeps_all_limits(maximize: bool) -> None:
    sign = -1.0 if maximize else 1.0
    optimizer = Optimizer(SQUARE, limits=["latency <= 5", "memory >= 2"], maximize=maximize)
    entries = [(1.0, 6.0, 3.0), (2.0, 4.0, 1.0), (3.0, 5.0, 2.0), (4.0, 1.0, 9.0)]
    told(optimizer, [(sign * value, *rest) for value, *rest in entries])
    result = optimizer.result()
    assert result.success
    assert result.fun == sign * 3.0
    assert optimizer.tally()[:3] == (0, 0, sign * 3.0)
    assert [(each.limit, each.value, each.slack, each.binds) for each in result.limits] == [
        ("latency <= 5", 5.0, 0.0, True),
        ("memory >= 2", 2.0, 0.0, True),
    ]
    assert "limits: latency <= 5: 5 (binds); memory >= 2: 2 (binds)" in repr(result)


def test_a_limit_binds_if_a_better_value_was_measured_where_it_alone_was_broken() -> None:
    optimizer = Optimizer(SQUARE, limits=["latency <= 5", "memory <= 9"])
    told(optimizer, [(3.0, 2.0, 4.0), (1.0, 8.0, 1.0), (9.0, 1.0, 20.0), (0.0, 7.0, 30.0)])
    assert [each.binds for each in optimizer.result().limits] == [True, False]
    assert [each.slack for each in optimizer.result().limits] == [3.0, 5.0]


def test_while_none_keeps_them_the_closest_is_the_best_of_result_and_explanation() -> None:
    optimizer = Optimizer(SQUARE, limits=["latency <= 5"])
    for k, latency in enumerate([9.0, 7.0, 5.5, 8.0]):
        optimizer.observe([k, 2.5], float(k), {"latency": latency})
    best = optimizer.best
    assert best is not None
    assert best.number == -3
    assert optimizer.model().best == optimizer.explain([5, 2.5]).best == best
    assert optimizer.predict([2, 2.5]).chance < 0.9 < optimizer.predict([0, 2.5]).chance


def test_if_none_keeps_them_the_closest_is_shown() -> None:
    optimizer = Optimizer(SQUARE, limits=["latency <= 5"])
    for k, latency in enumerate([9.0, 5.5, 7.0]):
        optimizer.observe([k, 2.5], float(k), {"latency": latency})
    result = optimizer.result()
    assert not result.success
    assert result.best is not None
    assert (result.best.number, result.fun) == (-2, 1.0)
    assert result.ending.endswith("No evaluation has kept all limits: x is the one that comes closest.")
    assert str(result.limits[0]) == "latency <= 5: 5.5 (broken)"
    assert optimizer.tally().best is None


@pytest.mark.parametrize(
    ("text", "value", "kept"),
    [
        ("a <= 5", 5.0, True),
        ("a < 5", 5.0, False),
        ("a >= -2", -2.0, True),
        ("a > 0", 0.0, False),
        ("a<1e-3", 0.0, True),
    ],
)
def test_the_bound_itself(text: str, value: float, kept: bool) -> None:
    (limit,) = limits_of([text], [])
    assert (limit.excess(value) <= 0) == kept


@pytest.mark.parametrize("bound", ["2147483649", "0.1", "-1e-300", "5", "3.0000000000000004"])
def test_a_limit_is_read_back_from_its_text(bound: str) -> None:
    (limit,) = limits_of([f"a<={bound}"], [])
    (again,) = limits_of([limit.text], [])
    assert again.bound == limit.bound == float(bound)


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ("latency <= 5", "limits must be a list"),
        (["latency"], "cannot be read: write one name and one number"),
        (["latency == 5"], "cannot be read"),
        (["a + b <= 5"], "cannot be read"),
        (["latency <= nan"], "cannot be read"),
        ([5], "cannot be read"),
        (["x0 <= 5"], "is on a parameter: limits are on what is measured"),
    ],
)
def test_limits_that_cannot_be_used_are_refused(limits: Any, why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Optimizer(SQUARE, limits=limits)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "state", "why"),
    [
        ((1.0, {"latency": 3.2}), "done", ""),
        ((1.0, {"latency": np.float32(3.0), "other": 1}), "done", ""),
        (1.0, "invalid", "did not measure latency, which has a limit"),
        ((1.0, {"other": 3.2}), "invalid", "did not measure latency"),
        ((1.0, {"latency": math.nan}), "invalid", "measured latency = nan: it must be a finite number"),
        ((1.0, {"latency": "fast"}), "invalid", "measured latency = 'fast'"),
        ((math.nan, {"latency": 3.2}), "invalid", "returned nan"),
    ],
)
def test_what_an_answer_means(answer: Any, state: str, why: str) -> None:
    outcome = judged(answer, Wanted(limited=("latency",)))
    assert outcome.state == state
    assert why in outcome.reason


def test_a_function_that_never_measures_ends_the_run_soon() -> None:
    result = minimize(lambda x: float(x[0]), SQUARE, budget=20, **options(None))
    assert result.nfev == 5
    assert "did not measure latency" in result.message


def test_ask_and_tell() -> None:
    optimizer = Optimizer(SQUARE, limits=["latency <= 5"], seed=0)
    one, two, three = (optimizer.ask() for _ in range(3))
    assert optimizer.tell(one, 1.0, measured={"latency": 3.2}).measured == {"latency": 3.2}
    assert optimizer.tell(two, 1.0).state == "invalid"
    assert "did not measure latency" in str(optimizer.trials[1].reason)
    with pytest.raises(InvalidInput, match="give numbers by name"):
        optimizer.tell(three, 1.0, measured=3.2)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="latency = 'x'"):
        optimizer.tell(three, 1.0, measured={"latency": "x"})  # type: ignore[dict-item]
    assert optimizer.tell(three, 1.0, measured={"latency": math.inf}).state == "invalid"


def test_without_limits_what_is_measured_is_kept() -> None:
    optimizer = Optimizer(SQUARE, seed=0)
    assert optimizer.tell(optimizer.ask(), 1.0, measured={"latency": 3}).measured == {"latency": 3.0}
    assert optimizer.result().limits == ()


def simulated(x: Any) -> tuple[float, dict[str, float]]:
    a, b = (x[0] + 5) / 15, x[1] - 2
    return (a - 0.9) ** 2 + (b - 0.8) ** 2, {"latency": 10 * (a + b), "memory": 4 * a * b}


LIMITS = ["latency <= 10", "memory <= 3"]


def run(optimizer: Optimizer, budget: int) -> None:
    running = []
    for _ in range(budget):
        running.append(optimizer.ask())
        if len(running) > 2:
            trial = running.pop(0)
            value, measured = simulated(trial.x)
            optimizer.tell(trial, value, measured=measured)


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_any_strategy_goes_on(strategy: str) -> None:
    optimizer = Optimizer(SQUARE, limits=LIMITS, strategy=strategy, seed=2, n_initial=4)
    run(optimizer, 9)
    assert optimizer.result().success


@pytest.mark.long
@pytest.mark.parametrize("preset", ["modern", "paper", "adaptive"])
def test_the_optimum_at_a_limit_is_found_with_any_preset(preset: str) -> None:
    """Where a + b = 1 the bowl is lowest at (0.55, 0.45), with the value 0.245."""
    result = minimize(
        simulated, SQUARE, limits=LIMITS, preset=preset, budget=24, seed=1, executor="serial", progress=False
    )
    assert 0.245 - 1e-9 <= result.fun < 0.26
    assert [each.binds for each in result.limits] == [True, False]


@pytest.mark.long
def test_a_small_feasible_region_is_found() -> None:
    """One in a hundred points keeps the limit: ten random ones would rarely do."""
    optimizer = Optimizer([(0, 1), (0, 1)], limits=["miss <= 0.056"], seed=3)
    for _ in range(22):
        trial = optimizer.ask()
        miss = math.hypot(trial.x[0] - 0.83, trial.x[1] - 0.21)
        optimizer.tell(trial, -float(trial.x[0]), measured={"miss": miss})
    assert optimizer.result().success
    assert {trial.note["move"] for trial in optimizer.trials} >= {"initial", "feasible"}


@pytest.mark.long
def test_all_points_of_a_finite_space_by_brute_force() -> None:
    def priced(n: int, m: int) -> tuple[float, dict[str, float]]:
        return float((n - 6) ** 2 + (m - 5) ** 2), {"cost": float(2 * n + m)}

    every = [(*priced(n, m), {"n": n, "m": m}) for n in range(1, 8) for m in range(1, 6)]
    expected = min((value, params["n"]) for value, measured, params in every if measured["cost"] <= 9)
    result = minimize(
        priced,
        {"n": Int(1, 7), "m": Int(1, 5)},
        limits=["cost <= 9"],
        budget=35,
        seed=0,
        executor="serial",
        progress=False,
    )
    assert (result.fun, result.x["n"]) == expected
    assert len(result.trials) == len(every)


@pytest.mark.long
def test_predictions_say_how_likely_limits_are_kept() -> None:
    optimizer = Optimizer(SQUARE, limits=LIMITS, seed=1)
    run(optimizer, 18)
    best = optimizer.best
    assert best is not None
    assert optimizer.model().best == best
    assert best.value > min(trial.value for trial in optimizer.trials if trial.value is not None)  # which breaks one
    prediction = optimizer.predict([[-5, 2], [10, 3]])
    assert prediction.feasible[0] > 0.99
    assert prediction.feasible[1] < 0.01
    assert "to keep the limits" in repr(prediction)
    assert "% that it keeps all limits" in repr(optimizer.explain([10, 3]))
    free = Optimizer(SQUARE, seed=1)
    run(free, 10)
    assert free.predict([0, 2.5]).feasible == 1.0
    assert "limits" not in repr(free.explain([0, 2.5]))


def test_a_state_goes_on_with_the_same_choices() -> None:
    one = Optimizer(SQUARE, limits=LIMITS, seed=5)
    run(one, 9)
    other = Optimizer.from_state(json.loads(json.dumps(one.state())))
    assert one.ask().params == other.ask().params
    assert other.settings.limits == one.settings.limits


def options(study: Path | None, **others: Any) -> dict[str, Any]:
    return {"limits": LIMITS, "seed": 3, "study": study, "executor": "serial", "progress": False, **others}


@pytest.mark.long
def test_a_study_is_resumed_and_replayed(tmp_path: Path) -> None:
    pairs = [([0.0, 2.5], *simulated([0.0, 2.5]))]
    whole = minimize(simulated, SQUARE, budget=12, observed=pairs, **options(None))
    file = tmp_path / "run.db"
    minimize(simulated, SQUARE, budget=8, observed=pairs, **options(file))
    resumed = minimize(simulated, SQUARE, budget=12, observed=pairs, **options(file))
    assert [(t.params, t.measured) for t in resumed.trials] == [(t.params, t.measured) for t in whole.trials]
    assert replay(file).faithful
    assert load(file).limits == whole.limits
    table = Record.of_study(file).table
    assert table[0]["measured_latency"] == simulated([0.0, 2.5])[1]["latency"]
    assert all(row["measured_memory"] == simulated([row["param_x0"], row["param_x1"]])[1]["memory"] for row in table)
    with pytest.raises(StudyError, match="limits is"):
        minimize(simulated, SQUARE, budget=13, **options(file, limits=["latency <= 11"]))


def test_a_target_counts_only_where_limits_are_kept() -> None:
    result = minimize(simulated, SQUARE, budget=20, target=0.26, **options(None))
    assert result.message.startswith("The target 0.26 is reached")
    assert result.success
    assert any(trial.value < 0.26 for trial in result.trials[:-1]), "a test that cannot fail"


def test_a_target_is_not_reached_where_no_limit_was_kept() -> None:
    result = minimize(simulated, SQUARE, budget=6, target=99.0, **options(None, limits=["latency >= 99"]))
    assert result.nfev == 6
    assert result.message.startswith("The budget is spent.")


def test_tables_have_what_was_measured() -> None:
    pytest.importorskip("pandas")
    result = minimize(simulated, SQUARE, budget=4, **options(None))
    assert result.to_pandas()["measured_latency"].tolist() == [trial.measured["latency"] for trial in result.trials]


def test_the_closest_is_that_with_the_least_broken_in_all() -> None:
    rng = default_rng(0)
    entries = [(float(k), 5 + rng.random(), 9 + 100 * rng.random()) for k in range(6)]
    optimizer = Optimizer(SQUARE, limits=["latency <= 5", "memory <= 9"])
    told(optimizer, entries)
    beyond = np.array([[latency - 5, memory - 9] for _, latency, memory in entries])
    best = optimizer.result().best
    assert best is not None
    assert best.number == -1 - int((beyond / beyond.std(axis=0)).sum(axis=1).argmin())


@pytest.mark.parametrize("huge", [1e200, 1e308])
def test_a_huge_measurement_does_not_hide_which_is_the_closest(huge: float) -> None:
    optimizer = Optimizer(SQUARE, limits=["latency <= 5"], seed=1)
    for k, latency in enumerate([9.0, huge, huge, 5.5, 7.0]):
        optimizer.observe([k, 2.5], float(k), {"latency": latency})
    best = optimizer.result().best
    assert best is not None
    assert best.number == -4


def test_beyond_a_limit_by_more_than_there_are_numbers() -> None:
    for limit, value in (("a < -1e308", 1e308), ("a > 1e308", -1e308)):
        assert 1e308 < limits_of([limit], ())[0].excess(value) < math.inf


def test_the_spread_of_the_value_says_nothing_of_what_is_limited() -> None:
    predictions = []
    for sd in (None, 100.0):
        optimizer = Optimizer(SQUARE, limits=LIMITS, seed=1, n_initial=0)
        for x in default_rng(2).random((12, 2)):
            at = optimizer.space.from_unit(x)
            value, measured = simulated(at)
            optimizer.observe(at, value, measured, sd=sd)
        predictions.append(optimizer.predict([[-5, 2], [10, 3]]))
    assert predictions[1].feasible == pytest.approx(predictions[0].feasible, abs=0.01)
    assert predictions[0].std.tolist() != predictions[1].std.tolist()
