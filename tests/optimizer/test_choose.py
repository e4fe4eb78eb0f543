"""Looking at the next point changes nothing, and `ask` then hands out that point."""

from __future__ import annotations

from typing import Any

import pytest

from aegisbo import Optimizer
from aegisbo.errors import SpaceExhausted
from aegisbo.space import Choice

BOX = [(-5, 10), (2, 3)]


@pytest.mark.parametrize("results", [0, 6], ids=["initial", "model"])
@pytest.mark.parametrize("strategy", ["aegis", "ei", "random"])
def test_the_next_point_is_the_one_that_is_handed_out(strategy: str, results: int) -> None:
    optimizer = Optimizer(BOX, seed=3, n_initial=4, strategy=strategy)
    for trial in [optimizer.ask() for _ in range(results)]:
        optimizer.tell(trial, (trial.x[0] - 1) ** 2 + trial.x[1])
    point, trial = optimizer.choose(), optimizer.ask()
    assert (point.number, point.params, point.note) == (trial.number, trial.params, trial.note)
    assert point.memory == optimizer.memory


def test_looking_leaves_no_trace() -> None:
    """Asked and told in the same order, with and without looks."""
    watched, plain = (Optimizer([Choice(["a", "b", "c"]), (2, 3)], strategy="ei", seed=1, n_initial=2) for _ in "ab")
    for _ in range(7):
        before = watched.state()
        watched.choose()
        assert watched.state() == before
        for optimizer in (watched, plain):
            trial = optimizer.ask()
            optimizer.tell(trial, trial.x[1] + ("abc".index(trial.x[0]) - 1) ** 2)
    assert watched.state() == plain.state()


def test_given_points_come_in_their_order() -> None:
    optimizer: Any = Optimizer(BOX, seed=0, initial=[[1, 2.5], [2, 2.25]])
    points = [(optimizer.choose(), optimizer.ask())[0] for _ in range(2)]
    assert [list(point.params.values()) for point in points] == [[1, 2.5], [2, 2.25]]


def test_a_space_that_holds_no_more_has_no_choose() -> None:
    optimizer = Optimizer([Choice(["a", "b"])], seed=0)
    optimizer.ask()
    optimizer.ask()
    with pytest.raises(SpaceExhausted):
        optimizer.choose()
