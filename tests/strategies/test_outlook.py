"""What is told of a function: mixtures against scipy, draws against the prior, one result left out against a refit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import kstest, norm

from aegisbo import Optimizer
from aegisbo.gp.additive_draws import center, draws, prior_draw
from aegisbo.gp.additive_model import AdditiveLikelihood
from aegisbo.gp.output_transform import Scale, scale_of, soft_scale_of
from aegisbo.gp.posterior import condition
from aegisbo.strategies.law import Law, normal_law
from aegisbo.strategies.outlook import Outlook
from aegisbo.strategies.presets import modern_model

STRAIGHT = Scale(4.0, 0.25, 0.5)
BENT = soft_scale_of(np.array([-3.0, 1.0, 2.0, 7.0, 900.0]))


def bowl(x: np.ndarray) -> float:
    return float(((x - 0.4) ** 2).sum())


def a_law() -> Law:
    mean, sd = np.array([[0.3, -1.0], [1.4, 0.2]]), np.array([[0.2, 1.0], [0.5, 0.1]])
    return Law([STRAIGHT, BENT], mean, sd, np.array([[0.7, 0.1], [0.3, 0.9]]))


@pytest.mark.parametrize("share", [0.025, 0.3, 0.5, 0.975])
def test_quantiles_of_a_mixture_are_where_its_parts_say(share: float) -> None:
    law = a_law()

    def below(y: float, m: int) -> float:
        z = [float(scale.standardized(np.array([y]))[0]) for scale in law.scales]
        return sum(law.weight[k, m] * norm.cdf(z[k], law.mean[k, m], law.sd[k, m]) for k in range(2))

    expected = [brentq(lambda y, m=m: below(y, m) - share, -1e3, 1e4, xtol=1e-12) for m in range(2)]
    np.testing.assert_allclose(law.quantiles([share])[0], expected, rtol=1e-9)
    np.testing.assert_allclose(law.below(np.array(expected)), share, rtol=1e-9)


def test_nothing_is_told_beyond_the_ceiling_and_everything_is_below_infinity() -> None:
    law = Law([BENT], np.array([[1.0]]), np.array([[5.0]]), np.ones((1, 1)), ceiling=1000.0)
    assert law.quantiles([0.2])[0, 0] < law.quantiles([0.999])[0, 0] == 1000.0
    assert law.below(np.inf) == 1.0


def test_what_is_certain_is_told_so() -> None:
    law = normal_law(STRAIGHT, np.array([0.5]), np.zeros(1))
    np.testing.assert_allclose(law.quantiles([0.025, 0.975]), STRAIGHT.measured(np.array([0.5])).item())
    level = STRAIGHT.measured(np.array([0.5]))
    assert (law.below(level - 1e-6), law.below(level + 1e-6)) == (0.0, 1.0)


@pytest.mark.parametrize("d", [1, 3])
def test_draws_from_the_prior_have_its_density(d: int) -> None:
    """Its logarithm falls by half of a chi-squared law with as many degrees of freedom as phi has numbers."""
    model, rng = modern_model(d), np.random.default_rng(0)
    top = model.log_prior(center(model, d))[0]
    falls = [2.0 * (top - model.log_prior(center(model, d) + prior_draw(model, d, rng))[0]) for _ in range(400)]
    assert kstest(falls, "chi2", (2 * d + 2,)).pvalue > 1e-3


@pytest.mark.long
def test_draws_given_data_are_those_of_the_posterior() -> None:
    """Weighing draws from the prior by the likelihood of few data leads to the same means."""
    rng = np.random.default_rng(1)
    X = rng.random((5, 1))
    y = scale_of(np.sin(5.0 * X[:, 0])).standardized(np.sin(5.0 * X[:, 0]))
    model = modern_model(1)
    likelihood = AdditiveLikelihood(X, y, model)
    found = np.array(list(draws(likelihood, center(model, 1), 400, rng)))
    prior = np.array([center(model, 1) + prior_draw(model, 1, rng) for _ in range(6000)])
    logs = np.array([likelihood.of_data(phi) for phi in prior])
    weight = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    mean, deviation = weight @ prior, np.sqrt(weight @ prior**2 - (weight @ prior) ** 2)
    np.testing.assert_allclose((found.mean(axis=0) - mean) / deviation, 0.0, atol=0.3)
    np.testing.assert_allclose(found.std(axis=0) / deviation, 1.0, atol=0.3)


def told(noisy: bool = False) -> Outlook:
    optimizer, rng = Optimizer([(-5, 10), (2, 3)], seed=1, noisy=noisy), np.random.default_rng(2)
    for x in rng.uniform([-5, 2], [10, 3], (14, 2)):
        optimizer.observe(x, float(np.exp(0.3 * x[0]) + 20.0 * (x[1] - 2.4) ** 2))
    outlook = optimizer.model().belief.exploring.told
    assert outlook is not None
    return outlook


def test_leaving_a_result_out_is_conditioning_on_the_others() -> None:
    for candidate in told().candidates:
        gp, others = candidate.gp, np.delete(np.arange(14), 5)
        y = gp.y + gp.constant
        without = condition(gp.kernel, gp.noise, gp.X[others], y[others], constant=gp.constant, effects=gp.effects)
        mean, variance = without.predict(gp.X[[5]])
        means, sds, log_ps = candidate.left_out
        noisy = float(variance[0]) + gp.noise
        assert means[5] == pytest.approx(float(mean[0]), abs=1e-6)
        assert sds[5] == pytest.approx(np.sqrt(noisy * 15 / 13), rel=1e-4)
        density = -0.5 * np.log(noisy) - 7.5 * np.log1p((y[5] - mean[0]) ** 2 / noisy / 14)
        assert log_ps[5] - candidate.log_slope[5] == pytest.approx(float(density), abs=1e-4)


def test_an_unknown_constant_is_one_more_part_of_the_kernel() -> None:
    """Witness: the same model with the constant's prior as a kernel that is the same everywhere."""
    candidate = told(noisy=True).candidates[0]
    gp, Z = candidate.gp, np.array([[0.1, 0.9], [0.7, 0.2]])
    prior = 1.0 / candidate.constant_precision
    y = gp.y + gp.constant
    assert gp.effects is not None
    K = gp.kernel(gp.X, gp.X) + gp.effects.covariances(gp.X, gp.X) + gp.noise * np.eye(14) + prior
    k = gp.covariances(Z) + prior
    own = gp.kernel.outputscale + np.diag(gp.effects.covariances(Z, Z)) + prior
    variance = own - np.einsum("nm,nm->m", k, np.linalg.solve(K, k))
    mean, sd = candidate.predict(Z).T
    np.testing.assert_allclose(sd**2 * 13 / 15, variance, rtol=1e-4)
    np.testing.assert_allclose(mean, k.T @ np.linalg.solve(K, y), rtol=1e-4, atol=1e-6)


def test_what_looks_like_noise_is_the_functions_own_unless_values_are_noisy() -> None:
    assert all(each.rough == each.gp.noise for each in told().candidates)
    assert all(each.rough == 0.0 for each in told(noisy=True).candidates)


def test_values_that_are_off_by_far_hardly_change_what_is_told_where_values_are_noisy() -> None:
    """One in five is off by a Cauchy number. Without a model of ranks the error is 2.2 here, 0.13 on another seed."""
    rng = np.random.default_rng(3)
    X = rng.random((60, 2))
    optimizer = Optimizer([(0, 1), (0, 1)], seed=0, noisy=True, n_initial=0)
    for x in X:
        optimizer.observe(x, bowl(x) + 3.0 * (rng.random() < 0.2) * rng.standard_cauchy())
    Z = rng.random((100, 2))
    errors = np.abs(optimizer.predict(Z).mean - [bowl(z) for z in Z])
    assert np.median(errors) < 0.05


def test_the_same_results_tell_the_same() -> None:
    Z = np.random.default_rng(3).random((7, 2))
    np.testing.assert_array_equal(told().law(Z).quantiles([0.1, 0.5]), told().law(Z).quantiles([0.1, 0.5]))


def test_a_model_counts_where_it_has_held_and_elsewhere_as_it_did_to_begin_with() -> None:
    outlook = told()
    law = outlook.law(np.vstack([outlook.X, outlook.X + 50.0]))
    np.testing.assert_allclose(law.weight.sum(axis=0), 1.0)
    far = np.array([each.prior for each in outlook.candidates])
    np.testing.assert_allclose(law.weight[:, -1], far / far.sum(), rtol=1e-6)
    assert not np.allclose(law.weight[:, 0], far / far.sum(), rtol=0.05)
