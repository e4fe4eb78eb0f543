"""A point made ahead of time: nothing changes until it is handed out, and then it is as if it had been asked for."""

from __future__ import annotations

from typing import Any

import pytest

from aegisbo.errors import SpaceExhausted, TrialError
from aegisbo.optimizer import Optimizer
from aegisbo.space import Choice

BOX = [(-5, 10), (2, 3)]


def optimizer_with(results: int, **options: Any) -> Optimizer:
    """One that has so many results, and two trials pending."""
    optimizer = Optimizer(BOX, seed=3, n_initial=4, **options)
    for trial in [optimizer.ask() for _ in range(results)]:
        optimizer.tell(trial, (trial.x[0] - 1) ** 2 + trial.x[1])
    optimizer.ask()
    optimizer.ask()
    return optimizer


@pytest.mark.parametrize("results", [0, 6], ids=["initial", "model"])
@pytest.mark.parametrize("strategy", ["aegis", "ei", "random"])
def test_what_was_prepared_is_what_ask_would_have_chosen(strategy: str, results: int) -> None:
    optimizer, twin = optimizer_with(results, strategy=strategy), optimizer_with(results, strategy=strategy)
    trial, same = optimizer.ask(optimizer.prepare()), twin.ask()
    assert (trial.number, trial.params, trial.x.tolist()) == (same.number, same.params, same.x.tolist())
    assert trial.note == {**same.note, "behind": 0}
    assert optimizer.memory == twin.memory
    assert optimizer.ask() == twin.ask()


def test_results_that_come_in_change_nothing_about_it_and_are_counted() -> None:
    optimizer, twin = optimizer_with(6), optimizer_with(6)
    expected = twin.ask()
    prepared = optimizer.prepare()
    assert optimizer.behind(prepared) == 0
    optimizer.tell(6, 4.5)
    optimizer.fail(7, "diverged")
    optimizer.observe([0.0, 2.5], 3.0)
    assert optimizer.behind(prepared) == 3
    trial = optimizer.ask(prepared)
    assert trial.params == expected.params
    assert trial.note["behind"] == 3
    assert optimizer.memory == twin.memory
    assert optimizer.trials[8] == trial


def test_a_trial_that_is_lost_is_no_result_but_its_late_value_is() -> None:
    optimizer = optimizer_with(6)
    prepared = optimizer.prepare()
    optimizer.expire(6)
    assert optimizer.behind(prepared) == 0
    optimizer.tell(6, 4.5)
    assert optimizer.behind(prepared) == 1


def test_what_was_prepared_and_dropped_leaves_no_trace() -> None:
    """Asked and told in the same order, with or without points that nobody took."""
    watched, plain = (Optimizer([Choice(["a", "b", "c"]), (2, 3)], strategy="ei", seed=1, n_initial=2) for _ in "ab")
    for _ in range(7):
        before = watched.state()
        watched.prepare()
        assert watched.state() == before
        for optimizer in (watched, plain):
            trial = optimizer.ask()
            optimizer.tell(trial, trial.x[1] + ("abc".index(trial.x[0]) - 1) ** 2)
    assert watched.state() == plain.state()


def test_it_is_not_pending_until_it_is_handed_out() -> None:
    optimizer = optimizer_with(6)
    prepared = optimizer.prepare()
    assert len(optimizer.pending) == 2
    optimizer.ask(prepared)
    assert len(optimizer.pending) == 3


def ask_another(optimizer: Optimizer) -> None:
    optimizer.ask()


def retry(optimizer: Optimizer) -> None:
    optimizer.retry(0)


def forget(optimizer: Optimizer) -> None:
    optimizer.forget(0)


@pytest.mark.parametrize("change", [ask_another, retry, forget])
def test_what_does_not_fit_any_more_is_refused_and_changes_nothing(change: Any) -> None:
    optimizer = optimizer_with(6)
    prepared = optimizer.prepare()
    change(optimizer)
    before = optimizer.state()
    for use in (optimizer.ask, optimizer.behind):
        with pytest.raises(TrialError, match=r"prepared for trial 8 cannot be used any more.*prepare again"):
            use(prepared)
    assert optimizer.state() == before


def test_given_points_are_prepared_in_their_order() -> None:
    optimizer = Optimizer(BOX, seed=0, initial=[[1, 2.5], [2, 2.25]])
    trials = [optimizer.ask(optimizer.prepare()) for _ in range(2)]
    assert [trial.x.tolist() for trial in trials] == [[1, 2.5], [2, 2.25]]


def test_nothing_is_prepared_in_a_space_that_holds_no_more() -> None:
    optimizer = Optimizer([Choice(["a", "b"])], seed=0)
    optimizer.ask(optimizer.prepare())
    optimizer.ask(optimizer.prepare())
    with pytest.raises(SpaceExhausted):
        optimizer.prepare()
