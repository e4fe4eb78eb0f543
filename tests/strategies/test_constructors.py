"""Strategies as objects: what they are made with, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, asdict, replace
from inspect import signature

import numpy as np
import pytest

import aegisbo.strategies
from aegisbo import Optimizer
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.strategies import (
    Aegis,
    ExpectedImprovement,
    KrigingBeliever,
    LocalPenalization,
    LocalQuadratic,
    Playbook,
    Preset,
    Random,
    Thompson,
)
from aegisbo.strategies.moves.thompson import SamplePath
from aegisbo.strategies.presets import DEFAULT_PRESET, MODERN, PAPER
from aegisbo.strategies.registry import resolve

WITH_MODEL = {
    "aegis": Aegis,
    "thompson": Thompson,
    "ei": ExpectedImprovement,
    "kriging-believer": KrigingBeliever,
    "local-penalization": LocalPenalization,
    "local-quadratic": LocalQuadratic,
    "playbook": Playbook,
}


@pytest.mark.parametrize("name", WITH_MODEL)
def test_an_object_and_a_name_have_the_same_default_preset(name):
    assert WITH_MODEL[name]() == resolve(name, DEFAULT_PRESET)
    by_name, by_object = (
        Optimizer([(-5, 10), (2, 3)], strategy=strategy, seed=1) for strategy in (name, WITH_MODEL[name]())
    )
    for _ in range(7):
        trials = by_name.ask(), by_object.ask()
        assert trials[0].params == trials[1].params
        for optimizer, trial in zip((by_name, by_object), trials, strict=True):
            optimizer.tell(trial, float(np.sum(trial.x**2)))


def test_a_known_preset_is_kept_by_its_name_and_another_as_it_is():
    mine = replace(MODERN, thompson=SamplePath(100))
    assert Aegis(preset=PAPER).preset == "paper"
    assert Aegis(preset="paper").parts is PAPER
    assert Aegis(preset=mine).preset is Aegis(preset=mine).parts is mine
    assert Aegis(preset=mine) != Aegis(preset="modern")


@pytest.mark.parametrize("strategy", [*(kind() for kind in WITH_MODEL.values()), Random(n=3)])
def test_every_strategy_is_a_flat_recipe_of_scalars(strategy):
    assert type(strategy)(**json.loads(json.dumps(asdict(strategy)))) == strategy
    with pytest.raises(FrozenInstanceError):
        strategy.preset = "paper"


def test_numbers_are_kept_in_plain_types():
    strategy = Aegis(gamma=np.float32(0.5), epsilon=1, exploits=np.bool_(True), guard=np.bool_(False))
    assert [type(value) for value in (strategy.gamma, strategy.epsilon, strategy.exploits, strategy.guard)] == [
        float,
        float,
        bool,
        bool,
    ]
    assert type(Random(n=np.int64(4)).n) is int


SCHEDULES = "epsilon must be sqrt, half, faster, slower or a number from 0 to 1, got "


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Aegis(gamma=1.5), "gamma must be a number from 0 to 1, got 1.5."),
        (lambda: Aegis(gamma=-0.1), "gamma must be a number from 0 to 1, got -0.1."),
        (lambda: Aegis(gamma="0.2"), "gamma must be a number from 0 to 1, got '0.2'."),
        (lambda: Aegis(gamma=None), "gamma must be a number from 0 to 1, got None."),
        (lambda: Aegis(gamma=True), "gamma must be a number from 0 to 1, got True."),
        (lambda: Aegis(gamma=float("nan")), "gamma must be a number from 0 to 1, got nan."),
        (lambda: Aegis(explore="unifrom"), "explore must be pareto or uniform, got 'unifrom'."),
        (lambda: Aegis(explore=None), "explore must be pareto or uniform, got None."),
        (lambda: Aegis(epsilon="fast"), SCHEDULES + "'fast'."),
        (lambda: Aegis(epsilon=2), SCHEDULES + "2."),
        (lambda: Aegis(epsilon=False), SCHEDULES + "False."),
        (lambda: Aegis(epsilon=["sqrt"]), SCHEDULES + "['sqrt']."),
        (lambda: Aegis(exploits=1), "exploits must be True or False, got 1."),
        (lambda: Thompson(guard="on"), "guard must be True or False, got 'on'."),
        (lambda: Playbook(preset=3), "preset must be paper, modern, adaptive or a Preset object, got 3."),
        (lambda: Playbook(preset=None), "preset must be paper, modern, adaptive or a Preset object, got None."),
        (lambda: Random(n=0), "n must be a whole number from 1 upwards, got 0."),
        (lambda: Random(n=2.0), "n must be a whole number from 1 upwards, got 2.0."),
        (lambda: Random(n=True), "n must be a whole number from 1 upwards, got True."),
        (lambda: replace(MODERN, epsilon="fast"), SCHEDULES + "'fast'."),
    ],
)
def test_values_that_cannot_be_used_are_named_with_what_is_allowed(make, message):
    with pytest.raises(InvalidInput) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize("kind", WITH_MODEL.values())
def test_an_unknown_preset_is_refused_with_the_nearest_name(kind):
    with pytest.raises(UnknownName, match="Unknown preset 'papr': did you mean 'paper'"):
        kind(preset="papr")


def test_parameters_are_named_never_placed():
    with pytest.raises(TypeError):
        Aegis("paper")


# The room's door


def test_everything_at_the_door_can_be_had():
    assert set(aegisbo.strategies.__all__) <= set(dir(aegisbo.strategies))
    for name in aegisbo.strategies.__all__:
        assert getattr(aegisbo.strategies, name).__name__ == name
    assert aegisbo.strategies.Preset is Preset
    with pytest.raises(AttributeError, match="has no attribute 'Egis'"):
        aegisbo.strategies.Egis  # noqa: B018


def test_opening_the_door_loads_nothing():
    code = "import sys, aegisbo.strategies; print([name for name in sys.modules if name.split('.')[0] == 'scipy'])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_misspelled_parameter_is_answered_with_the_right_one():
    for make, message in (
        (lambda: Aegis(gama=0.2), "Unknown parameter of Aegis 'gama': did you mean 'gamma'?"),
        (lambda: Thompson(gamma=0.2), "Unknown parameter of Thompson 'gamma': known: guard, preset."),
        (lambda: Random(k=3), "Unknown parameter of Random 'k': known: n."),
        (lambda: replace(Aegis(), gama=0.2), "Unknown parameter of Aegis 'gama': did you mean 'gamma'?"),
    ):
        with pytest.raises(UnknownName) as error:
            make()
        assert str(error.value) == message
    assert list(signature(Random).parameters) == ["n"]


def test_a_class_of_ones_own_takes_what_it_wants():
    class Mine(Thompson):
        def __init__(self, shape, **rest):
            super().__init__(preset="paper")
            object.__setattr__(self, "shape", (shape, rest))

    assert Mine(3, color="red").shape == (3, {"color": "red"})
