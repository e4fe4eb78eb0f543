"""Every synthetic problem, as one family: right values, right minimum, and nothing lower anywhere."""

from __future__ import annotations

import pickle
from math import exp, pi, sin, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import qmc

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.simulation import problems
from aegisbo.simulation.problems import Problem

# Values of an independent implementation at three fixed points, given as fractions of the box; the first d are used.
ZIGZAG = np.array([0.15, 0.8, 0.35, 0.6, 0.95, 0.05, 0.45, 0.7, 0.25, 0.55])
FRACTIONS = (ZIGZAG, 1 - ZIGZAG, ZIGZAG**2)
WITNESS = {
    "Branin": (1.542423853160793, 13.4784152956491, 53.46386082104076),
    "Eggholder": (140.55259243079155, 199.7416526057833, 224.9623102705297),
    "GoldsteinPrice": (150209.08076544007, 39351.73451264001, 37759.51450039055),
    "SixHumpCamel": (5.402097000000003, 5.40209699999999, 73.22300602762135),
    "Hartmann3": (-0.812921703054252, -0.602550546578866, -0.030403685247065663),
    "Ackley5": (21.51391734706155, 21.51391734706155, 21.509514932569306),
    "Michalewicz5": (-0.9719511008258892, -0.13331326375150304, -0.8750796616614251),
    "StyblinskiTang5": (-25.65625, -43.15625, 27.858631835937572),
    "Hartmann6": (-0.9204008925329048, -0.5317051337147574, -0.09526656391409326),
    "Rosenbrock7": (1077188.0625, 1119947.0625, 781705.7768847657),
    "StyblinskiTang7": (2.90625, 10.40625, 84.63713222656253),
    "Ackley10": (21.386386424369572, 21.386386424369576, 21.662143885793053),
    "Michalewicz10": (-1.9523204200466542, -0.21372844955134482, -0.8797028857784824),
    "Rosenbrock10": (1177317.84375, 1275042.09375, 819940.5433740235),
    "StyblinskiTang10": (-53.53125, -46.03124999999999, 74.89138261718753),
}

# Minima as printed in the literature, with half a unit of their last digit.
PUBLISHED = {
    "Branin": (0.397887, 5e-7),
    "Eggholder": (-959.6407, 5e-5),
    "GoldsteinPrice": (3, 0),
    "SixHumpCamel": (-1.0316, 5e-5),
    "Hartmann3": (-3.86278, 5e-6),
    "Ackley5": (0, 0),
    "Michalewicz5": (-4.687658, 5e-7),
    "StyblinskiTang5": (-39.16617 * 5, 5e-6 * 5),
    "Hartmann6": (-3.32237, 5e-6),
    "Rosenbrock7": (0, 0),
    "StyblinskiTang7": (-39.16617 * 7, 5e-6 * 7),
    "Ackley10": (0, 0),
    "Michalewicz10": (-9.66015, 5e-6),
    "Rosenbrock10": (0, 0),
    "StyblinskiTang10": (-39.16617 * 10, 5e-6 * 10),
}

BY_HAND = [
    ("Branin", [0, 0], 56 - 10 / (8 * pi)),
    ("Eggholder", [0, 0], -47 * sin(sqrt(47))),
    ("GoldsteinPrice", [0, 0], 20 * 30),
    ("SixHumpCamel", [1, 1], 4 - 2.1 + 1 / 3 + 1),
    ("Ackley5", [1] * 5, 20 - 20 * exp(-0.2)),
    ("Ackley10", [-1] * 10, 20 - 20 * exp(-0.2)),
    ("Michalewicz5", [pi / 2] * 5, -(1 + 3 / 2**10)),
    ("Michalewicz10", [pi / 2] * 10, -(3 + 5 / 2**10)),
    ("StyblinskiTang7", [1] * 7, -5 * 7),
    ("Rosenbrock10", [0] * 10, 9),
    ("Rosenbrock7", [-1] * 7, 6 * (400 + 4)),
]

SMOOTH = [name for name in problems.names() if not name.startswith("Ackley")]  # its minimum is the tip of a cone


@pytest.fixture(params=problems.names())
def problem(request: pytest.FixtureRequest) -> Problem:
    return problems.get(request.param)


def box(problem: Problem) -> tuple[Array, Array]:
    low, high = np.array(problem.bounds).T
    return low, high - low


def known_minimum(problem: Problem) -> float:
    assert problem.minimum is not None
    return problem.minimum


def test_the_papers_fifteen_are_there() -> None:
    assert set(problems.names()) == set(WITNESS)
    assert [problems.get(name).d for name in problems.names()] == [2, 2, 2, 2, 3, 5, 5, 5, 6, 7, 7, 10, 10, 10, 10]


def test_values_agree_with_an_independent_implementation(problem: Problem) -> None:
    low, width = box(problem)
    values = [problem(low + width * fraction[: problem.d]) for fraction in FRACTIONS]
    np.testing.assert_allclose(values, WITNESS[problem.name], rtol=1e-12)


@pytest.mark.parametrize(("name", "x", "value"), BY_HAND)
def test_values_agree_with_hand_computation(name: str, x: list[float], value: float) -> None:
    assert problems.get(name)(x) == pytest.approx(value, rel=1e-13)


def test_minimum_is_the_published_one(problem: Problem) -> None:
    value, half_digit = PUBLISHED[problem.name]
    assert problem.minimum == pytest.approx(value, rel=1e-15, abs=half_digit)


def test_every_minimizer_reaches_the_minimum(problem: Problem) -> None:
    assert problem.minimizers.shape[1] == problem.d
    for x in problem.minimizers:
        assert problem(x) == pytest.approx(problem.minimum, rel=1e-13, abs=0)


@pytest.mark.long
def test_nothing_is_lower_than_the_minimum(problem: Problem) -> None:
    low, width = box(problem)
    sobol = low + width * qmc.Sobol(problem.d, scramble=False).random_base2(14)  # (2^14, d)
    values = np.array([problem.function(x) for x in sobol])
    starts = np.vstack([sobol[np.argsort(values)[:20]], problem.minimizers])
    polished = [minimize(problem.function, x, method="L-BFGS-B", bounds=problem.bounds).fun for x in starts]
    minimum = known_minimum(problem)
    assert min(values.min(), *polished) >= minimum - 1e-10 * max(1, abs(minimum))


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_interior_minimizers_are_stationary(name: str) -> None:
    problem = problems.get(name)
    low, width = box(problem)
    for x in problem.minimizers:
        for i in np.flatnonzero((x > low) & (x < low + width)):
            step = 1e-5 * width[i] * np.eye(problem.d)[i]
            before, here, after = (problem.function(x + k * step) for k in (-1, 0, 1))
            slope, curvature = (after - before) / 2, after - 2 * here + before
            assert curvature > 0
            assert abs(slope / curvature) < 1e-2  # the parabola through the three has its tip within 1e-7 of the box


def test_coordinates_of_the_separable_minimizers_are_roots_of_their_derivatives() -> None:
    (styblinski_tang,) = problems.get("StyblinskiTang7").minimizers
    np.testing.assert_allclose(styblinski_tang, min(np.roots([4, 0, -32, 5])), rtol=1e-14)
    (x,) = problems.get("Michalewicz10").minimizers
    phase = np.arange(1, 11) * x**2 / pi
    np.testing.assert_allclose(
        np.cos(x) * np.sin(phase), -40 / x * phase * np.sin(x) * np.cos(phase), rtol=0, atol=1e-12
    )


def test_eggholder_falls_towards_the_edge_that_holds_its_minimum() -> None:
    eggholder = problems.get("Eggholder")
    (x,) = eggholder.minimizers
    assert x[0] == eggholder.bounds[0][1]
    assert eggholder(x - [1e-4, 0]) > eggholder(x) + 1e-6


def test_hartmann3_uses_the_true_constant() -> None:
    center = [0.4699, 0.4387, 0.7470]  # here the second of the four dips is at its deepest along coordinate 2
    others = 0.0
    for weight, sharpness, other in [
        (1.0, (3.0, 10, 30), (0.3689, 0.1170, 0.2673)),
        (3.0, (3.0, 10, 30), (0.1091, 0.8732, 0.5547)),
        (3.2, (0.1, 10, 35), (0.0381, 0.5743, 0.8828)),
    ]:
        others += weight * exp(-sum(a * (x - c) ** 2 for a, x, c in zip(sharpness, center, other, strict=True)))
    assert problems.get("Hartmann3")(center) == pytest.approx(-1.2 - others, rel=1e-14)


def test_problems_travel_to_other_processes(problem: Problem) -> None:
    copy = pickle.loads(pickle.dumps(problem))
    assert copy(problem.minimizers[0]) == problem(problem.minimizers[0])


def test_known_answers_cannot_be_overwritten(problem: Problem) -> None:
    with pytest.raises(ValueError, match="read-only"):
        problem.minimizers[0, 0] = 0


def test_a_vector_of_the_wrong_length_is_refused(problem: Problem) -> None:
    with pytest.raises(InvalidInput, match=rf"x of {problem.name} must have shape \({problem.d},\), got shape"):
        problem([0.5] * (problem.d + 1))


@pytest.mark.parametrize("beyond", [-1e-9, 1 + 1e-9])
def test_a_point_outside_the_box_is_refused(problem: Problem, beyond: float) -> None:
    low, width = box(problem)
    x = low + width / 2
    x[-1] = low[-1] + beyond * width[-1]
    with pytest.raises(InvalidInput, match=rf"x\[{problem.d - 1}\] of {problem.name} is .* within \["):
        problem(x)


def test_the_box_includes_its_corners(problem: Problem) -> None:
    low, high = np.array(problem.bounds).T
    assert np.isfinite([problem(low), problem(high)]).all()


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="'Brannin': did you mean 'Branin'"):
        problems.get("Brannin")
