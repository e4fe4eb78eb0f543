from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from foreign_gp import foreign_gp, square_grid
from scipy.stats import norm

from aegisbo.space.cube import Continuous, Cube, Grid, OneHot
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.registry import resolve

RELATIVES = ["kriging-believer", "local-penalization", "playbook"]
PLANE = Cube((Continuous(), Continuous()))
MIXED = Cube((Continuous(), OneHot(3), Grid(1, 64, 9, log=True)))
GRID = square_grid(201)
NOISE = 1e-2  # standard deviation, of standardized values


def evidence_on(cube: Cube, n: int = 10, seed: int = 0) -> Evidence:
    rng = np.random.default_rng(seed)
    X = cube.fill(rng.random((n, cube.parameters)))
    y = 300.0 + 40.0 * np.sum((X - 0.4) ** 2, axis=1) + 9.0 * np.cos(9 * X).sum(axis=1)
    none = np.empty((0, cube.width))
    return Evidence(X, y, none, none, cube)


def ask(name: str, evidence: Evidence, seed: int = 0):
    return resolve(name, "paper").suggest(evidence, {}, np.random.default_rng(seed))


def with_pending(seed: int, count: int) -> Evidence:
    """Points are under evaluation where expected improvement is largest, and elsewhere."""
    evidence = evidence_on(PLANE, seed=seed)
    favorite = ask("ei", evidence).x
    others = np.random.default_rng(seed + 50).random((count - 1, 2))
    return replace(evidence, pending=np.vstack([favorite, others]))


# Alone


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_ei_finds_the_maximum_of_expected_improvement(seed):
    evidence = evidence_on(PLANE, seed=seed)
    suggestion = ask("ei", evidence, seed)
    foreign = foreign_gp(evidence, suggestion.memory)
    on_grid = foreign.expected_improvement(GRID)
    here = foreign.expected_improvement(suggestion.x[None])[0]
    assert here == pytest.approx(on_grid.max(), rel=0.01)
    np.testing.assert_allclose(suggestion.x, GRID[on_grid.argmax()], atol=0.01)


@pytest.mark.parametrize("name", RELATIVES)
@pytest.mark.parametrize("cube", [PLANE, MIXED])
def test_with_nothing_pending_all_are_ei(name, cube):
    evidence = evidence_on(cube)
    one, ei = ask(name, evidence), ask("ei", evidence)
    np.testing.assert_array_equal(one.x, ei.x)
    assert one.note == {**ei.note, "move": name}
    assert one.memory == ei.memory


def test_ei_does_not_look_at_pending_points():
    evidence = evidence_on(PLANE)
    favorite = ask("ei", evidence).x
    np.testing.assert_array_equal(ask("ei", replace(evidence, pending=favorite[None])).x, favorite)


# With others under evaluation


@pytest.mark.parametrize("name", RELATIVES)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_relatives_keep_away_from_what_ei_would_choose_again(name, seed):
    evidence = with_pending(seed, 1)
    suggestion = ask(name, evidence)
    foreign = foreign_gp(evidence, suggestion.memory)
    distance = np.linalg.norm(suggestion.x - evidence.pending[0])
    assert distance > 0.1 * suggestion.note["lengthscale"][0]
    assert foreign.expected_improvement(suggestion.x[None]) < foreign.expected_improvement(evidence.pending)


@pytest.mark.parametrize("name", RELATIVES)
def test_relatives_fill_a_batch_with_different_points(name):
    evidence = evidence_on(PLANE)
    for seed in range(6):
        evidence = replace(evidence, pending=np.vstack([evidence.pending, ask(name, evidence, seed).x]))
    gaps = np.linalg.norm(evidence.pending[:, None] - evidence.pending, axis=-1) + np.eye(6)
    assert gaps.min() > 0.02


def chosen_and_best(name: str, evidence: Evidence, acquisition) -> tuple[float, float]:
    """What a witness thinks of the choice, and of the best point of a dense grid."""
    suggestion = ask(name, evidence)
    values = acquisition(foreign_gp(evidence, suggestion.memory), suggestion, np.vstack([suggestion.x, GRID]))
    return values[0], values[1:].max()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_believer_takes_predictions_for_measurements(seed):
    evidence = with_pending(seed, 4)

    def acquisition(foreign, suggestion, Z):
        believed = foreign.gp.predict(evidence.pending)
        more = foreign.gp.fit(
            np.vstack([evidence.X, evidence.pending]), np.append(foreign.gp.y_train_, believed)
        )  # same hyper-parameters, more data
        best = min(foreign.best, (foreign.center + foreign.spread * believed).min())
        return replace(foreign, gp=more, best=best).expected_improvement(Z)

    here, on_grid = chosen_and_best("kriging-believer", evidence, acquisition)
    assert here == pytest.approx(on_grid, rel=0.01)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", ["local-penalization", "playbook"])
def test_penalties_are_those_of_their_papers(name, seed):
    evidence = with_pending(seed, 4)

    def acquisition(foreign, suggestion, Z):
        value = foreign.expected_improvement(Z)
        mu, sigma = foreign.predict(evidence.pending)
        sigma = np.hypot(sigma, NOISE * foreign.spread)
        for x, m, s in zip(evidence.pending, mu, sigma, strict=True):
            half = 1.0 if name == "local-penalization" else suggestion.note["lengthscale"][0] / 2
            L = steepest(foreign, np.clip(x - half, 0, 1), np.clip(x + half, 0, 1))
            radius, blur = abs(m - foreign.best) / L, s / L
            distance = np.maximum(np.linalg.norm(Z - x, axis=1), 1e-12)
            if name == "local-penalization":
                value = value * norm.cdf((distance - radius) / blur)
            else:
                value = value * ((distance / (radius + blur)) ** -5.0 + 1) ** (-1 / 5)
        return value

    here, on_grid = chosen_and_best(name, evidence, acquisition)
    assert here == pytest.approx(on_grid, rel=0.01)


def steepest(foreign, low, high) -> float:
    """The largest slope of the mean in a box, by differences of neighbors on a grid."""
    Z = low + square_grid(101) * (high - low)
    by_y, by_x = np.gradient(foreign.predict(Z)[0].reshape(101, 101), *((high - low)[::-1] / 100))
    return float(np.hypot(by_x, by_y).max())
