"""Measuring a point again: where that decides who is best, and only where values are noisy."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose

from aegisbo import Choice, Int, Optimizer, SpaceExhausted, minimize
from aegisbo.arrays import Array
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import condition
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.strategies.moves.repeat import expected_lowest, most_decisive, with_new
from aegisbo.study.replay import replay

pytestmark = pytest.mark.long

SPACE = {"color": Choice(["red", "green", "blue"]), "size": Int(1, 4)}
TRUTH = {"red": 0.0, "green": 1.0, "blue": 3.0}
NOISE = 1.0


def truth(color: str, size: int) -> float:
    return TRUTH[color] + 0.4 * size


def driven(n: int, seed: int = 0, **options) -> Optimizer:
    """An optimizer that was told of n noisy values, two workers at a time."""
    rng = default_rng([seed, 1])
    optimizer = Optimizer(SPACE, seed=seed, **{"noisy": True, **options})
    waiting = [optimizer.ask()]
    for _ in range(n):
        waiting.append(optimizer.ask())
        trial = waiting.pop(0)
        optimizer.tell(trial, truth(**trial.params) + NOISE * rng.normal())
    return optimizer


def test_a_finite_space_is_not_exhausted_by_noisy_values() -> None:
    tried = set()
    for trial in driven(30).trials:
        point = tuple(trial.params.items())
        assert (trial.note["move"] == "repeat") == (point in tried)
        tried.add(point)
    assert len(tried) == 12


def test_what_is_repeated_are_the_best_points() -> None:
    again = driven(40).trials[12:]
    levels = [truth(**trial.params) for trial in again]
    everywhere = [truth(color, size) for color, size in itertools.product(TRUTH, range(1, 5))]
    assert np.mean(levels) < np.mean(everywhere) - 0.8
    assert len({tuple(trial.params.items()) for trial in again}) > 1  # several contenders


def test_repeated_values_make_a_better_choice() -> None:
    once = [truth(**driven(11, seed).best.params) for seed in range(12)]
    often = [truth(**driven(40, seed).best.params) for seed in range(12)]
    assert np.mean(often) < np.mean(once)


@pytest.mark.parametrize("options", [{"noisy": False}, {"strategy": "random"}, {"preset": "paper", "n_initial": 20}])
def test_others_repeat_nothing(options: dict[str, object]) -> None:
    with pytest.raises(SpaceExhausted, match="All 12 points"):
        driven(20, **options)


def test_there_must_be_values_before_anything_is_repeated() -> None:
    optimizer = Optimizer(SPACE, seed=0, noisy=True)
    for _ in range(12):
        optimizer.ask()
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


def test_the_expected_lowest_mean_is_that_of_many_draws() -> None:
    rng = default_rng(3)
    means, moves = rng.normal(size=5), rng.normal(size=(5, 3))
    draws = means[:, None, None] + moves[:, :, None] * rng.normal(size=200_000)
    assert_allclose(expected_lowest(means, moves), draws.min(axis=0).mean(axis=-1), atol=0.02)


def test_the_most_decisive_measurement_is_the_one_after_which_the_choice_is_best() -> None:
    """By simulation: draw the function and the measurement, learn from it, choose, and look what was chosen."""
    rng = default_rng(8)
    optimizer = driven(12, seed=3)
    evidence = optimizer.evidence()
    points = np.unique(evidence.X, axis=0)
    kernel = Matern52(np.full(points.shape[1], 0.7), 1.0)
    noise = 2.0
    gp = condition(kernel, noise, evidence.X, evidence.y - evidence.y.mean())
    mean, covariance = gp.mean(points), gp.covariance(points, points)
    functions = rng.multivariate_normal(mean, covariance, size=20_000)  # (s, 12)
    errors, values = np.sqrt(noise) * rng.normal(size=len(functions)), []
    for k in range(len(points)):
        measured = functions[:, k] + errors
        gain = covariance[:, k] / (covariance[k, k] + noise)
        after = mean + (measured - mean[k])[:, None] * gain  # (s, 12)
        values.append(functions[np.arange(len(functions)), after.argmin(axis=1)].mean())
    with one_blas_thread():
        alone, expected = most_decisive(gp, Known(evidence.X, evidence.pending[:0]))
    chosen = int(np.flatnonzero((points == alone).all(axis=1))[0])
    assert values[chosen] < min(values) + 0.2 * (max(values) - min(values))
    assert values[chosen] == pytest.approx(expected, abs=0.02)


@dataclass(frozen=True)
class Known:
    """All that is asked of the evidence."""

    X: Array
    pending: Array

    @property
    def kept(self) -> Array:
        return np.full(len(self.X), True)


def test_known_variances_are_expected_of_the_next_measurement() -> None:
    """By the definition: a point is measured as well as it was on average, a new one as well as all that compete."""
    rng = default_rng(4)
    points, new = np.array([[0.1], [0.5], [0.9]]), np.array([0.7])
    X, extra = np.repeat(points, 3, axis=0), np.array([0.1, 0.2, 0.3, 1.0, 2.0, 6.0, 0.5, 0.5, 0.5])
    gp = condition(
        Matern52(np.array([0.3]), 4.0), 0.5, X, np.array([-1.0, -1.2, 3.0])[[0, 0, 0, 1, 1, 1, 2, 2, 2]], extra=extra
    )
    draws = rng.normal(size=100_000)
    variances = extra.reshape(3, 3).mean(axis=1)
    after = []
    for k, variance in enumerate(variances):
        covariance = gp.covariance(points, points[[k]])[:, 0]
        moves = covariance / np.sqrt(covariance[k] + 0.5 + variance)
        after.append((gp.mean(points)[:, None] + moves[:, None] * draws).min(axis=0).mean())
    point, expected = most_decisive(gp, Known(X, X[:0]))
    assert point == points[np.argmin(after)]
    assert expected == pytest.approx(min(after), abs=0.01)
    both = np.vstack([points, new])
    covariance = gp.covariance(both, new[None])[:, 0]
    moves = covariance / np.sqrt(covariance[-1] + 0.5 + variances.mean())
    lowest = (gp.mean(both)[:, None] + moves[:, None] * draws).min(axis=0).mean()
    assert with_new(gp, Known(X, X[:0]), new) == pytest.approx(lowest, abs=0.01)


def test_workers_do_not_all_measure_the_same_point() -> None:
    """Of two points that are alike, the one is measured that nobody is measuring."""
    X = np.array([[0.1], [0.5], [0.9]])
    gp = condition(Matern52(np.array([0.05]), 4.0), 1.0, X, np.array([-1.0, -1.0, 3.0]))
    for busy, free in ((0, 1), (1, 0)):
        point, _ = most_decisive(gp, Known(X, X[[busy, busy]]))
        assert point == X[free]


def test_a_new_point_goes_before_one_that_is_known_if_it_promises_more() -> None:
    X = np.array([[0.1], [0.5], [0.9]])
    known = Known(X, X[:0])
    for noise, again in ((1e-6, False), (30.0, True)):  # little, or so much that all that is new is as good as nothing
        gp = condition(Matern52(np.array([0.2]), 4.0), noise, np.vstack([X] * 3), np.array([-1.0, -0.9, 3.0] * 3))
        assert (most_decisive(gp, known)[1] < with_new(gp, known, np.array([0.88]))) == again


def test_greedy_moves_are_replaced_before_the_space_is_exhausted() -> None:
    coins = []
    for seed in range(4):
        rng = default_rng([seed, 1])
        optimizer = Optimizer({name: Int(0, 4) for name in "abc"}, seed=seed, noisy=True)
        for _ in range(50):
            trial = optimizer.ask()
            level = sum((value - best) ** 2 for value, best in zip(trial.params.values(), (1, 3, 2), strict=True))
            optimizer.tell(trial, level + 2.0 * rng.normal())
        coins += [trial.note["coin"] for trial in optimizer.trials if trial.note["move"] == "repeat"]
    assert coins
    assert max(coins) < 1.0 - 1.0 / 3.0**0.5  # where AEGiS would have exploited


def test_a_study_with_repetitions_is_replayed(tmp_path: Path) -> None:
    def fun(color: str, size: int) -> float:
        count[0] += 1
        return truth(color, size) + default_rng([size, len(color), count[0]]).normal()

    count = [0]
    path = tmp_path / "run.db"
    result = minimize(fun, SPACE, budget=30, executor="serial", noisy=True, seed=1, study=path)
    assert result.nfev == 30
    assert replay(path).differences == ()
    often = sum(trial.params == result.best.params for trial in result.trials)
    assert often > 1
    assert result.message.endswith(f"This x was measured {often} times.")


def test_points_that_break_a_limit_are_not_measured_again() -> None:
    rng = default_rng(5)
    optimizer = Optimizer(SPACE, seed=0, noisy=True, limits=["load <= 1"])
    for _ in range(24):
        trial = optimizer.ask()
        load = 2.0 if trial.params["color"] == "red" else 0.0  # the color with the lowest values
        optimizer.tell(trial, truth(**trial.params) + NOISE * rng.normal(), measured={"load": load})
    again = [trial for trial in optimizer.trials if trial.note["move"] == "repeat"]
    assert len(again) >= 12
    assert not any(trial.params["color"] == "red" for trial in again)
