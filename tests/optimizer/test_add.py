"""Points that must be tried, in a loop of one's own: in order, before the strategy's, and each of them once."""

from __future__ import annotations

import json
from copy import copy
from typing import Any

import pytest

from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.errors import InvalidInput
from aegisbo.events import Asked

SPACE: Any = {"lr": Real(1e-4, 1.0, log=True), "units": Int(16, 512), "act": Choice(["relu", None])}
A, B, C = ({"lr": lr, "units": 32, "act": None} for lr in (0.1, 0.2, 0.3))


def test_they_come_next_in_their_order_after_the_initial_ones() -> None:
    optimizer = Optimizer(SPACE, seed=1, initial=[A], n_initial=5)
    plain = Optimizer(SPACE, seed=1, initial=[A], n_initial=5)
    assert optimizer.add({"lr": 0.2, "units": 32.0, "act": None}) == B
    optimizer.add(C)
    assert optimizer.waiting == (B, C)
    trials = [optimizer.ask() for _ in range(5)]
    assert [trial.params for trial in trials[:3]] == [A, B, C]
    assert [trial.note for trial in trials[:3]] == [{"move": "initial"}, {"move": "added"}, {"move": "added"}]
    assert optimizer.waiting == ()
    assert [t.params for t in trials[3:]] == [plain.ask().params for _ in range(5)][3:]  # by number, as without them
    assert optimizer.tell(trials[1], 3.0).value == 3.0


def test_a_stored_and_a_copied_state_keep_them() -> None:
    optimizer = Optimizer(SPACE, seed=1)
    optimizer.add(A)
    optimizer.add(B)
    twin = copy(optimizer)
    assert twin.ask().params == A
    assert (twin.waiting, optimizer.waiting) == ((B,), (A, B))
    stored = json.loads(json.dumps(optimizer.state()))
    again = Optimizer.from_state(stored)
    assert [again.ask().params, again.ask().params] == [A, B]
    del stored["added"]  # as older versions wrote it
    assert Optimizer.from_state(stored).waiting == ()


def test_a_trial_asked_for_elsewhere_is_the_one_that_waited() -> None:
    optimizer = Optimizer(SPACE, seed=1)
    optimizer.add(A)
    optimizer.apply(Asked(0, B, {"move": "initial"}, {}, 0, 0.0))
    assert optimizer.waiting == (A,)
    optimizer.apply(Asked(1, A, {"move": "added"}, {}, 0, 0.0))
    assert optimizer.waiting == ()


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"lr": 0.1, "units": 32}, "x must have the names lr, units, act, got"),
        ({"lr": 7.0, "units": 32, "act": None}, "Parameter 'lr': 7.0 is not within"),
        (
            A,
            "Trial 0 is at lr=0.1, units=32, act=None and is pending: nothing to add. To have it evaluated",
        ),
        (B, "Trial 1 is at .* and is done with the value 0.5: nothing to add"),
        (C, "lr=0.3, units=32, act=None is already waiting"),
    ],
)
def test_what_is_no_point_or_has_been_tried_is_refused(point: Any, message: str) -> None:
    optimizer = Optimizer(SPACE, initial=[A, B])
    optimizer.ask()
    optimizer.tell(optimizer.ask(), 0.5)
    optimizer.add(C)
    with pytest.raises(InvalidInput, match=message):
        optimizer.add(point)
    assert optimizer.waiting == (C,)


def test_initial_points_that_wait_are_known_and_lost_or_forgotten_ones_may_be_tried_again() -> None:
    optimizer = Optimizer(SPACE, initial=[A, B])
    with pytest.raises(InvalidInput, match="is already waiting"):
        optimizer.add(B)
    optimizer.expire(optimizer.ask())
    optimizer.forget(optimizer.ask())
    optimizer.observe(C, 1.0)  # elsewhere: one may want to see it here
    assert [optimizer.add(A), optimizer.add(B), optimizer.add(C)] == [A, B, C]


def test_where_values_are_noisy_a_point_may_be_tried_again() -> None:
    optimizer = Optimizer(SPACE, noisy=True)
    optimizer.add(A)
    optimizer.add(A)
    assert [optimizer.ask().params, optimizer.ask().params, optimizer.waiting] == [A, A, ()]
