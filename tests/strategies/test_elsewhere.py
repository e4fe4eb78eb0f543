"""Descents into other valleys, when the bottom of the best one is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from moving import offer

from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.log_expected_improvement import Improvement
from aegisbo.strategies.moves.elsewhere import (
    BOX_STARTS,
    Box,
    InBox,
    descend,
    is_apart,
    local_minima,
)
from aegisbo.strategies.moves.valley import Valley, critical_distance, in_valley
from aegisbo.strategies.presets import ADAPTIVE
from aegisbo.strategies.registry import resolve
from aegisbo.strategies.timing import Timing

DEEP, OTHER = np.array([0.2, 0.2]), np.array([0.75, 0.8])


def two_valleys(X):  # (n, 2) -> (n,)
    """The minimum is 0; the bottom of the other valley is at 0.05."""
    return np.minimum(((X - DEEP) ** 2).sum(axis=1), 0.05 + 2 * ((X - OTHER) ** 2).sum(axis=1))


def seen(X, pending=()) -> Evidence:
    pending = np.array(pending).reshape(-1, 2)
    return Evidence(X, two_valleys(X), np.empty((0, 2)), pending, Cube((Continuous(), Continuous())))


def found(count: int = 40) -> Evidence:
    """Points anywhere, and the bottom of the deep valley."""
    rng = np.random.default_rng(5)
    return seen(np.vstack([rng.random((count, 2)), DEEP + 1e-3 * rng.standard_normal((10, 2)), DEEP]))


def believed(evidence: Evidence):
    return ADAPTIVE.surrogate.fit(evidence, {}, np.random.default_rng(0))[0].exploring


def test_the_critical_distance_is_that_of_a_ball_of_known_volume():
    """Of the share σ log n / n of the cube."""
    for n in (10, 500):
        share = 4.0 * np.log(n) / n
        assert critical_distance(n, 1) == pytest.approx(share / 2)  # an interval has the length 2 r
        assert critical_distance(n, 2) == pytest.approx(np.sqrt(share / np.pi))  # a disc has the area π r²
        assert critical_distance(n, 3) == pytest.approx((share / (4 / 3 * np.pi)) ** (1 / 3))
    assert np.isfinite(critical_distance(50, 1000))


def test_descents_start_where_no_lower_point_is_near():
    rng = np.random.default_rng(2)
    X, y = rng.random((60, 3)), rng.integers(20, size=60).astype(float)  # with ties
    for distance in (0.1, 0.3, 0.6):
        rows = local_minima(X, y, distance)
        assert (np.diff(y[rows]) >= 0).all()
        for i in range(60):
            others = np.linalg.norm(X - X[i], axis=1) < distance
            if y[i] < y[others & (np.arange(60) != i)].min(initial=np.inf):
                assert i in rows
            if (y[others] < y[i]).any():
                assert i not in rows


def test_valleys_are_apart_if_there_is_a_hill_between_them():
    evidence = found()
    belief = believed(evidence)

    def apart(x):
        value = belief.scale.standardized(two_valleys(np.array([x])))[0]
        return is_apart(np.array(x), DEEP, float(value), belief)

    assert apart([0.7, 0.8])
    assert apart([0.85, 0.75])
    assert not apart([0.05, 0.45])  # far from the best point, but on its slope
    assert not apart([0.45, 0.1])


def test_the_slope_of_the_best_valley_is_no_other_valley():
    """A point on it may have no lower one near; what is chosen then is not a step down to the known bottom."""
    slope = np.array([[0.75, 0.2], [0.2, 0.8]])
    near = DEEP + 0.02 * np.random.default_rng(1).standard_normal((12, 2))
    X = np.vstack([slope, near, DEEP])
    evidence = Evidence(
        X, ((X - DEEP) ** 2).sum(axis=1), np.empty((0, 2)), np.empty((0, 2)), Cube((Continuous(), Continuous()))
    )
    assert set(local_minima(X, evidence.y, critical_distance(*X.shape))) == {0, 1, len(X) - 1}
    x = descend(believed(evidence), evidence, np.random.default_rng(0))[0]
    assert (np.linalg.norm(slope - x, axis=1) > 0.3).all()


def test_a_descent_goes_on_in_the_other_valley():
    evidence = found()
    x = descend(believed(evidence), evidence, np.random.default_rng(1))[0]
    known = evidence.y[np.linalg.norm(evidence.X - OTHER, axis=1) < 0.3]
    assert np.linalg.norm(x - OTHER) < 0.05
    assert two_valleys(x[None])[0] < known.min()


def test_many_workers_are_spread():
    """What is pending in a valley is believed, so that it promises no more, and the next worker goes somewhere else."""
    evidence = found()
    belief, asked = believed(evidence), np.empty((0, 2))
    for seed in range(6):
        x = descend(belief, replace(evidence, pending=asked), np.random.default_rng(seed))[0]
        assert np.linalg.norm(asked - x, axis=1).min(initial=1.0) > 0.1
        asked = np.vstack([asked, x])
    assert np.linalg.norm(asked[0] - OTHER) < 0.05


def test_what_the_posterior_does_not_know_starts_no_descent():
    evidence = found()
    rows = np.sort(np.random.default_rng(6).permutation(len(evidence.y))[:35])
    some = evidence.only(rows)
    belief = believed(some)
    alone = descend(belief, some, np.random.default_rng(1))
    np.testing.assert_array_equal(descend(replace(belief, rows=rows), evidence, np.random.default_rng(1)), alone)
    assert len(alone) == BOX_STARTS  # it has found a valley


def test_where_no_valley_promises_anything_a_descent_starts_far_from_all_points():
    rng = np.random.default_rng(3)
    near_both = np.vstack([center + 1e-4 * rng.standard_normal((15, 2)) for center in (DEEP, OTHER)])
    evidence = seen(np.vstack([rng.random((60, 2)), near_both, DEEP, OTHER]))
    x = descend(believed(evidence), evidence, np.random.default_rng(0))[0]
    distances = np.linalg.norm(np.random.default_rng(7).random((1000, 1, 2)) - evidence.X, axis=2).min(axis=1)
    assert np.linalg.norm(evidence.X - x, axis=1).min() > np.median(distances)


def test_a_box_ends_at_the_edge_of_the_cube_and_holds_its_points():
    box = Box(np.array([0.0, 0.5]), np.array([0.2, 0.9]))
    assert box.holds(np.array([[0.1, 0.6], [0.2, 0.9], [0.1, 0.4], [0.3, 0.6]])).tolist() == [True, True, False, False]
    np.testing.assert_allclose(
        box.at(np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.25]])), [[0, 0.5], [0.2, 0.9], [0.1, 0.6]]
    )


def test_the_gradient_in_a_box_is_that_of_differences():
    evidence = found()
    belief, box, h = believed(evidence), Box(np.array([0.5, 0.6]), np.array([0.9, 1.0])), 1e-6
    objective = InBox(box, Improvement(belief.gp, 0.0))
    V = np.random.default_rng(0).random((4, 2))
    values, gradients = objective.value_and_gradient(V)
    np.testing.assert_allclose(values, objective.screen(V), rtol=1e-6)
    for k, step in enumerate(h * np.eye(2)):
        slopes = (objective.value_and_gradient(V + step)[0] - objective.value_and_gradient(V - step)[0]) / (2 * h)
        np.testing.assert_allclose(gradients[:, k], slopes, rtol=1e-4, atol=1e-5)


class TestAegis:
    """An exploring move near the best point goes elsewhere, once the bottom of its valley is known."""

    def told(self, evidence: Evidence, **memory):
        return resolve("aegis:epsilon=1,gamma=1", "adaptive").suggest(
            evidence, {"opened_at": 4, **memory}, np.random.default_rng(4)
        )

    def test_only_when_the_bottom_is_known(self, monkeypatch):
        evidence = found()
        near = DEEP + np.array([1e-3, 0.0])
        offer(monkeypatch, "thompson", near[None])
        assert self.told(evidence).note["move"] == "thompson"
        assert self.told(evidence, bottom=-0.1).note["move"] == "thompson"
        there = self.told(evidence, bottom=0.0)
        assert there.note["move"] == "elsewhere"
        assert not in_valley(there.x[None], evidence).any()
        assert there.note["model"] == "wide"

    @pytest.mark.long
    def test_also_instead_of_improving(self, monkeypatch):
        evidence = found()
        near = DEEP + np.array([1e-3, 0.0])
        strategy = resolve("aegis:epsilon=0", "adaptive")
        monkeypatch.setattr("aegisbo.strategies.moves.local.CHANCES", (0.0, 0.0))  # no local moves
        offer(monkeypatch, "exploit", DEEP[None])  # promises nothing new
        monkeypatch.setattr("aegisbo.strategies.moves.improve.most_improved", lambda *_: near[None])
        for bottom, move in ((-0.1, "improve"), (0.0, "elsewhere")):
            told = strategy.suggest(evidence, {"opened_at": 4, "bottom": bottom}, np.random.default_rng(4))
            assert told.note["move"] == move

    def test_only_when_it_would_stay_in_the_valley(self, monkeypatch):
        evidence = found()
        offer(monkeypatch, "thompson", np.array([[0.4, 0.9]]))
        assert self.told(evidence, bottom=0.0).note["move"] == "thompson"

    def test_not_where_time_counts(self, monkeypatch):
        """A descent would not look at the clock."""
        evidence = found()
        timing = Timing(evidence.X, 1.0 + evidence.X[:, 0], costly=True)
        offer(monkeypatch, "thompson", DEEP[None] + 1e-3)
        assert self.told(evidence, bottom=0.0).note["move"] == "elsewhere"
        assert self.told(replace(evidence, timing=timing), bottom=0.0).note["move"] == "thompson"

    def test_the_bottom_is_that_of_the_best_valley(self):
        evidence = found()
        unit = np.median(evidence.y[:4]) - evidence.y[:4].min()
        assert Valley(-0.9e-7 * unit).is_known(evidence)
        assert not Valley(-1.1e-7 * unit).is_known(evidence)
        assert not Valley(0.05).is_known(evidence)  # what is best now was found later, and lies lower

    def test_failures_in_the_valley_hide_its_bottom(self):
        evidence = found()
        distance = critical_distance(len(evidence.y), 2) / 2
        for away, known in ((0.99, False), (1.01, True)):
            failed = DEEP + away * distance * np.array([[0.6, 0.8]])
            assert Valley(0.0).is_known(replace(evidence, failed=failed)) == known

    def test_a_local_move_tells_the_bottom(self):
        """In a quadratic valley its model predicts what will be measured, to a part of the lowest value it knows."""
        rng = np.random.default_rng(8)
        around = DEEP + 0.1 * rng.standard_normal((40, 2))
        evidence = seen(np.vstack([rng.random((8, 2)), around[two_valleys(around) > 1e-3]]))
        for seed in range(20):
            told = resolve("aegis:epsilon=0", "adaptive").suggest(
                evidence, {"opened_at": 4}, np.random.default_rng(seed)
            )
            if told.note["move"] == "local":
                lowest = evidence.y.min()
                assert told.memory["bottom"] == pytest.approx(two_valleys(told.x[None])[0], abs=0.02 * lowest)
                assert told.memory["bottom"] < 0.5 * lowest
                return
        pytest.fail("There was no local move.")
