from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegisbo import Optimizer
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.strategies import Aegis, ExpectedImprovement, Random, Suggestion, Thompson
from aegisbo.strategies.moves.thompson import SamplePath
from aegisbo.strategies.presets import MODERN, PAPER, PRESETS
from aegisbo.strategies.registry import DEFAULT_PRESET, STRATEGIES, Entry, Recipe, recipe_of, resolve
from aegisbo.strategies.schedules import SCHEDULES


def test_a_name_alone_gives_the_defaults():
    assert resolve("aegis", "paper") == Aegis(preset="paper") == Aegis(preset=PAPER)
    assert resolve("aegis") == resolve("aegis", DEFAULT_PRESET) == Aegis()
    assert resolve("random", "paper") == Random(n=None)


def test_parameters_follow_the_name():
    assert resolve("aegis:gamma=0.2,epsilon=faster", "paper") == Aegis(preset="paper", gamma=0.2, epsilon="faster")
    assert resolve("random:n=196", "paper") == Random(n=196)


@pytest.mark.parametrize(("text", "share"), [("0", 0.0), ("1", 1.0), ("0.25", 0.25), ("5e-2", 0.05)])
def test_a_schedule_may_be_a_number(text, share):
    strategy = resolve(f"aegis:epsilon={text}", "paper")
    assert strategy.epsilon == share
    assert [strategy.exploration(d) for d in (1, 5, 20)] == [share] * 3


@pytest.mark.parametrize("name", [name for name, entry in STRATEGIES.items() if entry.uses_preset])
def test_the_guard_can_be_switched_where_there_is_one(name):
    for preset in PRESETS:
        assert resolve(f"{name}:guard=on", preset) == replace(resolve(name, preset), guard=True)
        assert resolve(f"{name}:guard=off", preset) == replace(resolve(name, preset), guard=False)


@pytest.mark.parametrize(
    ("preset", "guard", "replaced"),
    [("paper", None, False), ("paper", True, True), ("modern", None, True), ("modern", False, False)],
)
def test_the_guard_is_as_told_or_else_as_the_preset_says(preset, guard, replaced):
    optimizer = Optimizer({"a": (0, 1), "b": (2, 3)}, strategy=Thompson(preset=preset, guard=guard), seed=0)
    for _ in range(5):
        optimizer.tell(optimizer.ask(), 1.0)
    evidence, rng = optimizer.evidence(), np.random.default_rng
    chosen = optimizer.strategy.suggest(evidence, {}, rng(1))
    taken = replace(evidence, pending=chosen.x[None])
    assert ("guard" in optimizer.strategy.suggest(taken, {}, rng(1)).note) == replaced


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
    monkeypatch.setitem(STRATEGIES, "corner", Entry("always a corner", Corner))
    optimizer = Optimizer([(-5, 10), (2, 3)], strategy="corner:at=1", seed=0)
    while not optimizer.memory:
        optimizer.tell(optimizer.ask(), 1.0)
    again = Optimizer.from_state(optimizer.state())
    for trial in (optimizer.trials[-1], optimizer.ask(), again.ask()):
        assert trial.note == {"move": "corner"}
        np.testing.assert_array_equal(trial.x, [10, 3])
    assert again.memory == {"asked": 2}


# Strategies of other classes


@dataclass(frozen=True)
class Odd(Corner):
    """Fields of all kinds, none of them checked."""

    size: int = 3
    word: str = "x"
    side: Literal["left", "right"] = "left"
    either: str | float | None = None
    loud: bool = False
    preset: str = "paper"
    points: list = field(default_factory=list)


@pytest.fixture
def odd(monkeypatch):
    monkeypatch.setitem(STRATEGIES, "odd", Entry("odd", Odd))


def test_fields_are_read_by_their_types(odd):
    text = "odd:at=1,size=-5,word=7,side=right,either=2.5,loud=on"
    assert resolve(text, "modern") == Odd(1.0, -5, "7", "right", 2.5, loud=True, preset="modern")
    assert type(resolve(text).at) is float
    assert resolve("odd:either=high").either == "high"
    assert STRATEGIES["odd"].parameters == ("at", "size", "word", "side", "either", "loud")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("odd:at=left", "'at=left' in strategy 'odd:at=left': at must be a number."),
        ("odd:size=2.5", "'size=2.5' in strategy 'odd:size=2.5': size must be a whole number."),
        ("odd:loud=yes", "'loud=yes' in strategy 'odd:loud=yes': loud must be on or off."),
        ("odd:points=3", "Unknown strategy parameter 'points'"),
        ("odd:preset=paper", "Unknown strategy parameter 'preset'"),
        ("odd:size=1,size=2", "size stands twice in strategy 'odd:size=1,size=2': leave one out."),
    ],
)
def test_values_of_the_wrong_type_are_refused_for_classes_that_do_not_check(odd, text, message):
    with pytest.raises(InvalidInput) as error:
        resolve(text)
    assert message in str(error.value)


@dataclass(frozen=True)
class Needy:
    at: float
    size: int = 1

    def suggest(self, evidence, memory, rng):
        raise NotImplementedError


def test_what_must_be_given_is_asked_for(monkeypatch):
    monkeypatch.setitem(STRATEGIES, "needy", Entry("needy", Needy))
    assert resolve("needy:at=2").at == 2.0
    with pytest.raises(InvalidInput, match=r"Strategy 'needy:size=3' lacks at: write needy:at=\.\.\."):
        resolve("needy:size=3")


# Recipes


@st.composite
def strategies(draw):
    """Any strategy that a name and its parameters can make."""
    name, preset = draw(st.sampled_from(list(STRATEGIES))), draw(st.sampled_from([*PRESETS, None]))
    entry = STRATEGIES[name]
    shares = st.floats(0, 1)
    values = {
        "gamma": shares,
        "epsilon": st.sampled_from(list(SCHEDULES)) | shares | st.none(),
        "explore": st.sampled_from(["pareto", "uniform"]),
        "exploits": st.booleans(),
        "guard": st.booleans() | st.none(),
        "n": st.integers(1, 10**6) | st.none(),
    }
    given = {key: draw(values[key]) for key in entry.parameters if draw(st.booleans())}
    if entry.uses_preset and preset:
        given["preset"] = preset
    return entry.make(**entry.fixed, **given)


@given(strategies())
def test_a_recipe_makes_the_same_strategy_again(strategy):
    recipe = recipe_of(strategy)
    assert resolve(*recipe) == strategy
    assert recipe.preset == getattr(strategy, "preset", None)
    assert resolve(recipe.text, recipe.preset) == strategy
    assert recipe_of(resolve(*recipe)) == recipe
    assert type(strategy)(**asdict(strategy)) == strategy  # a flat recipe of scalars


@pytest.mark.parametrize(
    ("strategy", "recipe"),
    [
        (Aegis(), ("aegis", "adaptive")),
        (Aegis(preset=PAPER, gamma=0.2, epsilon="faster"), ("aegis:epsilon=faster,gamma=0.2", "paper")),
        (Aegis(explore="uniform"), ("aegis-rs", "adaptive")),
        (Aegis(preset=MODERN, gamma=0), ("aegis-no-ts", "modern")),
        (Aegis(gamma=1, guard=False), ("aegis-no-pf:guard=off", "adaptive")),
        (Aegis(exploits=False), ("aegis-no-exploit", "adaptive")),
        (Aegis(exploits=False, epsilon=0.1), ("aegis:epsilon=0.1,exploits=off", "adaptive")),
        (ExpectedImprovement(preset="paper", guard=True), ("ei:guard=on", "paper")),
        (Random(n=7), ("random:n=7", None)),
        (Random(), ("random", None)),
    ],
)
def test_recipes_are_short(strategy, recipe):
    assert recipe_of(strategy) == Recipe(*recipe)


def test_every_name_is_its_own_recipe():
    for name, entry in STRATEGIES.items():
        assert recipe_of(resolve(name, "paper")) == (name, "paper" if entry.uses_preset else None)


@pytest.mark.parametrize(
    "strategy",
    [
        Corner(),
        Aegis(preset=replace(MODERN, thompson=SamplePath(500))),
        Thompson(preset=replace(PAPER, name="mine")),
        object(),
    ],
    ids=["another class", "a changed preset", "a preset of another name", "no strategy"],
)
def test_what_no_text_describes_has_no_recipe(strategy):
    assert recipe_of(strategy) is None


@pytest.mark.parametrize("word", ["a,b", "a=b", "", "on", "7", "a:b"])
def test_a_recipe_is_given_only_if_it_can_be_read_again(odd, word):
    strategy = Odd(word=word)
    recipe = recipe_of(strategy)
    assert recipe is None if word == "a,b" else resolve(*recipe) == strategy
    assert recipe_of(Odd(points=[1])) is None


# What 0.1 stored


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("aegis:epsilon=sqrt,gamma=0.5,guard=on", Aegis(epsilon="sqrt", gamma=0.5, guard=True)),
        ("aegis:epsilon=half", Aegis(epsilon="half")),
        ("aegis-rs:gamma=1", Aegis(explore="uniform", gamma=1.0)),
        ("aegis-no-exploit:gamma=0.25", Aegis(exploits=False, gamma=0.25)),
        ("aegis-no-ts:epsilon=slower,guard=off", Aegis(gamma=0.0, epsilon="slower", guard=False)),
        ("aegis-no-pf:epsilon=0.3", Aegis(gamma=1.0, epsilon=0.3)),
        ("aegis:", Aegis()),
        ("random:n=196", Random(n=196)),
    ],
)
def test_texts_of_older_studies_are_read(text, strategy):
    assert resolve(text) == strategy
