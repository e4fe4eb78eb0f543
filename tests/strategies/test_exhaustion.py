"""Spaces of few points are used up: each point once, whatever is pending or fails, and then `SpaceExhausted`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.errors import SpaceExhausted
from aegisbo.strategies.presets import MODERN, PAPER
from aegisbo.strategies.registry import resolve

TWENTY = settings(max_examples=20, phases=[Phase.generate])

VALUES = ["a", 1, None, False, 2.5, "f"]


def size_of(space) -> int:
    """By counting what can be written down, not by what the cube says."""
    return math.prod(len(p.values if isinstance(p, Choice) else range(p.low, p.high + 1, p.step)) for p in space)


@st.composite
def parameters(draw, kind, most: int):
    """One with at most `most` values."""
    if kind is Choice:
        return Choice(VALUES[: draw(st.integers(2, min(most, len(VALUES))))])
    low, step, count = draw(st.integers(-3, 20)), draw(st.integers(1, 40)), draw(st.integers(2, most))
    return Int(low, low + step * (count - 1), log=low > 0 and draw(st.booleans()), step=step)


@st.composite
def spaces(draw, largest: int):
    """At least one choice and one integer, at most four of them, and at most `largest` points."""
    kinds = draw(st.permutations([Choice, Int, *draw(st.lists(st.sampled_from([Choice, Int]), max_size=2))]))
    space = []
    for later in reversed(range(len(kinds))):
        most = largest // (size_of(space) * 2**later)  # leave two values for each parameter that follows
        space.append(draw(parameters(kinds[len(space)], most)))
    return space


def use_up(space, strategy, seed: int) -> None:
    """Ask until nothing is left, while trials end late, early, badly or never."""
    rng = np.random.default_rng(seed)
    optimizer = Optimizer(space, strategy=strategy, seed=seed)
    ripples = rng.choice([0.0, 1.0, 1e6])  # 0: the same value everywhere
    never, badly = rng.choice([0.0, 0.3], size=2)
    asked = set()
    for _ in range(size_of(space)):
        asked.add(tuple(map(repr, optimizer.ask().x)))
        for trial in optimizer.pending:
            if rng.random() < 0.5 * (1 - never):
                if rng.random() < badly:
                    optimizer.fail(trial, "no value")
                else:
                    optimizer.tell(trial, 3.0 + ripples * rng.normal())
    assert len(asked) == size_of(space)
    for _ in range(2):
        with pytest.raises(SpaceExhausted, match=f"All {size_of(space)} points"):
            optimizer.ask()
    assert len(optimizer.trials) == size_of(space)


@pytest.mark.long
@TWENTY
@given(spaces(largest=20), st.integers(0, 2**32))
def test_mixed_spaces_are_used_up_by_the_paper_preset(space, seed):
    use_up(space, resolve("aegis:guard=on", PAPER), seed)


@pytest.mark.long
@TWENTY
@given(spaces(largest=32), st.integers(0, 2**32))
def test_mixed_spaces_are_used_up_by_the_search_among_neighbors(space, seed):
    use_up(space, resolve("aegis", MODERN), seed)


@pytest.mark.long
@TWENTY
@given(spaces(largest=100), st.integers(0, 2**32), st.sampled_from(["aegis", "aegis-rs", "thompson", "playbook"]))
def test_larger_spaces_are_used_up_by_other_strategies_too(space, seed, name):
    use_up(space, resolve(f"{name}:guard=on", MODERN), seed)


@pytest.mark.parametrize("preset", [replace(PAPER, guard=True), MODERN], ids=["paper", "modern"])
def test_with_a_continuous_parameter_no_point_comes_twice(preset):
    space = [Int(1, 3), Real(-5, 10), Choice(["u", "v"])]
    optimizer = Optimizer(space, strategy=resolve("aegis", preset), seed=0)
    for number in range(30):
        trial = optimizer.ask()
        if number % 4:
            optimizer.tell(trial, trial.x[0] + abs(trial.x[1] - 2.0))
    assert len({tuple(trial.x) for trial in optimizer.trials}) == 30


def test_where_points_may_be_repeated_quick_ones_are_in_time():
    optimizer = Optimizer({"kind": Choice(["quick", "slow", "mid"])}, seed=0, noisy=True, n_initial=3)
    seconds = {"quick": 0.1, "slow": 10.0, "mid": 1.0}
    rng = np.random.default_rng(0)
    for _ in range(6):
        trial = optimizer.ask()
        optimizer.tell(trial, rng.standard_normal(), seconds=seconds[trial.x["kind"]])
    assert {trial.x["kind"] for trial in optimizer.trials} == set(seconds)
    for _ in range(5):
        trial = optimizer.ask(within=3.0)
        assert seconds[trial.x["kind"]] < 3.0
        optimizer.tell(trial, rng.standard_normal(), seconds=seconds[trial.x["kind"]])


def test_what_comes_closest_to_the_limits_is_measured_again_and_not_anything():
    optimizer = Optimizer({"kind": Choice(["a", "b", "c"])}, seed=0, noisy=True, limits=["m <= 0"])
    excess = {"a": 9.0, "b": 0.1, "c": 8.0}
    rng = np.random.default_rng(0)
    for _ in range(16):
        trial = optimizer.ask()
        told = excess[trial.x["kind"]] + 0.01 * rng.random()
        optimizer.tell(trial, rng.standard_normal(), measured={"m": told})
    again = optimizer.trials[6:]
    assert {trial.note["move"] for trial in again} == {"feasible"}
    assert not any("guard" in trial.note for trial in again)
    assert sum(trial.x["kind"] == "b" for trial in again) >= 6
