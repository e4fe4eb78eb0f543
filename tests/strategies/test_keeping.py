"""The chance to keep limits: against draws from the posterior, and its gradient against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from aegisbo.space import Space
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.chance import AllOf, NearFailures
from aegisbo.strategies.keeping import SHARPEST, Keeping
from aegisbo.strategies.learned_limits import believe_in_limits, best_first
from aegisbo.strategies.presets import MODERN


def evidence(n: int = 25) -> Evidence:
    rng = default_rng(0)
    X = rng.random((n, 2))
    excess = np.column_stack([X.sum(axis=1) - 1.2, np.sin(5 * X[:, 0]) - 0.3])
    nothing = np.empty((0, 2))
    return Evidence(X, -(X**2).sum(axis=1), nothing, nothing, Space([(0, 1), (0, 1)]).cube, excess=excess)


@pytest.fixture(scope="module")
def keeping() -> Keeping:
    belief, _ = MODERN.surrogate.fit(evidence(), {}, default_rng(1))
    belief, memory = believe_in_limits(belief, evidence(), {}, default_rng(2))
    assert set(memory["limits"]) == {"0", "1"}
    assert belief.keeping is not None
    return belief.keeping


def test_it_is_the_share_of_draws_that_keep_all(keeping: Keeping) -> None:
    rng = default_rng(3)
    for z in rng.random((12, 1, 2)):
        kept = np.full(20_000, True)
        for gp, bound in keeping.models:
            mu, var = gp.predict(z)
            kept &= mu[0] + np.sqrt(var[0] + gp.noise) * rng.standard_normal(20_000) <= bound
        assert np.exp(keeping.log_value(z)[0]) == pytest.approx(kept.mean(), abs=0.02)


def test_it_knows_where_limits_are_kept(keeping: Keeping) -> None:
    Z = default_rng(4).random((400, 2))
    kept = (Z.sum(axis=1) <= 1.2) & (np.sin(5 * Z[:, 0]) <= 0.3)
    assert ((keeping.log_value(Z) > np.log(0.5)) == kept).mean() > 0.95


@pytest.mark.parametrize("failures", [False, True])
def test_the_gradient_is_that_of_differences(keeping: Keeping, failures: bool) -> None:
    chance = AllOf((NearFailures(np.array([[0.4, 0.6]])), keeping)) if failures else keeping
    Z, h = default_rng(5).random((20, 2)), 1e-6
    value, gradient = chance.log_value_and_gradient(Z)
    # Where the chance is nearly 1, its logarithm has no more digits than 1 has.
    np.testing.assert_allclose(value, chance.log_value(Z), rtol=1e-6, atol=1e-12)
    for k in range(2):
        step = h * np.eye(2)[k]
        slope = (chance.log_value(Z + step) - chance.log_value(Z - step)) / (2 * h)
        np.testing.assert_allclose(gradient[:, k], slope, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("far", [1e4, 1e9, 1e15])
def test_the_gradient_far_below_a_limit_leads_back(keeping: Keeping, far: float) -> None:
    gp, _ = keeping.models[0]
    Z = default_rng(6).random((20, 2))
    mu, var, of_mu, of_var = gp.predict_and_gradient(Z)
    var = var + gp.noise
    assert (var > SHARPEST**2).all()
    # log Φ(z) is about −½ z², where z = −(far + μ)/σ
    expected = -((far + mu) / var)[:, None] * of_mu + (0.5 * ((far + mu) / var) ** 2)[:, None] * of_var
    np.testing.assert_allclose(Keeping(((gp, -far),)).log_value_and_gradient(Z)[1], expected, rtol=1e-3)


def test_the_best_is_that_which_keeps_all(keeping: Keeping) -> None:
    seen = evidence()
    belief, _ = MODERN.surrogate.fit(seen, {}, default_rng(1))
    limited, _ = believe_in_limits(belief, seen, {}, default_rng(2))
    kept = (seen.excess <= 0).all(axis=1)  # type: ignore[operator]
    assert limited.best == pytest.approx(belief.scale.standardized(seen.y[kept]).min())
    np.testing.assert_array_equal(best_first(seen)[0], seen.X[kept][seen.y[kept].argmin()])
    nowhere = replace(seen, excess=np.abs(seen.excess) + 1.0)  # type: ignore[arg-type]
    assert not nowhere.kept.any()
    assert len(best_first(nowhere)) == 10
