"""Functions outside the paper's set, with known minima: rotated, shifted, ill-conditioned, stepped, noisy, d up to 20.

    python -m benchmarks.problems.functions     checks that a search from many starts finds nothing lower

Rotations and shifts are drawn from the numbers given with the functions, so they never change. Most minima are 0 by
construction: a sum of squares, or of terms that are never negative, which all vanish at the minimizer. Where many
points reach the minimum, as on a terrace, one of them is given.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from aegisbo.arrays import Array, frozen
from aegisbo.simulation.problems import Problem, get
from aegisbo.simulation.synthetic import ackley

Function = Callable[[Array], float]


def rastrigin(x: Array) -> float:
    """A bowl with a local minimum near every point of the integer grid."""
    return float(np.sum(x**2 + 10 * (1 - np.cos(2 * pi * x))))


def ellipsoid(x: Array) -> float:
    """A bowl ten thousand times as steep along the last axis as along the first."""
    return float(np.logspace(0, 4, len(x)) @ x**2)


def griewank(x: Array) -> float:
    """A wide bowl with a fine pattern on it."""
    return float(x @ x / 4000 + 1 - np.prod(np.cos(x / np.sqrt(np.arange(1, len(x) + 1)))))


def levy(x: Array) -> float:
    """Waves along each coordinate in a bowl around (1, ..., 1)."""
    w = 1 + (x - 1) / 4
    inner = (w[:-1] - 1) ** 2 * (1 + 10 * np.sin(pi * w[:-1] + 1) ** 2)
    outer = (w[-1] - 1) ** 2 * (1 + np.sin(2 * pi * w[-1]) ** 2)
    return float(np.sin(pi * w[0]) ** 2 + inner.sum() + outer)


def zakharov(x: Array) -> float:
    """A bowl with one direction that grows like a fourth power."""
    slope = np.arange(1, len(x) + 1) @ x / 2
    return float(x @ x + slope**2 + slope**4)


def powell(x: Array) -> float:
    """Blocks of four coordinates, so flat at the minimum that the second derivatives are singular there."""
    a, b, c, d = x.reshape(-1, 4).T
    return float(np.sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4))


def dixon_price(x: Array) -> float:
    """A curved valley through all coordinates."""
    i = np.arange(2, len(x) + 1)
    return float((x[0] - 1) ** 2 + i @ (2 * x[1:] ** 2 - x[:-1]) ** 2)


_SHEKEL_HEIGHTS = np.array([1, 2, 2, 4, 4, 6, 3, 7, 5, 5]) / 10  # (10,)
_SHEKEL_CENTERS = np.array(  # (10, 2), repeated for the other two coordinates
    [[4, 4], [1, 1], [8, 8], [6, 6], [3, 7], [2, 9], [5, 3], [8, 1], [6, 2], [7, 3.6]]
)


def shekel(x: Array) -> float:
    """Ten narrow funnels on a plain."""
    squares = ((x - np.tile(_SHEKEL_CENTERS, 2)) ** 2).sum(axis=1)  # (10,)
    return float(-np.sum(1 / (_SHEKEL_HEIGHTS + squares)))


def stepped_sphere(x: Array) -> float:
    """A bowl made of terraces one unit wide."""
    return float(np.sum(np.round(x) ** 2))


def four_of_twenty(x: Array) -> float:
    """A bowl in four of the coordinates; the others do nothing."""
    return float(np.sum((x[[2, 6, 11, 17]] - [0.3, 0.8, 0.15, 0.6]) ** 2))


_PENALTIES = np.array([[0.6, 0.0, 1.5, 0.9], [1.2, 0.4, 0.7, 0.0]])  # (2, 4) of the choices; no order in them


def mixed_steps(x: Array) -> float:
    """Three real parameters, two whole numbers that shift them, and two choices of four: all zero at the best."""
    real, whole, choice = x[:3], np.round(x[3:5]), np.minimum(x[5:], 3).astype(int)
    bowl = (real[0] - 0.1 * whole[0]) ** 2 + (real[1] - 0.1 * whole[1]) ** 2 + (real[2] - real[0] * real[1]) ** 2
    steps = 0.05 * ((whole - [7, 2]) ** 2).sum()
    return float(10 * bowl + steps + _PENALTIES[[0, 1], choice].sum())


def moved(name: str, function: Function, d: int, radius: float, number: int, *, rotated: bool, source: str) -> Problem:
    """A function with its minimum 0 at the origin, shifted within the inner half of the box and perhaps rotated."""
    rng = np.random.default_rng(number)
    shift = rng.uniform(-radius / 2, radius / 2, d)
    rotation = _rotation(d, rng) if rotated else np.eye(d)
    bounds = ((-radius, radius),) * d
    return Problem(name, lambda x: function(rotation @ (x - shift)), bounds, 0.0, frozen(shift[None]), source)


def _rotation(d: int, rng: np.random.Generator) -> Array:  # (d, d)
    """An orthogonal matrix, uniformly distributed."""
    Q, R = np.linalg.qr(rng.normal(size=(d, d)))
    return Q * np.sign(np.diag(R))


def _plain(name: str, function: Function, bounds: tuple[tuple[float, float], ...], best: Array, source: str) -> Problem:
    """A function whose minimum is 0."""
    return Problem(name, function, bounds, 0.0, frozen(np.array(best, dtype=float)[None]), source)


_DIXON_PRICE_MINIMIZER = [2.0 ** (2.0 ** (1 - i) - 1) for i in range(1, 13)]  # 2 x_i^2 = x_(i-1) and x_1 = 1
_SHEKEL_MINIMIZER = (4.000746868270634, 3.9995094800857736) * 2
_FOUR = np.full(20, 0.5)
_FOUR[[2, 6, 11, 17]] = 0.3, 0.8, 0.15, 0.6
_HARTMANN6 = get("Hartmann6")

_PROBLEMS = (
    Problem(
        name="Shekel4",
        function=shekel,
        bounds=((0.0, 10.0),) * 4,
        minimum=-10.536443153483528,  # Newton's method in 60-digit arithmetic
        minimizers=frozen(np.array([_SHEKEL_MINIMIZER])),
        source="Shekel, 1971",
    ),
    moved("RotatedRastrigin4", rastrigin, 4, 5.12, number=1, rotated=True, source="Rastrigin, 1974"),
    moved("RotatedAckley6", ackley, 6, 32.768, number=2, rotated=True, source="Ackley, 1987"),
    moved("Griewank6", griewank, 6, 600.0, number=3, rotated=False, source="Griewank, 1981"),
    moved("SteppedSphere6", stepped_sphere, 6, 10.0, number=4, rotated=False, source="De Jong, 1975"),
    Problem(
        name="NoisyHartmann6",
        function=_HARTMANN6.function,
        bounds=_HARTMANN6.bounds,
        minimum=_HARTMANN6.minimum,  # without the noise, which `NOISE` tells
        minimizers=_HARTMANN6.minimizers,
        source=_HARTMANN6.source,
    ),
    _plain(
        "MixedSteps7",
        mixed_steps,
        ((0.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (-0.5, 9.5), (-0.5, 4.5), (0.0, 4.0), (0.0, 4.0)),
        best=np.array([0.7, 0.2, 0.14, 7, 2, 1.5, 3.5]),
        source="made up, as a training with whole numbers and choices",
    ),
    moved("ShiftedRastrigin8", rastrigin, 8, 5.12, number=5, rotated=False, source="Rastrigin, 1974"),
    moved("RotatedEllipsoid8", ellipsoid, 8, 5.0, number=6, rotated=True, source="Hansen and others, 2009"),
    _plain("Levy8", levy, ((-10.0, 10.0),) * 8, best=np.ones(8), source="Levy and Montalvo, 1985"),
    _plain("Zakharov10", zakharov, ((-5.0, 10.0),) * 10, best=np.zeros(10), source="Zakharov"),
    _plain("Powell12", powell, ((-4.0, 5.0),) * 12, best=np.zeros(12), source="Powell, 1962"),
    _plain(
        "DixonPrice12",
        dixon_price,
        ((-10.0, 10.0),) * 12,
        best=np.array(_DIXON_PRICE_MINIMIZER),
        source="Dixon and Price, 1989",
    ),
    _plain("FourOfTwenty20", four_of_twenty, ((0.0, 1.0),) * 20, best=_FOUR, source="a sphere with idle coordinates"),
)
OWN = {problem.name: problem for problem in _PROBLEMS}
NOISE = {"NoisyHartmann6": 0.1}  # standard deviation of what is added to each value; regret is measured without it


def lowest_found(problem: Problem, starts: int = 64) -> float:
    """The lowest value that searches reach from a Sobol sequence and from the minimizers themselves, shaken."""
    low, high = np.array(problem.bounds).T
    rng = np.random.default_rng(0)
    shaken = problem.minimizers + 0.01 * (high - low) * rng.normal(size=(starts, problem.d))
    spread = qmc.scale(qmc.Sobol(problem.d, rng=rng).random(starts), low, high)
    points = np.clip(np.vstack([shaken, spread]), low, high)
    # Differences may step out of the box by rounding; the problem itself would refuse such a point.
    return min(minimize(lambda x: problem(np.clip(x, low, high)), x, bounds=problem.bounds).fun for x in points)


def main() -> None:
    print(f"{'function':20}{'d':>3}{'minimum':>12}{'at minimizer':>14}{'lowest found':>14}")
    for problem in OWN.values():
        value, lowest = problem(problem.minimizers[0]) - problem.minimum, lowest_found(problem) - problem.minimum
        print(f"{problem.name:20}{problem.d:3}{problem.minimum:12.5g}{value:14.2g}{lowest:14.2g}", flush=True)


if __name__ == "__main__":
    main()
