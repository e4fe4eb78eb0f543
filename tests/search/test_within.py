"""The lowest allowed point: against SciPy's COBYLA where everything is continuous, by brute force where nothing is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from aegisbo.arrays import Array
from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.search.inner_search import InnerSearch
from aegisbo.search.mixed import MixedSearch
from aegisbo.space import Choice, Int, Real, Space

SEARCHES = [MixedSearch(), EverywhereSearch()]


@dataclass(frozen=True)
class Bowl:
    """A lopsided quadratic in the coordinates of the cube."""

    bottom: Array
    widths: Array

    def screen(self, Z: Array) -> Array:
        return self.value_and_gradient(Z)[0]

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        away = (Z - self.bottom) / self.widths
        return (away**2).sum(axis=1), 2 * away / self.widths


@pytest.mark.long
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("texts", "margins"),
    [
        (["x0 + 2*x1 <= 3"], [lambda x: 3 - x[0] - 2 * x[1]]),
        (["x0 + 2*x1 <= 3", "x2 < x0"], [lambda x: 3 - x[0] - 2 * x[1], lambda x: x[0] - x[2]]),
        (["x0**2 + (x1 - 2)**2 + x2**2 < 9"], [lambda x: 9 - x[0] ** 2 - (x[1] - 2) ** 2 - x[2] ** 2]),
    ],
)
def test_the_optimum_on_an_edge_is_that_of_another_method(
    search: InnerSearch, texts: list[str], margins: list[Any]
) -> None:
    low, high = np.array([-5.0, 0.0, -3.0]), np.array([10.0, 4.0, 8.0])
    space = Space(list(zip(low, high, strict=True)), constraints=texts)
    bowl = Bowl(np.array([0.9, 0.8, 0.7]), np.array([0.5, 1.0, 0.3]))
    best = min(
        (
            minimize(
                lambda u: bowl.screen(u[None])[0],
                start,
                bounds=[(0, 1)] * 3,
                constraints=[{"type": "ineq", "fun": lambda u, f=f: f(low + u * (high - low))} for f in margins],
                method="COBYLA",
                options={"rhobeg": 0.2, "maxiter": 5000},
                tol=1e-9,
            )
            for start in space.cube.first_allowed[:5]
        ),
        key=lambda found: found.fun,
    )
    rng = np.random.default_rng(0)
    found = search(bowl, space.cube, rng, space.cube.fill(rng.random((5, 3))))
    assert space.cube.allowed(found).all()
    assert bowl.screen(found[:1])[0] == pytest.approx(best.fun, abs=1e-4)
    np.testing.assert_allclose(found[0], best.x, atol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_a_large_grid_by_brute_force(seed: int) -> None:
    """More points than are listed; the edge couples the parameters, so one step at a time does not reach its best."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, size=3)
    text = " + ".join(f"{w}*x{k}" for k, w in enumerate(weights)) + " <= 100"
    space = Space([Int(1, 45), Int(1, 45), Int(1, 45)], constraints=[text])
    cube = space.cube
    bowl = Bowl(rng.uniform(0.6, 1.0, 3), rng.uniform(0.3, 1.0, 3))
    levels = np.indices([45, 45, 45]).reshape(3, -1).T
    every = (levels + 0.5) / 45
    allowed = every[((levels + 1) @ weights) <= 100]
    found = MixedSearch()(bowl, cube, rng, cube.fill(rng.random((5, 3))))
    assert cube.size == len(allowed) > 3000
    assert bowl.screen(found[:1])[0] == pytest.approx(bowl.screen(allowed).min(), rel=1e-9)


def test_levels_and_numbers_share_an_edge() -> None:
    space = Space(
        {"n": Int(1, 200), "k": Choice(["u", "v"]), "x": Real(0, 10)}, constraints=["n * x <= 100", "x < 8 or k == 'u'"]
    )
    bowl = Bowl(np.array([0.9, 0.2, 0.8, 0.95]), np.array([1.0, 1.0, 1.0, 0.5]))
    rng = np.random.default_rng(0)
    found = MixedSearch()(bowl, space.cube, rng, space.cube.fill(rng.random((5, 3))))
    assert space.cube.allowed(found).all()
    best = np.inf
    for n in range(1, 201):
        for k, most in ((np.array([1.0, 0.0]), 10.0), (np.array([0.0, 1.0]), 8.0)):
            x = min(9.5, most, 100 / n)
            best = min(best, bowl.screen(np.array([[(n - 0.5) / 200, *k, x / 10]]))[0])
    assert bowl.screen(found[:1])[0] == pytest.approx(best, abs=1e-3)
