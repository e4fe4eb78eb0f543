"""Where evaluations without a value will end, as the core says it: in the user's units, where that is known."""

from __future__ import annotations

import math

import numpy as np

from aegisbo import Optimizer
from aegisbo.events import Ended
from aegisbo.outcome import Outcome

SPACE = {"x": (-1.0, 3.0), "y": (2.0, 7.0)}


def told(sign: float = 1.0) -> Optimizer:
    """Four that ended, one that runs behind them, one ahead of them, one that diverges, and a silent one."""
    optimizer = Optimizer(SPACE, seed=0, n_initial=8, maximize=sign < 0)
    for k in range(8):
        assert optimizer.ask().number == k
    for k, way in enumerate([1.0, 1.2, 1.1, 0.9]):
        optimizer.report(k, sign * (3.0 + k), 1)
        optimizer.tell(k, sign * (3.0 + k - way))
    for k, value in [(4, 7.0), (5, 1.0), (6, math.nan)]:
        optimizer.report(k, sign * value, 1)
    return optimizer


def test_ends_are_expected_of_those_that_have_reported_and_have_no_value() -> None:
    optimizer = told()
    ends = optimizer.expected_ends()
    assert set(ends) == {4, 5}
    assert ends[5].value < 2.0 < 5.0 < ends[4].value < 7.0  # better than all, and worse than most
    assert ends[4].chance < 0.1 < 0.9 < ends[5].chance
    assert 0.0 < ends[5].sd < 2.0


def test_the_largest_values_are_expected_alike_where_they_are_wanted() -> None:
    down, up = told().expected_ends(), told(-1.0).expected_ends()
    for k, end in down.items():
        np.testing.assert_allclose(up[k], (-end.value, end.sd, end.chance))


def test_a_better_value_from_elsewhere_lowers_the_chance() -> None:
    optimizer = told()
    before = optimizer.expected_ends()[5]
    optimizer.observe({"x": 0.0, "y": 3.0}, -9.0)
    after = optimizer.expected_ends()[5]
    assert after.chance < 0.01 < before.chance
    assert after[:2] == before[:2]


def test_what_is_only_expected_does_not_pass_for_the_best() -> None:
    optimizer = told()
    optimizer.apply(Ended(5, Outcome("stopped")))
    assert optimizer.expected_ends()[5].value < 2.0  # as it is expected
    assert min(optimizer.evidence().y) == 2.0  # as the model is told


def test_too_few_ends_say_nothing() -> None:
    optimizer = Optimizer(SPACE, seed=0)
    for k in range(3):
        optimizer.ask()
        optimizer.report(k, 1.0, 1)
    assert optimizer.expected_ends() == {}
    optimizer.tell(0, 1.0)
    assert optimizer.expected_ends() == {}


def test_several_objectives_have_no_expected_end() -> None:
    optimizer = Optimizer(SPACE, seed=0, objectives={"a": "min", "b": "max"})
    optimizer.report(optimizer.ask(), 1.0, 1)
    assert optimizer.expected_ends() == {}
