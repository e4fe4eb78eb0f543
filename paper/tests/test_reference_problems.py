"""Hartmann3 as published, rounded minima, and regret that folds at them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from aegis_paper.reference.problems import MINIMA, as_published
from scipy.optimize import minimize

from aegisbo.simulation.problems import get, names


def test_hartmann3_has_the_published_value_at_the_standard_minimizer_and_is_a_little_lower_beside_it() -> None:
    problem = as_published(get("Hartmann3"))
    lowest = minimize(problem, [0.11, 0.55, 0.85], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15})
    assert problem.minimum == -3.8631069415
    assert lowest.fun - problem.minimum == pytest.approx(-4.3e-8, abs=1e-9)
    np.testing.assert_allclose(lowest.x, problem.minimizers[0], atol=1e-7)
    assert problem([0.114614, 0.555649, 0.852547]) == pytest.approx(problem.minimum, abs=1e-11)


def test_hartmann3_differs_from_the_standard_one_by_one_constant() -> None:
    """The difference at any point is that of one of the four terms."""
    ours, standard = as_published(get("Hartmann3")), get("Hartmann3")
    for x in np.random.default_rng(0).random((20, 3)):
        terms = [
            1.2 * np.exp(-(0.1 * (x[0] - 0.4699) ** 2 + 10 * (x[1] - c) ** 2 + 35 * (x[2] - 0.7470) ** 2))
            for c in (0.4389, 0.4387)
        ]
        assert ours(x) - standard(x) == pytest.approx(terms[1] - terms[0], abs=1e-12)


@pytest.mark.parametrize(
    ("name", "excess"),
    [
        ("Eggholder", 1.0e-8),
        ("SixHumpCamel", 3.1e-8),
        ("Michalewicz5", 1.8e-7),
        ("Michalewicz10", 1.7e-6),
        ("Hartmann6", 2.5e-11),
    ],
)
def test_the_published_minima_lie_above_the_true_ones(name: str, excess: float) -> None:
    assert as_published(get(name)).minimum - get(name).minimum == pytest.approx(excess, rel=0.05)


@pytest.mark.parametrize("name", sorted(set(names()) - set(MINIMA)))
def test_all_other_problems_are_left_alone(name: str) -> None:
    ours, standard = as_published(get(name)), get(name)
    assert (ours.minimum, ours.function, ours.bounds) == (standard.minimum, standard.function, standard.bounds)


def test_regret_never_rises_although_values_fall_below_the_minimum() -> None:
    values = [3.0, 1.5, 0.9, 0.5, 1.05, 2.0]
    definition = [min(abs(value - 1.0) for value in values[: k + 1]) for k in range(6)]
    problem = replace(as_published(get("Branin")), minimum=1.0)
    assert problem.scores(np.array(values)).tolist() == definition
    assert definition[2:] == pytest.approx([0.1, 0.1, 0.05, 0.05])
