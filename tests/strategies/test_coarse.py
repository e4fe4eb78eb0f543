"""Where all points have gathered in one ripple, what explores is a model of the ripples' lowest values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aegisbo.gp.thinning import lowest_apart
from aegisbo.simulation import problems
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies import chosen_surrogate
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.presets import ADAPTIVE
from aegisbo.strategies.registry import resolve

ACKLEY = problems.get("Ackley5")
HERE = np.array([-1, 6, 2, 2, 6])  # at the bottom of a ripple, and far from the lowest one


def function(U):
    low, high = np.array(ACKLEY.bounds).T
    return np.array([ACKLEY(low + u * (high - low)) for u in U])


def gathered(n: int, ripples: bool = True) -> Evidence:
    """The first n of 160: of five points one is anywhere in the middle, and four gather at the bottom of the ripple."""
    rng = np.random.default_rng(0)
    U = rng.uniform(0.25, 0.75, (160, 5))
    low, high = np.array(ACKLEY.bounds).T
    inside = np.arange(160) % 5 > 0
    spread = np.logspace(-2, -3, 160)[:, None] * rng.standard_normal((160, 5))
    U[inside] = ((HERE - low) / (high - low) + spread)[inside]
    X = U[:n]
    y = function(X) if ripples else ((X - 0.3) ** 2).sum(axis=1)
    return Evidence(X, y, np.empty((0, 5)), np.empty((0, 5)), Cube((Continuous(),) * 5))


def learn(evidence, memory=None):
    return ADAPTIVE.surrogate.fit(evidence, memory or {}, np.random.default_rng(0))


@pytest.mark.long
def test_it_is_given_the_lowest_value_of_each_ripple_and_leads_out_of_this_one(monkeypatch):
    evidence = gathered(120)
    belief, memory = learn(evidence)
    explores = belief.exploring
    assert explores.model == "coarse"
    np.testing.assert_array_equal(explores.gp.X, evidence.X[lowest_apart(evidence.X, evidence.y, 0.02)])
    assert explores.best == pytest.approx(explores.scale.standardized(evidence.y.min()))
    assert explores.gp.kernel.lengthscale.min() > 4 * np.exp(memory["models"]["wide"]["phi"][:5]).max()
    monkeypatch.setattr(chosen_surrogate, "NARROW", 0.0)
    blind = learn(evidence)[0].exploring
    assert blind.model == "wide"
    low, high = np.array(ACKLEY.bounds).T
    here = (HERE - low) / (high - low)
    ahead = here + np.linspace(0.2, 1.0, 5)[:, None] * (0.5 - here)  # (5, d) towards the lowest ripple of all
    assert explores.gp.mean(ahead).min() < explores.best
    assert blind.gp.mean(ahead).min() > blind.best


def test_moves_that_explore_say_so():
    strategy = resolve("aegis:epsilon=1,gamma=1", "adaptive")
    told = strategy.suggest(gathered(120), {"opened_at": 10}, np.random.default_rng(0))
    assert (told.note["move"], told.note["model"]) == ("thompson", "coarse")


@pytest.mark.parametrize(("n", "soon", "later"), [(90, 92, 95), pytest.param(110, 112, 116, marks=pytest.mark.long)])
def test_it_learns_when_the_others_do(n, soon, later):
    """Its own data grow by 5 % at 92, and do not at 116."""
    _, memory = learn(gathered(n))
    belief, after = learn(gathered(soon), memory)
    assert after == memory
    explores = belief.exploring
    np.testing.assert_allclose(explores.gp.kernel.lengthscale, np.exp(memory["models"]["coarse"]["phi"][:5]))
    assert len(explores.gp.X) > len(learn(gathered(n), memory)[0].exploring.gp.X)
    _, anew = learn(gathered(later), memory)
    assert anew["models"]["coarse"]["phi"] != memory["models"]["coarse"]["phi"]


def test_where_nothing_is_that_narrow_there_is_none():
    belief, memory = learn(gathered(120, ripples=False))
    assert sorted(memory["models"]) == ["half", "quarter", "wide"]
    assert belief.exploring.model == "wide"


@pytest.mark.long
@pytest.mark.parametrize(("limit", "value"), [("WIDER", 1000.0), ("TOO_WIDE", 0.05)])
def test_where_a_coarse_look_sees_no_further_or_nothing_at_all_it_is_not_used(monkeypatch, limit, value):
    monkeypatch.setattr(chosen_surrogate, limit, value)
    assert "coarse" not in learn(gathered(120))[1]["models"]


def test_what_is_known_of_noise_and_limits_goes_with_the_points():
    evidence = gathered(20)
    sd, excess = np.arange(20.0), np.arange(40.0).reshape(20, 2)
    rows = np.array([3, 7])
    some = replace(evidence, sd=sd, excess=excess).only(rows)
    np.testing.assert_array_equal(some.X, evidence.X[rows])
    np.testing.assert_array_equal(some.y, evidence.y[rows])
    np.testing.assert_array_equal(some.sd, [3.0, 7.0])
    np.testing.assert_array_equal(some.excess, [[6.0, 7.0], [14.0, 15.0]])
    assert evidence.only(rows).sd is None
