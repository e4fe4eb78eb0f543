"""The networks behind the Profet instances: their arithmetic, and the public networks as oracles."""

from __future__ import annotations

import json
from math import exp, tanh
from pathlib import Path

import numpy as np
import pytest
from aegis_paper.problems.profet_data import read_public_network
from aegis_paper.problems.profet_network import Layers, Network, Output, Scaling, network_of_task
from scipy.stats import qmc

from aegisbo.errors import InvalidInput

# Public posterior draw 42 of each problem at points 1 to 5 of the unscrambled Sobol sequence, computed independently.
ORACLE: dict[str, tuple[int, Output, list[float]]] = {
    "svm": (2, "sigmoid", [0.220135, 0.027465, 0.820707, 0.122042, 0.860322]),
    "fcnet": (6, "sigmoid", [0.091382, 0.216397, 0.450467, 0.441419, 0.242295]),
    "xgboost": (8, "exp", [500.2443, 594.9936, 270.5118, 623.3182, 21.3805]),
}


@pytest.mark.parametrize(("output", "last"), [("sigmoid", lambda o: 1 / (1 + exp(-o))), ("exp", exp)])
def test_a_small_network_agrees_with_hand_computation(output: Output, last: object) -> None:
    network = Network(
        W1=np.array([[1.0, -2.0], [0.5, 0.25]]),
        b1=np.array([0.1, -0.3]),
        W2=np.array([[0.7, -0.4], [1.5, 2.0]]),
        b2=np.array([0.2, 0.05]),
        w3=np.array([1.1, -0.6]),
        b3=0.3,
        output=output,
    )
    p, q = tanh(0.2 - 1.8 + 0.1), tanh(0.1 + 0.225 - 0.3)
    r, s = tanh(0.7 * p - 0.4 * q + 0.2), tanh(1.5 * p + 2 * q + 0.05)
    assert callable(last)
    assert network(np.array([0.2, 0.9])) == pytest.approx(last(1.1 * r - 0.6 * s + 0.3), rel=1e-14)


@pytest.mark.parametrize("output", ["sigmoid", "exp"])
def test_place_and_scaling_can_live_in_the_weights(output: Output) -> None:
    """The long way: standardize (x, h), go through the layers, undo the standardization of the error."""
    rng = np.random.default_rng(4)
    d, q, h = 3, 2, 7
    layers = Layers(rng.normal(size=(h, d + q)), rng.normal(size=h), rng.normal(size=(h, h)), rng.normal(size=h),
                    rng.normal(size=h), 0.4)  # fmt: skip
    scaling = Scaling(rng.normal(size=d + q), rng.uniform(0.1, 2, d + q), *((5.5, 4.5) if output == "exp" else ()))
    place = rng.normal(size=q)
    X = rng.random((9, d))
    inputs = (np.hstack([X, np.tile(place, (9, 1))]) - scaling.x_mean) / scaling.x_std
    hidden = np.tanh(np.tanh(inputs @ layers.W1.T + layers.b1) @ layers.W2.T + layers.b2)
    last = (hidden @ layers.w3 + layers.b3) * scaling.y_std + scaling.y_mean
    expected = np.exp(last) if output == "exp" else 1 / (1 + np.exp(-last))
    np.testing.assert_allclose(network_of_task(layers, scaling, place, output).values(X), expected, rtol=1e-12)


def test_unknown_outputs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="'tanh': choose one of sigmoid, exp"):
        Network(np.eye(2), np.zeros(2), np.eye(2), np.zeros(2), np.ones(2), 0.0, output="tanh")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ORACLE)
def test_public_networks_have_their_known_values(name: str, reference_data: Path) -> None:
    d, output, values = ORACLE[name]
    network = network_of_task(*read_public_network(reference_data / "profet" / f"{name}_net42.npz", output), output)
    X = qmc.Sobol(d, scramble=False).random_base2(3)[1:6]
    np.testing.assert_allclose(network.values(X), values, rtol=0, atol={"exp": 5e-4, "sigmoid": 1e-6}[output])
    full = json.loads((reference_data / "profet" / "reference_values.json").read_text("utf-8"))[name]
    np.testing.assert_allclose(network.values(np.array(full["x"])), full["y"], rtol=1e-5)


def test_the_public_svm_network_is_the_public_instance(reference_data: Path) -> None:
    layers, scaling, place = read_public_network(reference_data / "profet" / "svm_net42.npz", "sigmoid")
    with np.load(reference_data / "profet" / "svm_instance_values.npz") as archive:
        values = network_of_task(layers, scaling, place, "sigmoid").values(archive["X"])
        np.testing.assert_allclose(values, archive["F"][42], rtol=0, atol=1e-6)
