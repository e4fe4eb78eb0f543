"""Where the best point is expected: what may be written, and what it is worth at any point of the cube."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from aegisbo.errors import InvalidInput
from aegisbo.space import Choice, Int, Real, Space, read_space
from aegisbo.space.guess import LEAST, WIDTH

SPACE = Space(
    {
        "lr": Real(1e-6, 1e-1, log=True, guess=1e-3),
        "wide": Real(-5, 10, guess=(-2, 1)),
        "free": Real(2, 3),
        "units": Int(16, 512, log=True, guess=(64, 128)),
        "act": Choice(["relu", "tanh", None], guess={"relu": 3, None: 1}),
        "momentum": Real(0, 1, when={"act": "relu"}, guess=0.9),
    }
)
TOML = """
[lr]
type = "real"
low = 1e-6
high = 0.1
log = true
guess = 1e-3
[wide]
type = "real"
low = -5
high = 10
guess = [-2, 1]
[act]
type = "choice"
values = ["relu", "tanh"]
guess = {relu = 3, tanh = 1}
[k]
type = "choice"
values = [1, 2]
guess = [[2, 4]]
"""


def bell(away: float) -> float:
    return LEAST + (1 - LEAST) * float(np.exp(-0.5 * (away / WIDTH) ** 2))


def worth(params: dict[str, Any]) -> float:
    assert SPACE.cube.guess is not None
    return float(np.exp(SPACE.cube.guess.log_value(SPACE.to_unit(params)[None])[0]))


def test_a_point_is_worth_the_product_over_the_parameters_that_exist() -> None:
    at_it = {"lr": 1e-3, "wide": 0.3, "free": 2.9, "units": 100, "act": "relu", "momentum": 0.9}
    assert worth(at_it) == pytest.approx(1.0)
    assert worth({**at_it, "lr": 1e-2}) == pytest.approx(bell(1 / 5))  # a decade of five
    assert worth({**at_it, "wide": 2.5}) == pytest.approx(bell(1.5 / 15))
    assert worth({**at_it, "wide": -3.5}) == pytest.approx(bell(1.5 / 15))
    without = {name: value for name, value in at_it.items() if name != "momentum"}
    assert worth({**without, "act": "tanh"}) == pytest.approx(LEAST)
    assert worth({**without, "act": None}) == pytest.approx(LEAST + (1 - LEAST) / 3)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_precision_is_that_of_the_points(kind: type) -> None:
    Z = SPACE.cube.fill(np.random.default_rng(0).random((9, SPACE.cube.parameters))).astype(kind)
    assert SPACE.cube.guess is not None
    assert SPACE.cube.guess.log_value(Z).dtype == kind


def test_the_gradient_is_that_of_differences_and_0_where_an_axis_does_not_exist() -> None:
    guess, rng = SPACE.cube.guess, np.random.default_rng(1)
    assert guess is not None
    Z = SPACE.cube.without_absent(rng.uniform(0.05, 0.95, (40, SPACE.cube.width)))
    value, gradient = guess.log_value_and_gradient(Z)
    np.testing.assert_allclose(value, guess.log_value(Z))
    np.testing.assert_allclose(value, guess.of_each(Z).sum(axis=1))
    for k in range(SPACE.cube.width):
        step = np.where(np.arange(SPACE.cube.width) == k, 1e-6, 0.0)
        slope = (guess.log_value(Z + step) - guess.log_value(Z - step)) / 2e-6
        np.testing.assert_allclose(gradient[:, k], slope, rtol=1e-4, atol=1e-4)
    assert (Z[:, -1] < 0).any()
    assert (gradient[Z[:, -1] < 0, -1] == 0).all()


def test_points_are_drawn_as_often_as_they_are_worth() -> None:
    guess, n = SPACE.cube.guess, 200_000
    assert guess is not None
    U = guess.drawn(np.random.default_rng(2).random((n, SPACE.cube.parameters)))
    total = quad(lambda u: bell(max(abs(u - 0.6), 0.0)), 0, 1, points=[0.6])[0]  # lr
    share = quad(lambda u: bell(max(abs(u - 0.6), 0.0)), 0.55, 0.7)[0] / total
    assert np.mean((U[:, 0] > 0.55) & (U[:, 0] < 0.7)) == pytest.approx(share, abs=4 * np.sqrt(0.25 / n) + 1e-3)
    weights = np.array([1.0, LEAST, LEAST + (1 - LEAST) / 3])  # act
    found = np.bincount((3 * U[:, 4]).astype(int), minlength=3) / n
    np.testing.assert_allclose(found, weights / weights.sum(), atol=4 * np.sqrt(0.25 / n))
    np.testing.assert_allclose(np.quantile(U[:, 2], [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.01)  # free


def test_the_middle_of_the_guess() -> None:
    assert SPACE.cube.guess is not None
    z = SPACE.cube.fill(SPACE.cube.guess.centered(np.full((1, SPACE.cube.parameters), 0.25)))[0]
    found = SPACE.params(z)
    assert found["lr"] == 1e-3
    assert (found["wide"], found["free"]) == (pytest.approx(-0.5), pytest.approx(2.25))
    assert found["units"] == pytest.approx(np.sqrt(64 * 128), abs=1)
    assert (found["act"], found["momentum"]) == ("relu", pytest.approx(0.9))


def test_neighbors_on_a_coarse_axis_are_near() -> None:
    space = Space([Int(1, 3, guess=2)])
    assert space.cube.guess is not None
    assert float(np.exp(space.cube.guess.log_value(space.to_unit([1])[None])[0])) > 0.5


def test_a_description_makes_an_equal_space() -> None:
    again = Space.from_description(json.loads(json.dumps(SPACE.describe())))
    assert again == SPACE
    assert again.parameters["act"].guess == {"relu": 3.0, None: 1.0}
    assert "guess" not in json.dumps(Space([Real(0, 1), Int(1, 2), Choice(["a", "b"])]).describe())  # as it was


def test_a_space_file_holds_guesses(tmp_path) -> None:
    (tmp_path / "space.toml").write_text(TOML, encoding="utf-8")
    found = read_space(tmp_path / "space.toml").parameters
    assert found["lr"] == Real(1e-6, 0.1, log=True, guess=1e-3)
    assert found["wide"] == Real(-5, 10, guess=(-2, 1))
    assert found["act"] == Choice(["relu", "tanh"], guess={"relu": 3, "tanh": 1})
    assert found["k"] == Choice([1, 2], guess={2: 4})


def test_parameters_are_printed_as_they_are_typed() -> None:
    for parameter in SPACE.parameters.values():
        assert eval(repr(parameter)) == parameter


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Real(0, 1, guess=[0.2, 0.4]), Real(0, 1, guess=(0.2, 0.4))),
        (Real(0, 1, guess=np.float64(0.2)), Real(0, 1, guess=0.2)),
        (Real(0, 1, guess=np.array(0.2)), Real(0, 1, guess=0.2)),
        (Int(1, 9, guess=np.array([2, 4])), Int(1, 9, guess=(2, 4))),
        (Choice(["a", "b"], guess="a"), Choice(["a", "b"], guess={"a": 1})),
        (Choice(["a", "b", "c"], guess=["a", "b"]), Choice(["a", "b", "c"], guess={"a": 1, "b": 1})),
        (Choice([None, "b"], guess=[None]), Choice([None, "b"], guess={None: 1})),
    ],
)
def test_what_means_the_same_is_equal(one: Any, other: Any) -> None:
    assert one == other
    assert one.leaning == other.leaning


def test_without_a_guess_a_cube_has_none() -> None:
    assert Space([Real(0, 1), Choice(["a", "b"])]).cube.guess is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Real(0, 1, guess=2), "guess 2: 2.0 is not within [0.0, 1.0]: widen the bounds or leave it out."),
        (lambda: Real(0, 1, guess=(0.5, 2)), "guess 2: 2.0 is not within [0.0, 1.0]"),
        (lambda: Real(0, 1, guess=(0.5, 0.2)), "guess is the range (0.5, 0.2), which is empty: write the smaller"),
        (lambda: Real(0, 1, guess=(0.5, 0.5)), "guess is the range (0.5, 0.5), which is empty"),
        (lambda: Real(0, 1, guess=(0.1, 0.2, 0.3)), "guess must be a number or a range (low, high), got (0.1, 0.2"),
        (lambda: Real(0, 1, guess="0.5"), "guess '0.5': the value must be a finite number, got '0.5'."),
        (lambda: Real(0, 1, guess={"low": 0}), "guess {'low': 0}: the value must be a finite number"),
        (lambda: Real(0, 1, guess=float("nan")), "guess nan: the value must be a finite number, got nan."),
        (lambda: Int(32, 512, step=32, guess=100), "guess 100: 100.0 is not in Int(32, 512, step=32"),
        (lambda: Choice(["a", "b"], guess="c"), "guess 'c': 'c' is not among the choices: use one of ['a', 'b']."),
        (lambda: Choice(["a", "b"], guess={"c": 1}), "guess 'c': 'c' is not among the choices"),
        (lambda: Choice(["a", "b"], guess={"a": -1}), "guess gives 'a' the weight -1: write a number from 0 upwards."),
        (lambda: Choice(["a", "b"], guess={"a": "x"}), "guess gives 'a' the weight 'x'"),
        (lambda: Choice(["a", "b"], guess={"a": 0}), "guess is {'a': 0}, which expects none of the choices"),
        (lambda: Choice(["a", "b"], guess=[]), "guess is [], which expects none of the choices"),
        (lambda: Choice(["a", "b"], guess=[["a", 1, 2]]), "guess ['a', 1, 2]: ['a', 1, 2] is not among the choices"),
    ],
)
def test_a_guess_that_cannot_be_used_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        make()
    assert str(error.value).startswith(message)


def test_a_space_says_which_parameter_it_is(tmp_path) -> None:
    with pytest.raises(InvalidInput, match=r"Parameter 'lr': guess 5: 5\.0 is not within"):
        Space.from_description({"lr": {"type": "real", "low": 0, "high": 1, "guess": 5}})
