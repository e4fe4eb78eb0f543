"""The local strategy: its coordinates, its objective, and that it gets to the bottom of a narrow valley."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo import Optimizer
from aegisbo.runners.loop import run
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import law_from_text
from aegisbo.space import Space
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.local_model import LocalImprovement, local_model, neighborhood_of
from aegisbo.study import Study


def bowl(seed: int, d: int = 4):
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
    center = rng.uniform(-4, 4, d)
    return lambda x: float(((x - center) @ turn) ** 2 @ 10 ** np.linspace(0, 4, d))


def evidence_of(X: np.ndarray, y: np.ndarray, failed: int = 0, pending: int = 0) -> Evidence:
    X, failed_points, pending_points = np.split(X, [len(X) - failed - pending, len(X) - pending])
    return Evidence(X, y[: len(X)], failed_points, pending_points, Space([(0, 1)] * X.shape[1]).cube)


def improvement_of(evidence: Evidence) -> LocalImprovement:
    return local_model(evidence).improvement(evidence)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_eight_workers_reach_the_bottom_of_a_turned_bowl(seed: int) -> None:
    optimizer = Optimizer([(-5, 5)] * 4, strategy="local-quadratic", seed=seed)
    run(Study(optimizer), VirtualWorkers(bowl(seed), 8, law_from_text("half-normal"), seed), 60)
    assert optimizer.result().fun < 1e-4  # where it started at about 1e4


def test_the_lowest_points_are_equally_wide_in_all_directions() -> None:
    rng = np.random.default_rng(0)
    narrow = np.array([[1.0, 0.9], [0.0, 0.3]])
    lowest = 0.5 + 0.1 * rng.standard_normal((400, 2)) @ narrow
    neighborhood = neighborhood_of(lowest)
    U = neighborhood.local(lowest)
    np.testing.assert_allclose(neighborhood.center + U @ neighborhood.axes.T, lowest)
    assert (U[0] == 0).all()
    weights = np.log(400.5) - np.log(np.arange(1, 401))
    np.testing.assert_allclose((U.T * weights / weights.sum()) @ U, np.eye(2), atol=0.05)


def test_the_gradient_is_that_of_differences() -> None:
    """Also where the box that is searched leaves the cube."""
    rng, h = np.random.default_rng(1), 1e-6
    X = rng.random((40, 3))
    objective = improvement_of(evidence_of(X, (X**2).sum(axis=1) + np.sin(9 * X[:, 0]), failed=3, pending=4))
    V = rng.uniform(0.2, 0.8, (8, 3))
    at_an_edge = np.isin(objective.at(V), (0.0, 1.0)).any(axis=1)
    assert at_an_edge.any()
    assert not at_an_edge.all()
    for v in V:
        gradient = objective.value_and_gradient(v[None])[1][0]
        for i, step in enumerate(h * np.eye(3)):
            change = objective.screen((v + step)[None]) - objective.screen((v - step)[None])
            assert gradient[i] == pytest.approx(change[0] / (2 * h), rel=1e-3, abs=1e-3)


def test_the_box_that_is_searched_is_the_neighborhood() -> None:
    X = 0.5 + 0.05 * np.random.default_rng(3).standard_normal((40, 3))
    objective = improvement_of(evidence_of(X, ((X - 0.5) ** 2).sum(axis=1)))
    U = np.random.default_rng(4).uniform(-2, 2, (6, 3))
    np.testing.assert_allclose(objective.neighborhood.local(objective.at(objective.boxed(U))), U, atol=1e-9)


def test_what_was_learned_before_is_where_learning_goes_on() -> None:
    X = np.random.default_rng(5).random((40, 3))
    evidence = evidence_of(X, (X**2).sum(axis=1) + np.sin(9 * X[:, 0]))
    afresh = local_model(evidence)
    again = local_model(evidence, afresh.gp.phi)
    np.testing.assert_allclose(again.gp.phi, afresh.gp.phi, atol=0.05)
    assert again.skill(evidence.y) == pytest.approx(afresh.skill(evidence.y), abs=0.1)


def test_a_narrow_valley_looks_round() -> None:
    """Of condition 1e5: the longest axis is 316 times the shortest."""
    rng = np.random.default_rng(6)
    turn, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    steps = 1e-3 * rng.standard_normal((30, 4))
    steps = steps[np.argsort((steps**2).sum(axis=1))]
    lowest = 0.5 + steps / 10 ** np.linspace(0, 2.5, 4) @ turn
    assert np.linalg.cond(neighborhood_of(lowest).local(lowest)) < 5.0


def test_what_lies_far_away_does_not_count() -> None:
    X = 0.5 + 0.05 * np.random.default_rng(7).standard_normal((30, 2))
    y = ((X - 0.5) ** 2).sum(axis=1)
    alone = improvement_of(evidence_of(X, y))
    v = alone.boxed(np.full((1, 2), 0.3))
    radius = 2.0 * alone.neighborhood.axes @ np.ones(2)
    for away, counts in ((0.9, True), (1.1, False)):
        with_another = np.vstack([X, alone.neighborhood.center + away * radius])
        for after in (evidence_of(with_another, np.append(y, 1e6)), evidence_of(with_another, y, pending=1)):
            assert (improvement_of(after).screen(v)[0] != alone.screen(v)[0]) == counts


def test_a_place_that_was_measured_high_or_failed_promises_less() -> None:
    rng = np.random.default_rng(2)
    X = rng.random((30, 2))
    y = ((X - 0.4) ** 2).sum(axis=1)
    before = improvement_of(evidence_of(X, y))
    v = before.boxed(np.full((1, 2), 0.5))
    place = before.at(v)
    high = improvement_of(evidence_of(np.vstack([X, place]), np.append(y, 1e6)))
    failed = improvement_of(evidence_of(np.vstack([X, place]), y, failed=1))
    for after in (high, failed):
        assert after.screen(v)[0] > before.screen(v)[0] + 1.0
