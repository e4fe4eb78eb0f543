"""Every move hands out allowed points only, whatever the policy would mend afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from moving import exploit, pareto, thompson
from numpy.random import Generator, default_rng

from aegisbo.arrays import Array
from aegisbo.gp.posterior import GP
from aegisbo.space import Choice, Int, Space
from aegisbo.space.cube import Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.learned_limits import believe_in_limits
from aegisbo.strategies.moves.anywhere import anywhere
from aegisbo.strategies.moves.improve import most_improved
from aegisbo.strategies.moves.pareto import Pareto
from aegisbo.strategies.pending import believed_improvement, best_with
from aegisbo.strategies.presets import MODERN

PLANE = Space([(-5, 10), (2, 3)], constraints=["x0 + 15*x1 <= 35"]).cube
MIXED = Space(
    {"x": (0, 1), "n": Int(1, 300), "k": Choice(["u", "v"])}, constraints=["x * n <= 40", "k == 'u' or x < 0.5"]
).cube


def believed(cube: Cube) -> tuple[Belief, Evidence]:
    """Values that fall towards what is not allowed."""
    X = anywhere(cube, default_rng(0), 12)
    nothing = np.empty((0, cube.width))
    evidence = Evidence(X, -X.sum(axis=1), nothing, nothing, cube)
    return MODERN.surrogate.fit(evidence, {}, default_rng(1))[0], evidence


def choices(move: str, gp: GP, belief: Belief, cube: Cube, rng: Generator) -> Array:
    match move:
        case "exploit":
            return exploit(gp, cube, MODERN.search, rng)
        case "thompson":
            return thompson(gp, cube, MODERN.search, 200, rng)
        case "pareto":
            return pareto(gp, cube, Pareto(population=20), rng)
        case "improve":
            return most_improved(
                believed_improvement(belief, np.empty((0, cube.width))), belief, cube, MODERN.search, rng
            )
    return anywhere(cube, rng, 50)


@pytest.mark.parametrize("move", ["exploit", "thompson", "pareto", "improve", "anywhere"])
@pytest.mark.parametrize("cube", [PLANE, MIXED])
def test_a_move_chooses_allowed_points(move: str, cube: Cube) -> None:
    belief, _ = believed(cube)
    found = choices(move, belief.gp, belief, cube, default_rng(2))
    assert len(found)
    assert cube.allowed(found).all()
    np.testing.assert_array_equal(cube.round(found), found)


def limited() -> tuple[Belief, Evidence]:
    """Where the lowest values break the limit."""
    cube = Space([(0, 1), (0, 1)]).cube
    X = default_rng(3).random((30, 2))
    nothing = np.empty((0, 2))
    evidence = Evidence(X, -X.sum(axis=1), nothing, nothing, cube, excess=X[:, :1] - 0.5)
    belief, memory = MODERN.surrogate.fit(evidence, {}, default_rng(1))
    return believe_in_limits(belief, evidence, memory, default_rng(2))[0], evidence


def test_pending_points_that_will_break_a_limit_are_no_best() -> None:
    belief, _ = limited()
    good, bad = np.array([[0.45, 0.99]]), np.array([[0.95, 0.95]])
    assert belief.gp.mean(bad)[0] < belief.gp.mean(good)[0] < belief.best
    assert best_with(belief, bad) == belief.best
    assert best_with(belief, np.vstack([good, bad])) == pytest.approx(belief.gp.mean(good)[0])


def test_moves_know_the_best_that_keeps_limits() -> None:
    belief, evidence = limited()
    kept = evidence.X[:, 0] <= 0.5
    assert belief.lowest == pytest.approx(belief.scale.standardized(evidence.y[kept]).min())
    assert (belief.good_points()[:, 0] <= 0.5).all()
    found = exploit(belief, evidence.cube, MODERN.search, default_rng(4))[0]
    assert 0.4 < found[0] < 0.51
    assert found[1] > 0.95
