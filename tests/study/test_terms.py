"""What was changed from outside holds until a call asks for something else than the one before it."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aegisbo.errors import InvalidInput
from aegisbo.study.events import Event
from aegisbo.study.terms import FIXED, TERMS, Terms, checked


def call(**given: Any) -> tuple[str, dict[str, Any]]:
    return "opened", {"call": given}


def joined(**given: Any) -> tuple[str, dict[str, Any]]:
    return "joined", {"call": given}


def changed(**changes: Any) -> tuple[str, dict[str, Any]]:
    return "set", {"changes": changes}


@pytest.mark.parametrize(
    ("happened", "budget", "holds"),
    [
        ([call(budget=100)], 100, {}),
        ([call(budget=100), changed(budget=400)], 400, {"budget": 400}),
        ([call(budget=100), changed(budget=400), call(budget=100)], 400, {"budget": 400}),  # the same call again
        ([call(budget=100), changed(budget=400), call(budget=200)], 200, {}),  # which says otherwise
        ([call(budget=100), changed(budget=400), call(budget=400), call(budget=100)], 100, {}),
        ([call(budget=100), changed(budget=400), changed(budget=50)], 50, {"budget": 50}),
        ([call(budget=9, workers=2), changed(budget=7, workers=5), call(budget=9, workers=3)], 7, {"budget": 7}),
        ([joined(budget=20), changed(budget=40), joined(budget=20), joined(budget=None)], 40, {"budget": 40}),
        ([joined(budget=20), changed(budget=40), joined(budget=30)], 30, {}),
        ([joined(budget=20), joined(budget=30), ("joined", {"copy": 1, "call": {"budget": 20}})], 30, {}),  # comes back
        (
            [call(budget=5), changed(timeout=None), call(budget=5, timeout=60.0)],
            5,
            {"timeout": None},
        ),  # unknown before
        ([changed(target=0.5)], None, {"target": 0.5}),
        ([call(budget=5, ahead=1), changed(ahead=2)], 5, {}),  # a setting that there was once
    ],
)
def test_the_last_word(happened: list[tuple[str, dict[str, Any]]], budget: int | None, holds: dict[str, Any]) -> None:
    terms = Terms()
    for number, (kind, body) in enumerate(happened, start=1):
        terms.add(Event(number, kind, None, 0.0, body))
    assert (terms.budget, terms.changed) == (budget, holds)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "Nothing to change: give one or more of budget, workers, timeout"),
        ({"budget": 0}, "budget is 0: give a whole number of evaluations, at least 1"),
        ({"budget": None}, "budget is None: give"),
        ({"workers": 2.5}, "workers is 2.5: give a whole number from 1 upwards"),
        ({"timeout": -1}, "timeout is -1: give seconds, more than 0; without it, or with None, there is no limit"),
        ({"target": "low"}, "target is 'low': give a finite number, or None"),
        ({"budgt": 3}, "Unknown setting 'budgt': did you mean 'budget'"),
        ({"strategy": "random"}, "strategy cannot be changed while a run goes on: earlier choices were made with it"),
        ({"seed": 3}, "seed cannot be changed while a run goes on: earlier choices were made with it"),
        ({"space": "x"}, "space cannot be changed while a run goes on: earlier points lie in it. Give wider bounds"),
        ({"budget": 3, "executor": "ray"}, "executor cannot be changed while a run goes on: it belongs to one call"),
    ],
)
def test_what_cannot_be_changed_gets_one_sentence(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        checked(changes)


def test_every_argument_of_minimize_can_be_changed_or_says_why_not() -> None:
    from inspect import signature

    from aegisbo import minimize

    about_one_call = {"fun", "study", "observed", "callbacks", "anyway"}
    assert set(signature(minimize).parameters) - about_one_call <= {*TERMS, *FIXED}


def test_numbers_of_any_kind_are_stored_as_json_holds_them() -> None:
    given = {"budget": np.int64(3), "timeout": Fraction(1, 2), "target": np.float32(0.25), "give_up_after": None}
    assert json.dumps(checked(given)) == '{"budget": 3, "timeout": 0.5, "target": 0.25, "give_up_after": null}'
