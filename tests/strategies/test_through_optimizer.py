"""Promises that every strategy keeps when it is asked through the optimizer."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest

from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.strategies.registry import STRATEGIES

BOX = [(-5, 10), (2, 3)]
MIXED = {"a": Real(1e-6, 0.1, log=True), "b": Int(16, 512, log=True), "c": Choice(["u", "v", "w"])}

strategies = pytest.mark.parametrize("strategy", [*STRATEGIES, "aegis:epsilon=0.5,guard=on", "random:n=5"])


def value_of(optimizer: Optimizer, number: int) -> float:
    u = optimizer.space.to_unit(optimizer.trials[number].params)
    return float(100.0 * np.sum((u - 0.3) ** 2) + np.cos(9 * u).sum())


def started(space, strategy: str) -> Optimizer:
    """The initial points have been told; the next ask is the strategy's first."""
    optimizer = Optimizer(space, strategy=strategy, preset="paper", seed=7)
    for _ in range(optimizer.settings.n_initial):
        number = optimizer.ask().number
        optimizer.tell(number, value_of(optimizer, number))
    return optimizer


def reloaded(optimizer: Optimizer) -> Optimizer:
    return Optimizer.from_state(json.loads(json.dumps(optimizer.state())))


def run(optimizer: Optimizer, until: int) -> Optimizer:
    """Four at work; they end out of order, and one in five fails."""
    for _ in range(until - len(optimizer.trials)):
        number = optimizer.ask().number
        if len(optimizer.pending) == 4:
            ended = optimizer.pending[(5 * number) % 4].number
            if ended % 5:
                optimizer.tell(ended, value_of(optimizer, ended))
            else:
                optimizer.fail(ended, "diverged")
    return optimizer


@strategies
def test_a_burst_of_asks_equals_single_asks(strategy):
    burst, single = started(BOX, strategy), started(BOX, strategy)
    trials = [burst.ask() for _ in range(5)]
    for trial in trials:
        single = reloaded(single)
        single.evidence(), single.result()
        assert single.ask() == trial
    assert single.state() == burst.state()


@strategies
@pytest.mark.parametrize("space", [BOX, MIXED], ids=["box", "mixed"])
def test_stopping_and_going_on_equals_never_stopping(strategy, space):
    never_stopped = run(started(space, strategy), 11)
    stopped = reloaded(never_stopped)
    assert run(stopped, 15).state() == run(never_stopped, 15).state()
    assert {trial.state for trial in never_stopped.trials} == {"pending", "done", "failed"}


@strategies
def test_the_order_of_completion_does_not_matter(strategy):
    asked = started(BOX, strategy)
    for _ in range(3):
        asked.ask()
    nexts = []
    for order in permutations((4, 5, 6)):
        optimizer = reloaded(asked)
        for number in order:
            optimizer.tell(number, value_of(optimizer, number))
        nexts.append(optimizer.ask())
    assert nexts == [nexts[0]] * 6


@strategies
def test_asks_that_outrun_the_data_go_on(strategy):
    optimizer = Optimizer(MIXED, strategy=strategy, preset="paper", seed=7)
    trials = [optimizer.ask() for _ in range(60)]
    assert {trial.note["move"] for trial in trials} == {"initial"}
    assert len({tuple(trial.params.values()) for trial in trials}) == 60


@strategies
def test_maximizing_is_minimizing_the_negative(strategy):
    low, high = (Optimizer(BOX, strategy=strategy, seed=3, maximize=maximize) for maximize in (False, True))
    for _ in range(8):
        a, b = low.ask(), high.ask()
        np.testing.assert_array_equal(a.x, b.x)
        value = value_of(low, a.number)
        low.tell(a, value)
        high.tell(b, -value)
