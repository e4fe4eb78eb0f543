"""When the published code's AEGiS exploits, and that its Pareto set is the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from aegis_paper.reference.choice import CountingAegis
from aegis_paper.reference.pareto import NoisyPareto
from moving import pareto
from scipy.stats import binomtest

from aegisbo.arrays import Array
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.posterior import condition
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.moves.move import Decision, Turn
from aegisbo.strategies.moves.pareto import Pareto
from aegisbo.strategies.presets import PAPER


def chosen(name: str, turn: Turn) -> Decision:
    return Decision(name, np.zeros((1, turn.evidence.cube.width)), turn.belief)


def moves_of(d: int, workers: int, count: int, **changes: Any) -> list[str]:
    """The moves of one run; nobody looks at a model here, and results come in at random."""
    free: Any = {name: SimpleNamespace(choose=partial(chosen, name)) for name in ("exploit", "thompson", "pareto")}
    strategy = CountingAegis(preset=replace(PAPER, **free), workers=workers, **changes)
    belief: Any = None
    memory, rng, moves = {}, np.random.default_rng(d), []
    for _ in range(count):
        n = int(rng.integers(1, 99))
        evidence = Evidence(
            np.zeros((n, d)), np.zeros(n), np.zeros((0, d)), np.zeros((0, d)), Cube((Continuous(),) * d)
        )
        moves.append(strategy.decide(Turn(belief, evidence, PAPER.search, rng, memory)).move)
    return moves


@pytest.mark.parametrize("workers", [1, 4, 16])
@pytest.mark.parametrize("d", [5, 10])
def test_above_four_dimensions_the_first_exploits_and_as_many_as_workers_explore(d: int, workers: int) -> None:
    runs = [moves_of(d, workers, workers + 2, epsilon=0.0) for _ in range(5)]
    for moves in runs:
        assert [move == "exploit" for move in moves] == [True] + [False] * workers + [True]


@pytest.mark.parametrize("d", [2, 3, 4])
def test_up_to_four_dimensions_nothing_is_ever_exploited(d: int) -> None:
    moves = Counter(moves_of(d, 4, 400))
    assert set(moves) == {"thompson", "pareto"}
    assert binomtest(moves["thompson"], 400, 0.5).pvalue > 1e-3


@pytest.mark.parametrize(
    ("changes", "shares"),
    [
        ({}, (1 - 2 / np.sqrt(6), 1 / np.sqrt(6), 1 / np.sqrt(6))),
        ({"epsilon": "faster", "gamma": 0.2}, (0.5, 0.1, 0.4)),
        ({"exploits": False}, (0.0, 0.5, 0.5)),
    ],
)
def test_afterwards_moves_are_as_frequent_as_the_paper_says(
    changes: dict[str, Any], shares: tuple[float, float, float]
) -> None:
    moves = Counter(moves_of(6, 3, 4004, **changes)[4:])
    for move, share in zip(("exploit", "thompson", "pareto"), shares, strict=True):
        assert binomtest(moves[move], 4000, share).pvalue > 1e-3


def test_without_exploitation_the_first_choice_explores_too() -> None:
    assert "exploit" not in moves_of(6, 4, 50, exploits=False)


def test_noise_changes_no_dominance() -> None:
    """Whatever is picked lies on the front of what both searches found, to within the search's own fuzziness."""
    rng = np.random.default_rng(0)
    X = rng.random((10, 2))
    gp = condition(Matern52(np.array([0.3]), 2.0), 1e-2, X, np.sin(6 * X[:, 0]))
    square = Cube((Continuous(), Continuous()))
    ours = pareto(gp, square, Pareto(), np.random.default_rng(1))
    theirs = pareto(gp, square, NoisyPareto(), np.random.default_rng(1))

    def objectives(Z: Array) -> Array:
        mu, var = gp.predict(Z)
        return np.stack([mu, -np.sqrt(var)], axis=1)

    F, G = objectives(ours), objectives(theirs)
    assert not np.array_equal(ours, theirs), "the noise made no difference at all"
    slack = 0.02 * np.ptp(F, axis=0)
    for A, B in ((F, G), (G, F)):
        assert not (A[:, None] < B - slack).all(axis=2).any()
