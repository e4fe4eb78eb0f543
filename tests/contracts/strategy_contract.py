"""What every strategy promises. Inherit, name the strategy, and pytest does the rest:

class TestMine(StrategyContract):
    @pytest.fixture
    def strategy(self):
        return Mine()
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import cycle, islice

import numpy as np
import pytest

from aegisbo.arrays import Array, frozen
from aegisbo.space.cube import Continuous, Cube, Grid, OneHot
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion

MIXTURE = (Grid(-3, 9, 2), Continuous(), OneHot(3), Grid(2, 50, 4, log=True))

VALUES = {
    "plain": lambda n, rng: rng.normal(size=n),
    "constant": lambda n, rng: np.full(n, 0.1),
    "huge": lambda n, rng: 1e300 * rng.normal(size=n),
    "tiny": lambda n, rng: 1e-300 * rng.normal(size=n),
    "outlier": lambda n, rng: np.where(np.arange(n) == n // 2, 1e12, rng.normal(size=n)),
    "hardly different": lambda n, rng: 1e9 + 1e-6 * rng.normal(size=n),
}


def plain_cube(d: int) -> Cube:
    return Cube((Continuous(),) * d)


def mixed_cube(d: int) -> Cube:
    return Cube(tuple(islice(cycle(MIXTURE), d)))


@dataclass(frozen=True)
class Situation:
    """What a strategy may be shown: `repeats` has every point evaluated about four times."""

    cube: Cube
    n: int
    pending: int = 0
    failed: int = 0
    values: str = "plain"
    repeats: bool = False

    def evidence(self) -> Evidence:
        """Read-only, so that writing to it is an error."""
        rng = np.random.default_rng([self.n, self.pending, self.failed])
        total = self.n + self.failed + self.pending
        points = self.cube.fill(rng.random((total, self.cube.parameters)))
        if self.repeats:
            points = points[rng.integers(1 + total // 4, size=total)]
        X, failed, pending = np.split(points, [self.n, self.n + self.failed])
        y = VALUES[self.values](self.n, rng)
        return Evidence(frozen(X), frozen(y), frozen(failed), frozen(pending), self.cube)

    def __str__(self) -> str:
        kind = "plain" if self.cube.continuous else "mixed"
        repeats = ", repeats" if self.repeats else ""
        return f"{kind} d={self.cube.parameters} n={self.n} p={self.pending} f={self.failed} y={self.values}{repeats}"


ORDINARY = [Situation(plain_cube(2), 8, pending=3), Situation(mixed_cube(5), 12, pending=4, failed=2)]
LARGE = [
    Situation(plain_cube(7), 60, pending=8),
    Situation(mixed_cube(3), 40, pending=16, failed=20),
    Situation(mixed_cube(20), 21),
    Situation(plain_cube(20), 60, pending=40, failed=5),
    # points again and again
    Situation(plain_cube(3), 30, pending=12, failed=3, repeats=True),
    Situation(mixed_cube(2), 60, pending=40, repeats=True),
]
SITUATIONS = [
    *ORDINARY,
    # nothing known, nothing good known, hardly anything known
    Situation(plain_cube(1), 0),
    Situation(mixed_cube(20), 0, pending=40),
    Situation(mixed_cube(4), 0, pending=2, failed=9),
    Situation(plain_cube(1), 1),
    Situation(plain_cube(4), 1, pending=40),
    Situation(mixed_cube(1), 2, pending=1),
    Situation(plain_cube(1), 60, pending=40),
    *[pytest.param(each, marks=pytest.mark.long, id=str(each)) for each in LARGE],
    # values of all kinds
    *[Situation(plain_cube(2), 12, pending=2, failed=1, values=values) for values in VALUES if values != "plain"],
    Situation(mixed_cube(4), 9, values="constant", repeats=True),
]


def ask(strategy: Strategy, evidence: Evidence, memory: Memory, seed: int) -> Suggestion:
    return strategy.suggest(evidence, memory, np.random.default_rng(seed))


def through_json(memory: Memory) -> Memory:
    return json.loads(json.dumps(memory))


def with_pending(evidence: Evidence, x: Array) -> Evidence:
    return replace(evidence, pending=frozen(np.vstack([evidence.pending, x])))


def check_equal(a: Suggestion, b: Suggestion) -> None:
    np.testing.assert_array_equal(a.x, b.x)
    assert a.memory == b.memory
    assert a.note == b.note


class StrategyContract:
    """Tests for one strategy, alone; `strategy` is to be overridden."""

    @pytest.fixture
    def strategy(self) -> Strategy:
        raise NotImplementedError("Override the fixture `strategy`.")

    @pytest.mark.parametrize("situation", SITUATIONS, ids=str)
    def test_suggestions_can_be_evaluated_stored_and_explained(self, strategy, situation):
        evidence, memory, cube = situation.evidence(), {}, situation.cube
        for seed in (0, 1):  # the second ask has a memory, and one more point under evaluation
            suggestion = ask(strategy, evidence, memory, seed)
            x = suggestion.x
            assert x.shape == (cube.width,)
            assert x.dtype == np.float64
            assert np.isfinite(x).all()
            assert x.min() >= 0.0
            assert x.max() <= 1.0
            np.testing.assert_array_equal(cube.round(x[None])[0], x)
            json.dumps([suggestion.memory, suggestion.note], allow_nan=False)
            assert isinstance(suggestion.note["move"], str)
            evidence, memory = with_pending(evidence, x), through_json(suggestion.memory)

    @pytest.mark.parametrize("situation", ORDINARY, ids=str)
    def test_equal_arguments_give_equal_answers_whatever_was_asked_in_between(self, strategy, situation):
        evidence = situation.evidence()
        first = ask(strategy, evidence, {}, 5)
        ask(strategy, Situation(plain_cube(3), 7).evidence(), {}, 6)
        check_equal(ask(strategy, evidence, {}, 5), first)

    @pytest.mark.long
    @pytest.mark.parametrize("situation", ORDINARY, ids=str)
    def test_a_memory_that_was_stored_is_as_good_as_the_original(self, strategy, situation):
        evidence = situation.evidence()
        memory = ask(strategy, evidence, {}, 7).memory
        for seed in (8, 9, 10):  # so that a strategy with several moves shows more than one of them
            stored = ask(strategy, evidence, through_json(memory), seed)
            original = ask(strategy, evidence, memory, seed)
            check_equal(stored, original)
            memory = original.memory

    @pytest.mark.parametrize("situation", ORDINARY, ids=str)
    def test_what_it_is_shown_is_left_alone(self, strategy, situation):
        evidence = situation.evidence()
        memory: Memory = {}
        for seed in (11, 12):
            evidence_before, memory_before = deepcopy(evidence), deepcopy(memory)
            after = ask(strategy, evidence, memory, seed).memory
            for name in ("X", "y", "failed", "pending"):
                np.testing.assert_array_equal(getattr(evidence, name), getattr(evidence_before, name))
            assert memory == memory_before
            memory = after
