"""Noisy functions: the best point is the one that the model holds to be the best, not the luckiest."""

from __future__ import annotations

import json

import numpy as np
import pytest

from aegisbo import Optimizer
from aegisbo.optimizer.best import SMOOTHED, UNSMOOTHED
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.optimizer.policy import Role
from aegisbo.space import Choice

BOX = [(-5, 10), (2, 3)]


def truth(x) -> float:
    return float((x[0] - 1.0) ** 2 + 30.0 * (x[1] - 2.7) ** 2)


def measured(strategy: str = "aegis", *, noisy: bool = True, maximize: bool = False, n: int = 40) -> Optimizer:
    """An optimizer that was told of `n` values of a parabola with much noise."""
    optimizer = Optimizer(BOX, strategy=strategy, seed=4, n_initial=0, maximize=maximize, noisy=noisy)
    rng = np.random.default_rng(1)
    for u in rng.random((n, 2)):
        x = optimizer.space.from_unit(u)
        value = truth(x) + 5.0 * rng.normal()
        optimizer.observe(x, -value if maximize else value)
    return optimizer


def test_the_lowest_posterior_mean_goes_before_the_luckiest_value():
    result, lucky = measured().result(), measured(noisy=False).result()
    assert lucky.fun == min(trial.value for trial in measured().observed)
    assert truth(result.x) < truth(lucky.x) / 5
    assert abs(result.fun - truth(result.x)) < abs(lucky.fun - truth(lucky.x)) / 5


def test_the_result_is_the_lowest_smoothed_value_and_where_it_is():
    optimizer = measured()
    result, evidence = optimizer.result(), optimizer.evidence()
    with one_blas_thread():  # as the optimizer does: with two, sums have other last digits
        belief = optimizer.strategy.believe(evidence, {}, np.random.default_rng([4, Role.ASIDE, 0]))
        means = belief.smoothed(evidence.X)
    np.testing.assert_array_equal(optimizer.space.to_unit(result.x), evidence.X[means.argmin()])
    assert result.fun == means.min()
    assert result.best == optimizer.best
    assert result.best.value == evidence.y[means.argmin()] != result.fun


def test_who_maximizes_gets_the_mirror_image():
    up, down = measured(maximize=True).result(), measured().result()
    assert up.best.params == down.best.params
    assert (up.fun, up.best.value) == (-down.fun, -down.best.value)


def test_the_result_says_so():
    said = f"The best so far. {SMOOTHED}"
    assert measured().result().message == said
    assert f" message: {said}" in repr(measured().result()).splitlines()
    assert measured().result("Enough.").message == f"Enough. {SMOOTHED}"
    assert measured(noisy=False).result().message == "The best so far."
    assert Optimizer(BOX, noisy=True).result().message == "No trial has given a value."


@pytest.mark.parametrize(("strategy", "n"), [("random", 40), ("aegis", 2)])
def test_without_a_model_the_lowest_value_is_the_best_and_the_result_says_that(strategy, n):
    result, plain = measured(strategy, n=n).result(), measured(strategy, n=n, noisy=False).result()
    assert (result.best, result.fun) == (plain.best, plain.fun)
    assert result.message == f"The best so far. {UNSMOOTHED}"


def test_a_model_is_there_from_d_plus_1_values():
    assert measured(n=3).result().message.endswith(SMOOTHED)


def test_the_same_data_give_the_same_best_again_and_after_a_restart():
    optimizer = measured()
    for _ in range(3):
        trial = optimizer.ask()
        optimizer.tell(trial, truth(trial.x))
    again = Optimizer.from_state(json.loads(json.dumps(optimizer.state())))
    first, second, after = optimizer.result(), optimizer.result(), again.result()
    assert first.best == second.best == after.best
    assert first.fun == second.fun == after.fun
    assert again.settings.noisy


def test_looking_at_the_best_changes_no_suggestion():
    watched, left_alone = measured(), measured()
    for _ in range(4):
        assert watched.best is not None
        trial, other = watched.ask(), left_alone.ask()
        assert trial == other
        watched.tell(trial, truth(trial.x))
        left_alone.tell(other, truth(other.x))


def test_a_state_from_before_there_was_noise_means_none():
    state = measured(noisy=False).state()
    assert state.pop("noisy") is False
    assert not Optimizer.from_state(state).settings.noisy


def test_initial_points_of_a_finite_space_may_be_repeated():
    initial = [["a"], ["b"], ["a"], ["b"]]
    optimizer = Optimizer([Choice(["a", "b"])], noisy=True, initial=initial, seed=1)
    for x in initial:
        trial = optimizer.ask()
        assert trial.x == x
        optimizer.tell(trial, 1.0)
