from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from aegisbo.optimizer.optimizer import Optimizer
from aegisbo.space import Int
from aegisbo.strategies.base import Suggestion


class Center:
    def suggest(self, evidence, memory, rng):
        return Suggestion(np.full(evidence.cube.width, 0.5), memory, {"move": "center"})


def test_a_result_speaks_as_scipy_does():
    optimizer = Optimizer(
        [(-5, 10), (2, 3)], strategy=Center(), initial=[[0, 2.5], [1.5, 2.25], [3, 3], [4, 3], [5, 3]]
    )
    for _ in range(5):
        optimizer.ask()
    optimizer.tell(0, 3.0)
    optimizer.tell(1, -1.5)
    optimizer.fail(2, "diverged")
    optimizer.expire(3)
    result = optimizer.result("Budget used.")
    np.testing.assert_array_equal(result.x, [1.5, 2.25])
    assert (result.fun, result.nfev, result.success, result.message) == (-1.5, 3, True, "Budget used.")
    assert result.trials == optimizer.trials
    assert result.best == optimizer.trials[1]
    assert repr(result).splitlines() == [
        "       x: [1.5  2.25]",
        "     fun: -1.5",
        "    nfev: 3",
        " success: True",
        " message: Budget used.",
        "  trials: 5 (2 done, 1 failed, 1 lost, 1 pending)",
    ]


def test_a_result_says_where_the_workers_time_went_if_that_is_known():
    result = Optimizer([(-5, 10)], strategy=Center()).result()
    assert result.idle is None
    assert repr(replace(result, idle={"pool": 0.25, "nothing": 0})).endswith("idle: 25.0% pool, 0.0% nothing")


def test_a_result_without_a_value():
    optimizer = Optimizer({"k": Int(1, 9)}, strategy=Center())
    result = optimizer.result()
    assert (result.x, result.nfev, result.success, result.trials) == (None, 0, False, ())
    assert math.isnan(result.fun)
    assert result.best is None
    assert result.message == "No trial has given a value."
    assert repr(result).endswith("trials: 0")


def test_a_named_space_gives_a_dict_and_observed_points_do_not_count_as_evaluations():
    optimizer = Optimizer({"k": Int(1, 9)}, strategy=Center())
    optimizer.observe({"k": 7}, 2.0)
    result = optimizer.result()
    assert (result.x, result.fun, result.nfev, result.success) == ({"k": 7}, 2.0, 0, True)
    assert result.message == "The best so far."
