"""The search for the predicted front, against fronts that are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import aegisbo
from aegisbo.arrays import Array
from aegisbo.review.landscape import models_of
from aegisbo.review.predicted_front import far_apart, predicted_front, search
from aegisbo.search.hypervolume import hypervolume

CENTERS = np.array([[0.2, 0.3, 0.5], [0.8, 0.3, 0.5], [0.4, 0.9, 0.5]])


def distances(X: Array, m: int) -> Array:  # squared, to m centers: the best points lie between them
    return np.asarray(((X[:, None, :] - CENTERS[:m]) ** 2).sum(axis=2))


@pytest.mark.parametrize("m", [2, 3])
def test_points_between_the_minima_are_found(m: int) -> None:
    rng = np.random.default_rng(0)
    X, F = search(lambda X: distances(X, m), 0.2 * rng.random((8, 3)), rng)  # begins in a corner
    shares = np.random.default_rng(1).dirichlet(np.ones(m), len(X))  # as many points of the true front
    truth = distances(shares @ CENTERS[:m], m)
    edge = truth.max(axis=0) * 1.1
    assert len(X) > 100
    assert np.allclose(F, distances(X, m))
    assert hypervolume(F, edge) > 0.98 * hypervolume(truth, edge)
    assert ((X[:, 2] - 0.5) ** 2).max() < 0.02 * edge.max()  # by which values beside their plane are worse


def test_what_does_not_count_is_not_on_it() -> None:
    rng = np.random.default_rng(0)
    values = lambda X: np.where(X[:, :1] < 0.5, distances(X, 2), np.inf)  # noqa: E731
    X, F = search(values, rng.random((64, 3)), rng)
    assert X[:, 0].max() < 0.5
    nothing, _ = search(lambda X: np.full((len(X), 2), np.inf), rng.random((64, 3)), rng)
    assert len(nothing) == 0
    assert np.isfinite(F).all()


def test_rows_far_apart_include_the_ends_and_leave_no_gap() -> None:
    t = np.concatenate([np.linspace(0.0, 0.1, 900), np.linspace(0.1, 1.0, 100)])
    F = np.stack([t, 100.0 * (1.0 - t)], axis=1)
    rows = far_apart(F, 30)
    assert {0, len(t) - 1} <= set(rows.tolist())
    assert np.diff(t[rows]).max() < 2.0 / 29
    assert far_apart(F[:5], 30).tolist() == [0, 1, 2, 3, 4]


def test_it_keeps_constraints_and_stays_away_from_failures() -> None:
    space = {"x": aegisbo.Real(-5, 10), "y": aegisbo.Real(2, 3)}
    objectives = {"near": "min", "far": "max"}
    optimizer = aegisbo.Optimizer(space, objectives=objectives, constraints=["x <= 8"], seed=0, n_initial=60)
    for _ in range(60):
        trial = optimizer.ask()
        x, y = trial.params["x"], trial.params["y"]
        if x > 5:
            optimizer.fail(trial, "too far")
        else:
            optimizer.tell(trial, {"near": x**2 + y, "far": x - y})
    found = predicted_front(models_of(optimizer), optimizer.result().front)
    assert found is not None
    points = [optimizer.space.params(z) for z in found.Z]
    assert min(each["x"] for each in points) == pytest.approx(0.0, abs=0.3)
    assert 4.0 < max(each["x"] for each in points) < 6.0  # beyond 5 all failed, beyond 8 nothing is allowed
    assert max(each["y"] for each in points) < 2.02
    assert found.F[0] == pytest.approx([2.0, 2.0], abs=0.3)  # minimized: -far = y - x
