"""Problems with several objectives: their values, what their fronts cover, and the score of what was found."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import quad

from aegisbo.arrays import Array
from aegisbo.simulation import problems
from aegisbo.simulation.problems import ExactFront, Problem

X = [0.25, 0.5, 0.1, 0.9, 0.7]  # two angles at most, and the rest
G = 1 + 9 * 0.55  # of ZDT: the mean of the others is 0.55
AROUND = 1 + 0.4**2 + 0.4**2 + 0.2**2  # of DTLZ2-m3

BY_HAND = {
    "ZDT1": [0.25, G * (1 - sqrt(0.25 / G))],
    "ZDT2": [0.25, G * (1 - (0.25 / G) ** 2)],
    "ZDT3": [0.25, G * (1 - sqrt(0.25 / G) - 0.25 / G * sin(10 * pi * 0.25))],
    "DTLZ2-m2": [AROUND * cos(pi / 8), AROUND * sin(pi / 8)],
    "DTLZ2-m3": [
        AROUND * cos(pi / 8) * cos(pi / 4),
        AROUND * cos(pi / 8) * sin(pi / 4),
        AROUND * sin(pi / 8),
    ],
}


@pytest.fixture(params=problems.with_fronts())
def problem(request: pytest.FixtureRequest) -> Problem:
    return problems.get(request.param)


def front_of(problem: Problem) -> ExactFront:
    assert problem.front is not None
    return problem.front


def values(problem: Problem, points: Array) -> Array:  # (n, d) -> (n, m)
    return np.array([[*problem(x).values()] for x in points])


def share_dominated(F: Array, U: Array) -> float:
    """The share of the points U (k, m) that some row of F (n, m) dominates, by definition."""
    return float(np.mean([(u >= F).all(axis=1).any() for u in U]))


def best_points(problem: Problem, count: int, rng: np.random.Generator) -> Array:
    """Random points whose values are on the front, or would be if nothing else dominated them."""
    angles = len(front_of(problem).reference) - 1
    rest = 0.5 if problem.name.startswith("DTLZ2") else 0.0
    return np.hstack([rng.random((count, angles)), np.full((count, problem.d - angles), rest)])


def test_values_agree_with_hand_computation(problem: Problem) -> None:
    by_name = {f"f{k}": value for k, value in enumerate(BY_HAND[problem.name], start=1)}
    assert problem(X) == pytest.approx(by_name, rel=1e-13)


@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("ZDT1", lambda f: 1 - sqrt(f)),
        ("ZDT2", lambda f: 1 - f**2),
        ("ZDT3", lambda f: 1 - sqrt(f) - f * sin(10 * pi * f)),
        ("DTLZ2-m2", lambda f: sqrt(1 - f**2)),
    ],
)
def test_what_two_objectives_cover_is_an_integral(name: str, second: Callable[[float], float]) -> None:
    """Of the reference less the best second objective among all that are as good in the first one."""
    grid = np.linspace(0, 1, 200_001)
    lowest = np.minimum.accumulate([second(f) for f in grid])

    def height(f: float) -> float:
        return 1.1 - float(np.interp(min(f, 1.0), grid, lowest))

    breaks = [0.083, 0.1822, 0.2578, 0.4093, 0.4539, 0.6184, 0.6525, 0.8233, 0.8518, 1.0]
    covered = quad(height, 0.0, 1.1, points=breaks, limit=500)[0]
    assert front_of(problems.get(name)).hypervolume == pytest.approx(covered, abs=2e-7)


def test_what_a_front_covers_is_the_share_of_random_points_that_it_dominates(problem: Problem) -> None:
    rng, front = np.random.default_rng(1), front_of(problem)
    reference = np.array([*front.reference.values()])
    lowest = np.array([0.0, -0.8]) if problem.name == "ZDT3" else np.zeros(len(reference))
    F = values(problem, best_points(problem, 1_000, rng))
    U = lowest + (reference - lowest) * rng.random((4_000, len(reference)))
    found = share_dominated(F, U) * float(np.prod(reference - lowest))
    assert found == pytest.approx(front.hypervolume, rel=0.04)


def test_no_point_lies_beyond_the_front(problem: Problem) -> None:
    """Points near the best ones and anywhere: none adds anything to what the front covers."""
    rng = np.random.default_rng(2)
    best = best_points(problem, 100, rng)
    near = np.clip(best + 0.05 * rng.standard_normal(best.shape), 0.0, 1.0)
    points = np.vstack([best_points(problem, 400, rng), near, rng.random((100, problem.d))])
    scores = problem.scores(values(problem, points))
    assert 0.0 < scores[-1] < (0.1 if problem.name == "DTLZ2-m3" else 0.01)
    assert (np.diff(scores) <= 1e-15).all()


def test_a_score_is_the_missing_share_of_the_exact_hypervolume() -> None:
    problem = problems.get("ZDT2")
    F = np.array([[1.2, 0.1], [0.5, 0.9], [0.4, 1.0], [0.9, 0.2], [0.6, 0.95]])
    covered = [
        0.0,
        0.6 * 0.2,
        0.6 * 0.2 + 0.1 * 0.1,
        0.6 * 0.2 + 0.1 * 0.1 + 0.2 * 0.7,
        0.6 * 0.2 + 0.1 * 0.1 + 0.2 * 0.7,
    ]
    assert problem.scores(F) == pytest.approx(1 - np.array(covered) / (0.1 + 1 / 3 + 0.11), rel=1e-13)
    unknown = replace(problem, front=ExactFront(front_of(problem).reference))
    assert unknown.scores(F) == pytest.approx([-each for each in covered], abs=1e-15)


def test_they_travel_to_other_processes(problem: Problem) -> None:
    assert pickle.loads(pickle.dumps(problem))([0.3] * problem.d) == problem([0.3] * problem.d)


def test_they_are_no_functions_with_a_minimum(problem: Problem) -> None:
    assert problem.name not in problems.names()
    assert problem.minimum is None
    assert problem.minimizers.shape == (0, 5)
