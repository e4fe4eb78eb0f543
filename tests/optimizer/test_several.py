"""What sums up a front: extremes, the compromise, the hypervolume and its reference, against their definitions."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from aegisbo import Optimizer, Result
from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput, OneNumber
from aegisbo.outcome import Outcome

SPACE = {"a": (-5.0, 10.0), "b": (2.0, 3.0)}
TWO = {"accuracy": "max", "latency": "min"}
THREE = {"accuracy": "max", "latency": "min", "size": "min"}


def result_of(told: list[tuple[float, ...]], objectives: dict[str, str] = TWO, **options: Any) -> Result:
    """A result in which these were measured, in this order."""
    optimizer = Optimizer(SPACE, strategy="random", objectives=objectives, seed=3, **options)
    for values in told:
        optimizer.tell(optimizer.ask(), dict(zip(objectives, values, strict=True)))
    return optimizer.result()


def dominated_volume(told: Array, reference: Array, signs: Array) -> float:
    """The definition: the cells of the grid through all values that some point dominates."""
    F, edge = told * signs, reference * signs
    cuts = [np.unique([*column[column < end], end]) for column, end in zip(F.T, edge, strict=True)]
    cells = product(*(pairwise(cut) for cut in cuts))
    corners = np.array([*cells]).reshape(-1, len(edge), 2)
    inside = (F[:, None, :] <= corners[None, :, :, 0]).all(axis=2).any(axis=0)
    return float(np.ptp(corners, axis=2).prod(axis=1)[inside].sum())


@pytest.mark.parametrize("objectives", [TWO, THREE])
def test_the_hypervolume_after_each_evaluation_is_that_of_the_definition(objectives: dict[str, str]) -> None:
    told = np.random.default_rng(5).uniform([0.1, 20.0, -3.0], [0.9, 90.0, 4.0], (25, 3))[:, : len(objectives)]
    signs = np.array([-1.0, 1.0, 1.0])[: len(objectives)]
    result = result_of([tuple(row) for row in told], objectives)
    for given in (None, dict(zip(objectives, (0.3, 75.0, 2.0), strict=False))):
        reference = np.array([*(result.reference if given is None else given).values()])  # type: ignore[union-attr]
        expected = [dominated_volume(told[: k + 1], reference, signs) for k in range(len(told))]
        np.testing.assert_allclose(result.hypervolume(given), expected, rtol=1e-12)
        assert expected[-1] > 0.0
    assert f"hypervolume: {result.hypervolume()[-1]:.6g}, reference accuracy=" in repr(result)


def test_the_default_reference_lies_a_tenth_of_the_range_beyond_the_worst_of_the_front() -> None:
    result = result_of([(0.9, 100.0), (0.5, 20.0), (0.4, 60.0)])
    assert result.reference == pytest.approx({"accuracy": 0.46, "latency": 108.0})
    one = result_of([(0.9, 20.0), (0.5, 50.0)])  # the range of all, because the front is a single trial
    assert one.reference == pytest.approx({"accuracy": 0.86, "latency": 23.0})
    same = result_of([(0.9, 20.0)] * 2)
    assert same.reference == pytest.approx({"accuracy": 0.8, "latency": 20.1})
    np.testing.assert_allclose(same.hypervolume(), 0.01)


def test_evaluations_count_in_the_order_of_their_ends_and_only_if_they_keep_limits() -> None:
    optimizer = Optimizer(SPACE, strategy="random", objectives=TWO, seed=3, limits=["latency <= 50"])
    trials = [optimizer.ask() for _ in range(4)]
    told = [(0.5, 20.0, 40.0), (0.9, 60.0, 10.0), (0.6, 10.0, 20.0)]  # and when it began
    for trial, (accuracy, latency, began) in zip(trials, told, strict=False):
        measured = {"accuracy": accuracy, "latency": latency}
        optimizer.end(trial, Outcome("done", None, measured=measured, began=began, seconds=1.0))
    optimizer.end(trials[3], Outcome("failed", reason="no", began=30.0, seconds=1.0))
    result = optimizer.result()
    assert [trial.number for trial in result.front] == [2]
    reference = {"accuracy": 0.1, "latency": 100.0}
    np.testing.assert_allclose(result.hypervolume(reference), [0.0, 0.5 * 90.0, 45.0, 45.0])


def test_observed_points_count_from_the_start() -> None:
    optimizer = Optimizer(SPACE, strategy="random", objectives=TWO, seed=3)
    optimizer.observe({"a": 1.0, "b": 2.5}, {"accuracy": 0.5, "latency": 20.0})
    assert optimizer.result().hypervolume().tolist() == []
    assert "observed point 1" in repr(optimizer.result())
    optimizer.tell(optimizer.ask(), {"accuracy": 0.4, "latency": 30.0})
    np.testing.assert_allclose(optimizer.result().hypervolume({"accuracy": 0.0, "latency": 24.0}), [0.5 * 4.0])


def test_extremes_are_best_in_one_objective_and_the_compromise_is_nearest_to_the_ideal() -> None:
    told = np.random.default_rng(8).uniform([0.1, 20.0, -3.0], [0.9, 90.0, 4.0], (30, 3))
    result = result_of([tuple(row) for row in told], THREE)
    found = {name: trial.number for name, trial in result.extremes.items()}
    assert found == dict(zip(THREE, (told * [-1.0, 1.0, 1.0]).argmin(axis=0), strict=True))
    front = told[[trial.number for trial in result.front]]
    low, high = front.min(axis=0), front.max(axis=0)
    shares = (front - low) / (high - low)  # the ideal is at 1 of the first, which is maximized, and at 0 of the others
    nearest = np.linalg.norm(shares - [1.0, 0.0, 0.0], axis=1).argmin()
    assert result.compromise == result.front[nearest]
    assert result_of([(0.9, 20.0)]).compromise.number == 0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"accuracy": 0.5}, r"a number for each objective, \{'accuracy': \.\.\., 'latency': \.\.\.\}; got \{'acc"),
        ({"accuracy": 0.5, "latency": 1.0, "size": 3.0}, "a number for each objective"),
        ((0.5, 100.0), r"a number for each objective, .* got \(0\.5, 100\.0\)"),
        ({"accuracy": "high", "latency": 1.0}, "has accuracy = 'high': give a finite number"),
        ({"accuracy": 0.5, "latency": float("inf")}, "has latency = inf: give a finite number"),
    ],
)
def test_a_reference_that_makes_no_sense_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        result_of([(0.9, 20.0)]).hypervolume(given)


def test_without_a_front_there_is_nothing_to_sum_up() -> None:
    result = result_of([(0.9, 20.0)], limits=["latency <= 5"])
    assert (result.front, result.extremes, result.compromise, result.reference) == ((), {}, None, None)
    assert result.hypervolume().tolist() == [0.0]
    assert repr(result).startswith("   front: 0 trials")


def test_one_number_has_none_of_these() -> None:
    optimizer = Optimizer(SPACE, strategy="random", seed=3)
    optimizer.tell(optimizer.ask(), 1.0)
    result = optimizer.result()
    for name, instead in {"extremes": "best", "compromise": "best", "reference": "fun"}.items():
        with pytest.raises(OneNumber, match=f"one number .* so there is no {name}: use {instead}"):
            getattr(result, name)
    with pytest.raises(OneNumber, match="no hypervolume: use fun"):
        result.hypervolume()
