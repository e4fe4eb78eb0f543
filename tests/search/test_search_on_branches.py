"""Inner searches where some axes are not always there; the witness is the lowest point of each branch by hand."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo.arrays import Array
from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.search.inner_search import InnerSearch, on_branches
from aegisbo.search.mixed import MixedSearch
from aegisbo.search.near_best import NearBestSearch, placed
from aegisbo.space import Choice, Int, Real, Space
from aegisbo.space.cube import ABSENT

SPACE = Space(
    {
        "kind": Choice(["a", "b"]),
        "x": Real(0, 1, when={"kind": "a"}),
        "gate": Real(0, 1),
        "y": Real(0, 1, when={"gate": "> 0.5", "kind": "b"}),
        "n": Int(1, 9, when={"y": "<= 0.5"}),
    }
)
CUBE = SPACE.cube
KIND_B, X, GATE, Y, N = 1, 2, 3, 4, 5  # columns
BEST = {"kind": "b", "gate": 0.7, "y": 0.2, "n": 8}  # the only point with the value -2


class Bowls:
    """A sum over what is there: each coordinate has its bowl, and being there is worth one more."""

    def screen(self, Z: Array) -> Array:
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        bottoms = {X: 0.3, GATE: 0.7, Y: 0.2, N: (7 + 0.5) / 9}
        values, gradients = np.zeros(len(Z)), np.zeros_like(Z)
        for column, bottom in bottoms.items():
            there = np.ones(len(Z)) if column == GATE else (Z[:, column] != ABSENT).astype(float)
            values += there * ((Z[:, column] - bottom) ** 2 - (column in (Y, N)) - 0.5 * (column == X))
            gradients[:, column] = 2 * (Z[:, column] - bottom)  # also where it is not there, as that of a model
        return values, gradients


@pytest.mark.parametrize("search", [MixedSearch(), NearBestSearch(), EverywhereSearch()])
@pytest.mark.parametrize("seed", range(3))
def test_the_lowest_point_of_all_branches_is_found(search: InnerSearch, seed: int) -> None:
    rng = np.random.default_rng(seed)
    good = CUBE.fill(rng.random((5, CUBE.parameters)))
    found = search(Bowls(), CUBE, rng, good)
    np.testing.assert_array_equal(CUBE.round(found), found)  # only points that can be evaluated
    params = SPACE.params(found[0])
    assert params == {**BEST, "gate": pytest.approx(0.7, abs=1e-3), "y": pytest.approx(0.2, abs=1e-3)}


def test_the_objective_does_not_see_what_is_not_there() -> None:
    rng = np.random.default_rng(0)
    Z = CUBE.fill_all(rng.random((200, CUBE.parameters)))
    there = CUBE.present(Z)
    moved = np.where(there, Z, CUBE.fill_all(rng.random((200, CUBE.parameters))))
    # What decides which axes are there may itself not be there: moved, it decides nothing.
    np.testing.assert_array_equal(CUBE.present(moved), there)
    seen = on_branches(Bowls(), CUBE)
    for one, other in zip(seen.value_and_gradient(Z), seen.value_and_gradient(moved), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (seen.value_and_gradient(Z)[1][~there] == 0).all()


def test_a_good_point_gets_places_for_what_it_lacks() -> None:
    rng = np.random.default_rng(0)
    points = CUBE.fill(rng.random((100, CUBE.parameters)))
    full = placed(points, CUBE, rng)
    assert (full >= 0).all()
    np.testing.assert_array_equal(CUBE.without_absent(full), points)
    lacking = points[:, X] == ABSENT
    assert len(np.unique(full[lacking, X])) == lacking.sum()  # each its own
