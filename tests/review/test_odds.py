"""The odds of going on: their parts against definitions and closed forms, and functions whose odds are plain."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_studies import make_study, make_study_of_two
from numpy.random import default_rng
from scipy.integrate import quad
from scipy.stats import gamma, norm

import aegisbo
from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.errors import InvalidInput
from aegisbo.gp.linalg import NotPositiveDefinite
from aegisbo.review.landscape import models_of, needed_landscapes
from aegisbo.review.odds import PRIOR, amount_of, odds, promises, why_end
from aegisbo.review.payload import learned_facts_of
from aegisbo.review.record import Record, record_of
from aegisbo.stop_when import better_of, stop_when_of
from aegisbo.strategies import continuation
from aegisbo.strategies.continuation import Continuations, Runs

pytestmark = pytest.mark.long

SPACE = {"x": (-5.0, 10.0), "y": (2.0, 3.0)}
MOST, EPSILON = sys.float_info.max, sys.float_info.epsilon


@pytest.fixture(autouse=True)
def _few_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuation, "FUNCTIONS", 6)


def bowl(p: dict[str, Any]) -> float:
    return (p["x"] - 3.0) ** 2 / 10.0 + 10.0 * (p["y"] - 2.4) ** 2 + 7.0


def filled(optimizer: Optimizer, count: int, value: Callable[[dict[str, Any]], Any] = bowl) -> Optimizer:
    for _ in range(count):
        trial = optimizer.ask()
        if (found := value(trial.params)) is None:
            optimizer.fail(trial, "it broke")
        else:
            measured = {"load": 10.0 * trial.params["x"]} if optimizer.settings.limits else None
            optimizer.tell(trial, found, seconds=2.0, measured=measured)
    return optimizer


def test_a_bowl_promises_much_at_first_and_nothing_at_its_bottom() -> None:
    early = odds(filled(Optimizer(SPACE, seed=1, n_initial=12), 12), 10)
    late = odds(filled(Optimizer(SPACE, seed=1), 24), 10, better="20%")
    assert early.chance is not None
    assert late.chance is not None
    assert early.drawn[-1] > 0.9
    assert early.chance > 0.3
    assert late.chance < 0.01
    assert (np.diff(early.chances) >= 0.0).all()
    assert len(early.chances) == 10
    assert early.half is not None
    assert "less than 1 % chance of more than 20% better" in str(late)


def test_the_same_question_has_the_same_answer() -> None:
    optimizer = filled(Optimizer(SPACE, seed=1, n_initial=12), 12)
    assert odds(optimizer, 5) == optimizer.odds(5)
    assert odds(optimizer, 5).drawn != odds(optimizer, 5, seed=3, better="30%").drawn


def naive(mean: Any, C: Any, told: Any, noise: float, best: float, count: int, pending: int, workers: int) -> list[int]:
    """The points of one run, by conditioning anew in each step."""
    taken: list[int] = []
    for t in range(count):
        if t < pending:
            taken.append(t)
            continue
        ended = taken[: max(t - workers + 1, 0)]
        low = min([best, *(told[k] for k in ended)])
        K = C[np.ix_(taken, taken)] + (noise + 1e-9) * np.eye(len(taken))
        variance = np.diag(C) - np.einsum("ij,ij->j", C[taken], np.linalg.solve(K, C[taken])) if taken else np.diag(C)
        K = C[np.ix_(ended, ended)] + (noise + 1e-9) * np.eye(len(ended))
        m = mean + C[:, ended] @ np.linalg.solve(K, told[ended] - mean[ended]) if ended else mean
        sd = np.sqrt(np.maximum(variance, 0.0) + noise + 1e-9)
        gain = (low - m) * norm.cdf((low - m) / sd) + sd * norm.pdf((low - m) / sd)
        gain[taken] = -np.inf
        taken.append(int(gain.argmax()))
    return taken


@pytest.mark.parametrize("workers", [1, 3])
def test_a_continuation_chooses_as_if_it_were_conditioned_anew(workers: int) -> None:
    rng = default_rng(4)
    X = rng.random((15, 2))
    C = np.exp(-3.0 * ((X[:, None] - X) ** 2).sum(axis=2))
    mean = rng.standard_normal((2, 15))
    told = mean + rng.multivariate_normal(np.zeros(15), C, size=2)
    which, noise, best = np.array([0, 1]), np.array([0.01, 0.2]), np.array([-0.5, 0.3])
    runs = Runs(mean, [C, C], which, told, np.full((2, 15), True), noise, best, np.ones(15))
    steps = runs.steps(9, 2, workers)
    for k in range(2):
        assert steps[k].tolist() == naive(mean[k], C, told[k], noise[k], best[k], 9, 2, workers)


def test_what_has_no_value_teaches_nothing_and_is_not_the_best() -> None:
    C = np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 1.0]])
    mean, told = np.array([[-3.0, -2.0, -1.0]]), np.array([[9.0, -5.0, -7.0]])  # the first would make the second bad
    counts = np.array([[False, True, True]])
    runs = Runs(mean, [C], np.array([0]), told, counts, np.array([0.0]), np.array([0.0]), np.ones(3))
    assert runs.steps(3, 0, 1).tolist() == [[0, 1, 2]]


def test_promises_are_worth_what_a_poisson_law_makes_of_those_kept() -> None:
    found = odds(filled(Optimizer(SPACE, seed=1, n_initial=12), 16), 6, better="20%")
    a, b = PRIOR[0] + found.kept, PRIOR[1] + found.promised
    for drawn, chance in zip(found.drawn, found.chances, strict=True):
        hazard = -np.log1p(-drawn * 32.5 / 33.0)
        missed, _ = quad(lambda factor, h=hazard: np.exp(-factor * h) * gamma.pdf(factor, a, scale=1.0 / b), 0, np.inf)
        assert chance == pytest.approx(1.0 - missed, abs=1e-6)


def test_promises_are_counted_from_the_predictions_of_the_later_half() -> None:
    optimizer = filled(Optimizer(SPACE, seed=1), 20)
    record, amount, best, made = record_of(optimizer), 0.05, np.inf, []
    for trial in optimizer.trials:
        if "mean" in trial.note:
            promised = norm.cdf(best - amount, trial.note["mean"], trial.note["std"])
            made.append((trial.value < best - amount, promised))
        best = min(best, trial.value)
    later = made[len(made) // 2 :]
    kept, promised = promises(record, amount, needed_landscapes(optimizer)[None].belief)  # type: ignore[arg-type]
    assert (kept, promised) == (sum(k for k, _ in later), pytest.approx(sum(p for _, p in later)))
    assert promised > 0.0


@pytest.mark.parametrize("maximize", [False, True])
def test_points_from_elsewhere_that_break_constraints_promise_nothing(maximize: bool) -> None:
    """Half of those observed break the constraint, and have values that no trial reaches."""
    sign = -1.0 if maximize else 1.0
    optimizer = Optimizer(SPACE, seed=1, n_initial=4, constraints=["x + y >= 4"], maximize=maximize)
    for x in (-5.0, 8.0, -3.0, 9.0):
        optimizer.observe({"x": x, "y": 2.4}, sign * (30.0 + x if x > 1.6 else x))
    for k in range(14):
        filled(optimizer, 1, lambda p, k=k: sign * (25.0 - k * (k % 2)))
    record, amount, values, made = record_of(optimizer), 0.05, [38.0, 39.0], []
    for trial in optimizer.trials:
        assert trial.params["x"] + trial.params["y"] >= 4.0
        values.append(sign * trial.value)  # type: ignore[operator]
        if "mean" in trial.note:
            level = min(values[:-1]) - amount
            made.append((values[-1] < level, norm.cdf(level, sign * trial.note["mean"], trial.note["std"])))
    later = made[len(made) // 2 :]
    kept, promised = promises(record, amount, needed_landscapes(optimizer)[None].belief)  # type: ignore[arg-type]
    assert (kept, promised) == (sum(k for k, _ in later), pytest.approx(sum(p for _, p in later)))
    assert kept > 0
    assert promised > 0.0
    assert amount_of(record, better_of("1%")) == pytest.approx(0.01 * (np.median(values[:10]) - min(values)))


def test_points_from_elsewhere_that_break_constraints_are_no_best_to_be_beaten() -> None:
    """They lie where the function is lower than anywhere else: nothing would be promised below them."""

    def slope(p: dict[str, Any]) -> float:
        return p["x"] / 10.0 + 10.0 * (p["y"] - 2.4) ** 2

    optimizer = Optimizer(SPACE, seed=0, n_initial=6, constraints=["x + y >= 4"])
    for x in (-5.0, 8.0, -3.0, 9.0, -1.0):
        optimizer.observe({"x": x, "y": 2.4}, slope({"x": x, "y": 2.4}))
    found = odds(filled(optimizer, 10, slope), 5, better=0.001)
    assert found.drawn[-1] > 0.0
    assert found.promised > 0.01


@pytest.mark.parametrize("maximize", [False, True])
def test_one_percent_is_one_of_the_way_from_the_median_of_the_first_to_the_best(maximize: bool) -> None:
    optimizer = Optimizer({"x": (0.0, 100.0)}, seed=0, maximize=maximize)
    sign = -1.0 if maximize else 1.0
    for k in range(20):
        optimizer.observe({"x": float(k)}, sign * (40.0 - k))
    assert amount_of(record_of(optimizer), better_of("1%")) == pytest.approx(0.01 * (35.5 - 21.0))
    assert amount_of(record_of(optimizer), better_of(0.3)) == 0.3


def test_penalties_are_no_part_of_what_a_run_has_gained() -> None:
    """Most of the first values are: 1 % of the way from one to the best value is more than anything can gain."""
    optimizer = Optimizer({"x": (0.0, 100.0)}, seed=0)
    for k in range(30):
        optimizer.observe({"x": float(k)}, 1e30 if k < 8 or k == 12 else 60.0 - k)
    kept = [60.0 - k for k in (8, 9, 10, 11, *range(13, 19))]
    assert amount_of(record_of(optimizer), better_of("1%")) == pytest.approx(0.01 * (np.median(kept) - 31.0))
    for value in (30.0, 29.0, 28.0):
        optimizer.tell(optimizer.ask(), value)
    assert why_end(optimizer, stop_when_of("no 1% better in 2")) is None


def broken_half(p: dict[str, Any]) -> float | None:
    return None if p["x"] < 0.0 else bowl(p)


@pytest.mark.parametrize(
    ("space", "settings", "value"),
    [
        (SPACE, {}, broken_half),
        (SPACE, {"limits": ["load <= 40"]}, bowl),
        (SPACE, {"noisy": True}, bowl),
        (SPACE, {"maximize": True}, bowl),
        (SPACE, {"constraints": ["x + y >= 4"]}, bowl),
        ({"x": Int(-5, 9), "y": Choice([2.0, 2.5, 3.0])}, {}, bowl),
        ({"x": Real(1e-3, 1.0, log=True), "y": (0.0, 1.0)}, {"preset": "paper"}, bowl),
    ],
    ids=["failures", "limits", "noise", "maximize", "constraints", "mixed", "paper"],
)
def test_odds_are_told_of_every_kind_of_run(space: Any, settings: Any, value: Any) -> None:
    optimizer = filled(Optimizer(space, seed=2, n_initial=22, **settings), 22, value)
    optimizer.ask()
    found = odds(optimizer, 6, workers=2)
    assert found.chance is not None, found.doubt
    assert 0.0 <= found.chance <= 1.0
    assert found.seconds == pytest.approx(6.0)


def test_where_nothing_can_be_said_it_says_why(tmp_path: Path) -> None:
    rng = default_rng(0)
    few, blind = Optimizer(SPACE, seed=0), Optimizer(SPACE, strategy="random", seed=0)
    noise = filled(Optimizer(SPACE, seed=0, n_initial=24), 24, lambda p: float(rng.standard_normal()))
    for run, why in (
        (filled(few, 5), "too few results: it takes 10 values, and there are 5"),
        (filled(blind, 12), "has no model: use another"),
        (noise, "The model does not predict well"),
        (make_study_of_two(tmp_path / "two.db", 6), "With several objectives there are none"),
    ):
        found = odds(run)
        assert found.chance is None
        assert why in found.doubt
        assert why in str(found)
        assert why_end(record_of(run).optimizer, stop_when_of("chance of 1% better in the next 9 < 0.99")) is None


def test_a_question_without_numbers_is_about_the_rest_of_the_budget_and_the_own_team(tmp_path: Path) -> None:
    path = make_study(tmp_path / "run.db", n_initial=24)
    found = odds(path)
    assert (found.evaluations, found.workers) == (12, 3)  # half of 24
    aegisbo.study.change(path, budget=31)
    assert odds(path).evaluations == 7
    assert aegisbo.load(path).odds(7) == odds(path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"evaluations": 0}, "evaluations is 0: give a whole number from 1 to 100,000"),
        ({"workers": 1.5}, "workers is 1.5: give a whole number from 1 to 100,000"),
        ({"better": "a lot"}, "better is 'a lot': give a share of what the run has gained, such as \"1%\""),
    ],
)
def test_bad_questions_are_refused(given: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        odds(Optimizer(SPACE), **given)
    assert said in str(refused.value)


def test_patience_looks_at_the_last_evaluations() -> None:
    optimizer = Optimizer({"x": (0.0, 1.0)}, seed=0)
    for value in [*np.linspace(20.0, 10.0, 12), 10.0, 9.95, 10.0, 10.0]:
        optimizer.tell(optimizer.ask(), float(value))
    # 1 % is 0.01 (15.9 - 9.95), more than the 0.05 that the last four have gained
    assert "None of the last 4 evaluations was 1% better" in str(why_end(optimizer, stop_when_of("no 1% better in 4")))
    assert why_end(optimizer, stop_when_of("no 0.5% better in 4")) is None
    assert why_end(optimizer, stop_when_of("no 0.04 better in 4")) is None
    assert why_end(optimizer, stop_when_of("no 1% better in 5")) is None
    assert why_end(optimizer, stop_when_of("no 1% better in 99")) is None


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        pytest.param([], False, id="nothing"),
        pytest.param([3.0], False, id="one result"),
        pytest.param([None] * 12, False, id="failures"),
        pytest.param([*[None] * 12, 3.0], False, id="one value after failures"),
        pytest.param([3.0, *[None] * 12], True, id="one value before failures"),
        pytest.param([3.0] * 12, True, id="equal"),
        pytest.param([MOST] * 12, True, id="equal and huge"),
        pytest.param([MOST, -MOST] * 6, True, id="huge"),
        pytest.param([7.0] * 8 + [9.0] * 8, True, id="the median is the best"),
        pytest.param([7.0] * 12 + [6.0], False, id="the median was the best"),
        pytest.param([1.0 + k * EPSILON for k in (4, 2, 0, 2, 4, 2, 4, 2, 4, 2, 4, 2)], True, id="rounding"),
        pytest.param([5e-324 * k for k in range(12)], True, id="tiny"),
    ],
)
def test_no_rule_breaks_at_odd_values(values: list[float | None], ends: bool) -> None:
    optimizer = Optimizer(SPACE, seed=1, n_initial=20)
    for value in values:
        filled(optimizer, 1, lambda p, value=value: value)
    assert (why_end(optimizer, stop_when_of("no 1% better in 3")) is not None) == ends
    chance = odds(optimizer, 4).chance
    reason = why_end(optimizer, stop_when_of("chance of 1% better in the next 4 < 0.999"))
    assert (reason is not None) == (chance is not None and 0.0 <= chance < 0.999)


def test_a_model_may_be_certain_of_values_that_differ_by_rounding() -> None:
    optimizer = Optimizer(SPACE, seed=1, n_initial=12)
    for k in range(12):
        filled(optimizer, 1, lambda p, k=k: 1.0 + EPSILON * (k == 3))
    assert min(each.std for each in needed_landscapes(optimizer)[None].left_out) == 0.0
    assert "The model does not predict well" in odds(optimizer, 5).doubt
    assert why_end(optimizer, stop_when_of("chance of 1% better in the next 5 < 0.999")) is None


def test_the_way_to_the_best_value_may_be_beyond_the_largest_float() -> None:
    optimizer = Optimizer(SPACE, seed=1, n_initial=12)
    for value in [MOST, MOST, -MOST] * 4:
        filled(optimizer, 1, lambda p, value=value: value)
    assert amount_of(record_of(optimizer), better_of("50%")) == MOST  # of twice as much


@pytest.mark.parametrize("before", [MOST, 0.0])
def test_gains_may_be_beyond_the_largest_float(before: float, monkeypatch: pytest.MonkeyPatch) -> None:
    last = Continuations(np.full(6, before), np.full((6, 4), -MOST))
    monkeypatch.setattr("aegisbo.review.odds.continuations", lambda *args: last)
    found = odds(filled(Optimizer(SPACE, seed=1, n_initial=12), 12), 4)
    assert (found.drawn, found.half) == ((1.0,) * 4, 1)


@pytest.mark.parametrize("error", [NotPositiveDefinite, np.linalg.LinAlgError, FloatingPointError])
@pytest.mark.parametrize("where", ["needed_landscapes", "continuations"])
def test_where_a_model_cannot_be_computed_no_run_ends(
    error: type[Exception], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> Any:
        raise error("It is singular.")

    monkeypatch.setattr(f"aegisbo.review.odds.{where}", broken)
    optimizer = filled(Optimizer(SPACE, seed=1, n_initial=12), 12)
    assert str(odds(optimizer, 3)).endswith("no odds. They cannot be computed: It is singular.")
    assert why_end(optimizer, stop_when_of("chance of 1% better in the next 3 < 0.999")) is None


def test_patience_with_several_objectives_looks_at_the_hypervolume() -> None:
    optimizer = Optimizer({"x": (0.0, 1.0)}, seed=0, objectives={"a": "min", "b": "min"})
    for a, b in [(9.0, 1.0), (1.0, 9.0), (5.0, 5.0), (2.0, 2.0), (1.99, 2.0), (6.0, 6.0), (7.0, 7.0)]:
        optimizer.tell(optimizer.ask(), {"a": a, "b": b})
    assert "None of the last 3 evaluations" in str(why_end(optimizer, stop_when_of("no 1% better in 3")))
    assert why_end(optimizer, stop_when_of("no 0.01% better in 3")) is None
    assert why_end(optimizer, stop_when_of("no 1% better in 4")) is None


def test_where_every_point_is_known_nothing_is_promised() -> None:
    optimizer = filled(Optimizer({"x": Int(1, 4), "y": Choice([2.0, 2.4, 3.0])}, seed=0, n_initial=12), 12)
    assert odds(optimizer, 5).chances == (0.0,) * 5


def test_the_report_and_the_live_page_show_the_same_odds(tmp_path: Path) -> None:
    record = Record.of_study(make_study(tmp_path / "run.db", n_initial=24))
    told = learned_facts_of(record, models_of(record.optimizer))["odds"]
    found = odds(tmp_path / "run.db")
    assert told == {"text": found.text, "details": list(found.details)}
    assert len(told["details"]) == 2
    without = learned_facts_of(record, {})["odds"]
    assert without["text"].endswith("no odds. There is no model yet.")
    assert without["details"] == []
