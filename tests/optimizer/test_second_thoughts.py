"""Trials that are retried or forgotten: the optimizer then knows what one would that never saw their ends."""

from __future__ import annotations

import json

import numpy as np
import pytest

from aegisbo import Optimizer
from aegisbo.errors import InvalidInput, SpaceExhausted, TrialError
from aegisbo.space import Choice, Int

BOX = [(-5, 10), (2, 3)]
TINY = {"a": Int(0, 1), "b": Choice(["u", "v"])}


def lived(asks: int = 6) -> Optimizer:
    """Trial 0 done, 1 failed, 2 lost, 3 timed out, 4 the best, the others pending."""
    optimizer = Optimizer(BOX, strategy="random", seed=3)
    for _ in range(asks):
        optimizer.ask()
    optimizer.tell(0, 5.0)
    optimizer.fail(1, "diverged")
    optimizer.expire(2)
    optimizer.fail(3, "too slow", state="timed_out")
    optimizer.tell(4, 1.0)
    return optimizer


def assert_same_evidence(one: Optimizer, other: Optimizer) -> None:
    for name in ("X", "y", "failed", "pending"):
        np.testing.assert_array_equal(getattr(one.evidence(), name), getattr(other.evidence(), name))


@pytest.mark.parametrize("number", range(5))
def test_a_retried_trial_is_as_before_it_ended(number: int) -> None:
    optimizer, fresh = lived(), Optimizer(BOX, strategy="random", seed=3)
    untouched = [fresh.ask() for _ in range(6)]
    retried = optimizer.retry(number)
    assert retried == untouched[number]
    assert retried.describe() == untouched[number].describe()
    np.testing.assert_array_equal(retried.x, untouched[number].x)
    assert number in [trial.number for trial in optimizer.pending]
    assert optimizer.tell(retried, 0.5).value == 0.5


def test_a_retried_trial_does_not_count_until_it_ends_again() -> None:
    optimizer = lived()
    assert (optimizer.result().nfev, optimizer.result().fun) == (4, 1.0)
    for number in (4, 3):
        optimizer.retry(optimizer.trials[number])
    assert (optimizer.result().nfev, optimizer.result().fun) == (2, 5.0)
    optimizer.tell(3, 2.0)
    assert (optimizer.result().nfev, optimizer.result().fun) == (3, 2.0)


@pytest.mark.parametrize("number", range(6))
def test_a_forgotten_trial_is_as_if_it_had_never_been(number: int) -> None:
    """The others, observed by an optimizer that never asked, are the witness."""
    optimizer = lived()
    others = [trial for trial in optimizer.trials if trial.number != number]
    assert optimizer.forget(number).state == "forgotten"
    values = {trial.number: trial.value for trial in others if trial.state == "done"}
    np.testing.assert_array_equal(optimizer.evidence().y, list(values.values()))
    assert optimizer.result().nfev == sum(trial.state in ("done", "failed", "timed_out") for trial in others)
    assert optimizer.result().fun == min(values.values())
    points = optimizer.evidence().taken
    assert len(points) == sum(trial.state != "lost" for trial in others)
    gone = optimizer.space.to_unit(optimizer.trials[number].params)
    assert not (points == gone).all(axis=1).any()
    assert [trial.number for trial in optimizer.trials] == list(range(6))


def test_a_forgotten_point_may_be_asked_for_again() -> None:
    optimizer = Optimizer(TINY, strategy="random", seed=0)
    asked = [optimizer.ask() for _ in range(4)]
    optimizer.tell(2, 1.0)
    with pytest.raises(SpaceExhausted):
        optimizer.ask()
    optimizer.forget(2)
    assert optimizer.ask().params == asked[2].params


def test_a_forgotten_trial_takes_no_result() -> None:
    optimizer = lived()
    for number in (2, 3, 5):  # for the first two a late value would have counted
        optimizer.forget(number)
        for end in (lambda n: optimizer.tell(n, 1.0), lambda n: optimizer.fail(n, "x"), optimizer.expire):
            with pytest.raises(TrialError, match=f"Trial {number} was forgotten: to add data, use observe"):
                end(number)


@pytest.mark.parametrize(
    ("change", "number", "message"),
    [
        (Optimizer.retry, 5, "Trial 5 is pending: only a trial that has ended can be retried"),
        (Optimizer.retry, 6, "Trial 6 was never asked for: 6 trials are known"),
        (Optimizer.forget, -1, "Trial -1 was never asked for: 6 trials are known"),
    ],
)
def test_what_cannot_be_changed_is_refused(change, number: int, message: str) -> None:
    optimizer = lived()
    before = optimizer.state()
    with pytest.raises(TrialError, match=message):
        change(optimizer, number)
    with pytest.raises(InvalidInput, match="Expected a trial or its number"):
        change(optimizer, "3")
    assert optimizer.state() == before


def test_nothing_more_can_be_done_with_a_forgotten_trial() -> None:
    optimizer = lived()
    optimizer.forget(1)
    with pytest.raises(TrialError, match="Trial 1 was forgotten already"):
        optimizer.forget(1)
    with pytest.raises(TrialError, match="Trial 1 was forgotten: a forgotten trial cannot be retried"):
        optimizer.retry(1)


def test_second_thoughts_are_part_of_the_state() -> None:
    optimizer = lived()
    optimizer.retry(3)
    optimizer.forget(0)
    again = Optimizer.from_state(json.loads(json.dumps(optimizer.state())))
    assert again.state() == optimizer.state()
    assert again.trials == optimizer.trials
    assert_same_evidence(again, optimizer)
    assert again.ask() == optimizer.ask()
