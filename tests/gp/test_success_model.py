"""The chance to succeed: calibrated, right about edges, and silent where failures have no place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from aegisbo.arrays import Array
from aegisbo.gp.success_model import LearnedSuccess, SuccessModel, learn
from aegisbo.strategies.learned_success import success_model

Region = Callable[[Array], Array]  # the chance to succeed (n,) at X (n, d)


def plane(X: Array) -> Array:
    return (X[:, 0] + 0.5 * X[:, 1] < 0.9).astype(float)


def hole(X: Array) -> Array:
    return (np.linalg.norm(X - 0.5, axis=1) > 0.35).astype(float)


def slope(X: Array) -> Array:
    """Failures become more frequent along one coordinate: 5 % to 95 %."""
    return 0.95 - 0.9 * X[:, 0]


def labeled(region: Region, n: int, d: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    return X, np.where(rng.random(n) < region(X), 1.0, -1.0)


def learned_from(region: Region, n: int, d: int, seed: int) -> tuple[LearnedSuccess, SuccessModel]:
    X, labels = labeled(region, n, d, seed)
    found = learn(X, labels, success_model(d), np.random.default_rng(seed))
    return found, found.given(X, labels)


def log_score(log_p: Array, labels: Array) -> float:
    """Mean log p of labels (m,), given log p of success (m,)."""
    return float(np.where(labels > 0, log_p, np.log(-np.expm1(np.minimum(log_p, -1e-12)))).mean())


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("region", "d"), [(hole, 2), (plane, 6)])
def test_edges_are_learned_nearly_as_well_as_by_a_gp_classifier(region: Region, d: int) -> None:
    ours, theirs = [], []
    for seed in range(2):
        X, labels = labeled(region, 60, d, seed)
        Z, truth = labeled(region, 400, d, 100 + seed)
        found, model = learned_from(region, 60, d, seed)
        assert found.is_credible
        ours.append(log_score(model.log_value(Z), truth))
        classifier = GaussianProcessClassifier(ConstantKernel() * RBF(np.ones(d), (0.05, 20.0)), random_state=0)
        p = classifier.fit(X, labels).predict_proba(Z)[:, 1]
        theirs.append(log_score(np.log(p), truth))
    assert np.mean(ours) > np.mean(theirs) - 0.03
    assert np.mean(ours) > 0.6 * np.log(0.5)  # far better than a coin


@pytest.mark.long
def test_the_chance_is_calibrated_where_failures_are_a_matter_of_luck_and_place() -> None:
    """Of all points with a chance of about p, about p succeed: compared with the true chance by classes of p."""
    predicted, true = [], []
    for seed in range(4):
        found, model = learned_from(slope, 100, 2, seed)
        assert found.is_credible
        Z = np.random.default_rng(50 + seed).random((400, 2))
        predicted.append(np.exp(model.log_value(Z)))
        true.append(slope(Z))
    p, t = np.concatenate(predicted), np.concatenate(true)
    for low, high in ((0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9)):
        among = (p >= low) & (p < high)
        assert among.sum() > 50
        assert abs(p[among].mean() - t[among].mean()) < 0.1


@pytest.mark.long
@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
def test_failures_without_a_place_are_seen_to_have_none(rate: float) -> None:
    credible = [learned_from(lambda X: np.full(len(X), 1.0 - rate), 60, 3, seed)[0].is_credible for seed in range(8)]
    assert sum(credible) <= 1


def test_a_single_failure_says_nothing() -> None:
    X, labels = labeled(plane, 20, 3, 0)
    labels[:] = 1.0
    labels[7] = -1.0
    assert not learn(X, labels, success_model(3), np.random.default_rng(0)).is_credible


def test_the_gradient_is_that_of_the_logarithm() -> None:
    _, model = learned_from(hole, 60, 3, 1)
    for z in np.random.default_rng(4).random((5, 3)):
        error = check_grad(
            lambda x: model.log_value(x[None])[0], lambda x: model.log_value_and_gradient(x[None])[1][0], z
        )
        assert error < 1e-4
    Z = np.random.default_rng(5).random((20, 3))
    np.testing.assert_allclose(model.log_value_and_gradient(Z)[0], model.log_value(Z), rtol=1e-9)
    single = model.log_value(Z.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, model.log_value(Z), atol=1e-3)


def test_a_curve_that_falls_is_not_believed() -> None:
    found, _ = learned_from(plane, 60, 2, 0)
    assert not replace(found, b=-found.b).is_credible
