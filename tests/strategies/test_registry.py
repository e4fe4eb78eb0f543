from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from aegisbo import Optimizer
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Suggestion
from aegisbo.strategies.baselines import Random
from aegisbo.strategies.presets import PAPER
from aegisbo.strategies.registry import DEFAULT_PRESET, STRATEGIES, Entry, resolve
from aegisbo.strategies.schedules import faster


def test_a_name_alone_gives_the_defaults():
    assert resolve("aegis", "paper") == Aegis(preset=PAPER)
    assert resolve("random", "paper") == Random(n=None)


def test_parameters_follow_the_name():
    assert resolve("aegis:gamma=0.2,epsilon=faster", "paper") == Aegis(preset=PAPER, gamma=0.2, epsilon=faster)
    assert resolve("random:n=196", "paper") == Random(n=196)


@pytest.mark.parametrize(("text", "share"), [("0", 0.0), ("1", 1.0), ("0.25", 0.25), ("5e-2", 0.05)])
def test_a_schedule_may_be_a_number(text, share):
    epsilon = resolve(f"aegis:epsilon={text}", "paper").epsilon
    assert [epsilon(d) for d in (1, 5, 20)] == [share] * 3


@pytest.mark.parametrize("name", [name for name, entry in STRATEGIES.items() if entry.uses_preset])
def test_the_guard_can_be_switched_where_there_is_one(name):
    assert resolve(f"{name}:guard=on", "paper") == resolve_with(name, guard=True)
    assert resolve(f"{name}:guard=off", "paper") == resolve_with(name, guard=False) == resolve(name, "paper")


def resolve_with(name, **preset):
    return STRATEGIES[name].make(preset=replace(PAPER, **preset))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aegsi", "Unknown strategy 'aegsi': did you mean 'aegis'?"),
        ("Aegis-RS", "Unknown strategy 'Aegis-RS': did you mean 'aegis-rs'?"),
        ("aegis-no-exploit:epsilon=0.1", "Unknown strategy parameter 'epsilon'"),
        ("aegis:gama=0.2", "Unknown strategy parameter 'gama': did you mean 'gamma'?"),
        ("ei:n=5", "Unknown strategy parameter 'n': known: guard."),
        ("random:guard=on", "Unknown strategy parameter 'guard'"),
    ],
)
def test_unknown_names_are_answered_with_known_ones(text, message):
    with pytest.raises(UnknownName) as error:
        resolve(text, "paper")
    assert message in str(error.value)


def test_a_name_far_from_all_is_answered_with_all():
    with pytest.raises(UnknownName) as error:
        resolve("qqq", "paper")
    assert str(error.value) == f"Unknown strategy 'qqq': known: {', '.join(sorted(STRATEGIES))}."


@pytest.mark.parametrize(
    ("text", "pair", "want"),
    [
        ("aegis:gamma=2", "gamma=2", "gamma must be a number from 0 to 1."),
        ("aegis:epsilon=sqrt,gamma=-0.1", "gamma=-0.1", "gamma must be a number from 0 to 1."),
        ("aegis:gamma=nan", "gamma=nan", "gamma must be a number from 0 to 1."),
        ("aegis:gamma=half", "gamma=half", "gamma must be a number from 0 to 1."),
        ("aegis:gamma", "gamma", "gamma must be a number from 0 to 1."),
        ("aegis:epsilon=foo", "epsilon=foo", "epsilon must be sqrt, half, faster, slower or a number from 0 to 1."),
        ("aegis:epsilon=1.5", "epsilon=1.5", "epsilon must be sqrt, half, faster, slower or a number from 0 to 1."),
        ("random:n=0", "n=0", "n must be a whole number from 1 upwards."),
        ("random:n=-3", "n=-3", "n must be a whole number from 1 upwards."),
        ("random:n=2.5", "n=2.5", "n must be a whole number from 1 upwards."),
        ("ei:guard=maybe", "guard=maybe", "guard must be on or off."),
    ],
)
def test_values_that_cannot_be_used_are_named_with_the_remedy(text, pair, want):
    with pytest.raises(InvalidInput) as error:
        resolve(text, "paper")
    assert str(error.value) == f"{pair!r} in strategy {text!r}: {want}"


def test_an_unknown_preset_is_answered_with_a_known_one():
    with pytest.raises(UnknownName, match="Unknown preset 'papr': did you mean 'paper'"):
        resolve("aegis", "papr")


def test_every_entry_is_made_by_its_name_with_the_default_preset():
    for name, entry in STRATEGIES.items():
        assert callable(resolve(name, DEFAULT_PRESET).suggest)
        assert entry.summary


@dataclass(frozen=True)
class Corner:
    """A strategy in its own file."""

    at: float = 0.0

    def suggest(self, evidence, memory, rng):
        x = evidence.cube.fill(np.full((1, evidence.cube.parameters), self.at))[0]
        return Suggestion(x, {"asked": memory.get("asked", 0) + 1}, {"move": "corner"})


def test_a_new_strategy_is_one_file_and_one_line(monkeypatch):
    monkeypatch.setitem(STRATEGIES, "corner", Entry("always a corner", Corner, {"at": float}, uses_preset=False))
    optimizer = Optimizer([(-5, 10), (2, 3)], strategy="corner:at=1", seed=0)
    while not optimizer.memory:
        optimizer.tell(optimizer.ask(), 1.0)
    again = Optimizer.from_state(optimizer.state())
    for trial in (optimizer.trials[-1], optimizer.ask(), again.ask()):
        assert trial.note == {"move": "corner"}
        np.testing.assert_array_equal(trial.x, [10, 3])
    assert again.memory == {"asked": 2}
