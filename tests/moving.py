"""The moves of AEGiS, for tests that have a posterior, or a belief, and no run."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.output_transform import Scale
from aegisbo.gp.posterior import GP
from aegisbo.search.inner_search import InnerSearch
from aegisbo.space.cube import Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.durations import Durations
from aegisbo.strategies.moves.anywhere import Anywhere
from aegisbo.strategies.moves.exploit import Exploit
from aegisbo.strategies.moves.move import Decision, SureMove, Turn
from aegisbo.strategies.moves.pareto import Pareto
from aegisbo.strategies.moves.thompson import SamplePath
from aegisbo.strategies.presets import PAPER

Known = GP | Belief
KINDS: dict[str, type[SureMove]] = {"exploit": Exploit, "thompson": SamplePath, "pareto": Pareto, "uniform": Anywhere}


def exploit(known: Known, cube: Cube, search: InnerSearch, rng: Generator, price: Durations | None = None) -> Array:
    return Exploit().choose(turn_of(known, cube, rng, search, price)).choices


def thompson(
    known: Known, cube: Cube, search: InnerSearch, features: int, rng: Generator, price: Durations | None = None
) -> Array:
    return SamplePath(features).choose(turn_of(known, cube, rng, search, price)).choices


def pareto(known: Known, cube: Cube, move: Pareto, rng: Generator, price: Durations | None = None) -> Array:
    return move.choose(turn_of(known, cube, rng, price=price)).choices


def turn_of(
    known: Known, cube: Cube, rng: Generator, search: InnerSearch = PAPER.search, price: Durations | None = None
) -> Turn:
    """A turn in which nothing is known but the data of a posterior."""
    belief = known if isinstance(known, Belief) else believed(known)
    none = np.empty((0, cube.width))
    evidence = Evidence(belief.gp.X, belief.gp.y, none, none, cube, timing=SimpleNamespace(price=price))
    return Turn(belief, evidence, search, rng, {})


def believed(gp: GP) -> Belief:
    """The belief in a posterior as it is."""
    return Belief(gp, Scale(1.0, 0.0, 1.0), float(gp.y.min()) + gp.constant, [])


def offer(monkeypatch: pytest.MonkeyPatch, name: str, points: Callable[[Turn], Array] | Array) -> None:
    """Let a move choose these points (k, width) without looking."""

    def choose(self: SureMove, turn: Turn) -> Decision:
        belief = turn.belief.exploring if name in ("thompson", "pareto") else turn.belief
        return Decision(name, points(turn) if callable(points) else points, belief)

    monkeypatch.setattr(KINDS[name], "choose", choose)
