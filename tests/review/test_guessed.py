"""What reports say of a guess."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from review.made_studies import Script

import aegisbo
from aegisbo import Choice, Real
from aegisbo.review.guessed import guessed
from aegisbo.review.health import FEW, Finding, health
from aegisbo.review.landscape import models_of
from aegisbo.review.record import Record


def run(guess: object, value: Callable[[float], float], count: int = 20, **settings: object) -> Record:
    script = Script({"x": Real(0, 1, guess=guess)}, **settings)
    script.opened(0.0)
    for number in range(count):
        x = (7 * number % count) / count
        script.asked(number, number, x=x)
        script.told(number, number, number + 1.0, 0, value=value(x))
    return script.record()


def finding(record: Record) -> Finding | None:
    return next((each for each in health(record, models_of(record.optimizer)) if each.topic == "guess"), None)


def test_a_guess_that_held() -> None:
    found = finding(run((0.2, 0.4), lambda x: (x - 0.3) ** 2 + 1))
    assert found is not None
    assert (found.level, found.remedy) == ("good", "")
    # within 1.1 widths of 0.1 a point is worth a half: from 0.1 to 0.5, in steps of 0.05
    assert found.text == (
        "The best point lies where it was guessed. The best of 9 values at the guess is 1. "
        "The best of 11 values elsewhere is 1.0625."
    )


@pytest.mark.parametrize("maximize", [False, True])
def test_a_guess_that_misled(maximize: bool) -> None:
    sign = -1 if maximize else 1
    found = finding(run(0.3, lambda x: sign * ((x - 0.8) ** 2 + 1), maximize=maximize))
    assert found is not None
    assert found.level == "warning"
    assert found.text.startswith("The best point does not lie where it was guessed: x (0.8, guessed 0.3).")
    assert found.text.endswith(f"at the guess is {sign * 1.16:.6g}. The best of 15 values elsewhere is {sign}.")
    assert "You can also change it" in found.remedy


def test_nothing_is_said_of_few_evaluations_or_without_a_guess() -> None:
    assert finding(run(0.3, lambda x: x, count=FEW - 1)) is None
    assert finding(run(None, lambda x: x)) is None
    assert guessed(Script({"x": Real(0, 1, guess=0.5)}).record()) is None


def told_by(optimizer: aegisbo.Optimizer) -> str:
    found = guessed(Record.of_optimizer(optimizer))
    assert found is not None
    return found.text


def test_each_parameter_is_told_that_exists_at_the_best_point() -> None:
    space = {
        "lr": Real(1e-6, 1e-1, log=True, guess=(1e-4, 1e-2)),
        "act": Choice(["relu", "tanh", "elu"], guess={"relu": 2, "elu": 1.5}),
        "slope": Real(0, 1, guess=0.1, when={"act": "elu"}),
    }
    optimizer = aegisbo.Optimizer(space, seed=0)
    optimizer.observe({"lr": 1e-3, "act": "tanh"}, 1.0)
    optimizer.observe({"lr": 1e-3, "act": "elu", "slope": 0.9}, 2.0)
    assert told_by(optimizer).startswith(
        "The best point lies where it was guessed for lr, but not for act (tanh, guessed relu or elu)."
    )
    optimizer.observe({"lr": 1e-6, "act": "elu", "slope": 0.9}, 0.5)
    assert "where it was guessed for act, but not for lr (1e-06, guessed 0.0001 to 0.01); slope (0.9, " in told_by(
        optimizer
    )


def test_nothing_is_said_if_no_guessed_parameter_exists_at_the_best_point() -> None:
    space = {"kind": Choice(["a", "b"]), "x": Real(0, 1, guess=0.5, when={"kind": "a"})}
    optimizer = aegisbo.Optimizer(space, seed=0)
    optimizer.observe({"kind": "b"}, 1.0)
    assert guessed(Record.of_optimizer(optimizer)) is None


def test_of_several_objectives_the_compromise_is_told() -> None:
    optimizer = aegisbo.Optimizer({"x": Real(0, 1, guess=0.5)}, seed=0, objectives={"a": "min", "b": "min"})
    for x in (0.0, 0.5, 1.0):
        optimizer.observe({"x": x}, {"a": x**2, "b": (1 - x) ** 2})
    assert told_by(optimizer) == "The best point lies where it was guessed."
