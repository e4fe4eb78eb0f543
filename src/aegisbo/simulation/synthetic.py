"""The paper's fifteen synthetic functions, on their own boxes.

Formulae as collected at https://www.sfu.ca/~ssurjano/optimization.html, which the paper refers to. Minima and
minimizers were polished by Newton's method in 60-digit arithmetic and are rounded to the nearest double.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np

from aegisbo.arrays import Array, frozen
from aegisbo.simulation.problem import Problem


def branin(x: Array) -> float:
    """A parabolic valley bent three times through the box by a cosine."""
    valley = x[1] - 5.1 / (4 * pi**2) * x[0] ** 2 + 5 / pi * x[0] - 6
    return float(valley**2 + 10 * (1 - 1 / (8 * pi)) * np.cos(x[0]) + 10)


def eggholder(x: Array) -> float:
    """Waves that grow towards the edge; the best point lies on it."""
    a, b = x[0], x[1] + 47
    return float(-b * np.sin(np.sqrt(abs(b + a / 2))) - a * np.sin(np.sqrt(abs(a - b))))


def goldstein_price(x: Array) -> float:
    """A polynomial of degree eight whose values span six orders of magnitude."""
    a, b = x
    first = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    second = 30 + (2 * a - 3 * b) ** 2 * (18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2)
    return float(first * second)


def six_hump_camel(x: Array) -> float:
    """A polynomial with six local minima, two of them global."""
    a, b = x
    return float((4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2)


_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])  # (4,)
_HARTMANN3_SHARPNESS = np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]])  # (4, 3)
_HARTMANN3_CENTERS = np.array(  # (4, 3); the authors' code has 0.4389 for 0.4387, which lowers the minimum by 3e-4
    [[0.3689, 0.1170, 0.2673], [0.4699, 0.4387, 0.7470], [0.1091, 0.8732, 0.5547], [0.0381, 0.5743, 0.8828]]
)
_HARTMANN6_SHARPNESS = np.array(  # (4, 6)
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
_HARTMANN6_CENTERS = np.array(  # (4, 6)
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def _hartmann(x: Array, sharpness: Array, centers: Array) -> float:
    distances = (sharpness * (x - centers) ** 2).sum(axis=1)  # (4,)
    return float(-_HARTMANN_WEIGHTS @ np.exp(-distances))


def hartmann3(x: Array) -> float:
    """Four Gaussian dips in three dimensions."""
    return _hartmann(x, _HARTMANN3_SHARPNESS, _HARTMANN3_CENTERS)


def hartmann6(x: Array) -> float:
    """Four Gaussian dips in six dimensions."""
    return _hartmann(x, _HARTMANN6_SHARPNESS, _HARTMANN6_CENTERS)


def ackley(x: Array) -> float:
    """A cone under a nearly flat plain, covered with ripples."""
    cone = -20 * np.expm1(-0.2 * np.sqrt(np.mean(x**2)))
    ripples = -np.e * np.expm1(np.mean(np.cos(2 * pi * x)) - 1)
    return float(cone + ripples)  # 20 - 20 exp(.) + e - exp(.), free of cancellation: exactly 0 at the origin


def michalewicz(x: Array) -> float:
    """Steep valleys on a plain, one more of them along each further coordinate."""
    i = np.arange(1, len(x) + 1)
    return float(-np.sum(np.sin(x) * np.sin(i * x**2 / pi) ** 20))


def styblinski_tang(x: Array) -> float:
    """A double well along each coordinate, the left one deeper."""
    return float(np.sum(x**4 - 16 * x**2 + 5 * x) / 2)


def rosenbrock(x: Array) -> float:
    """A flat, curved valley between steep walls."""
    here, following = x[:-1], x[1:]
    return float(np.sum(100 * (following - here**2) ** 2 + (1 - here) ** 2))


_HARTMANN6_MINIMIZER = (
    0.20168951100670543,
    0.15001069182345797,
    0.476873974221897,
    0.2753324304940561,
    0.31165161660011326,
    0.6573005340656203,
)
_MICHALEWICZ_MINIMIZER = (  # the function is a sum over the coordinates, so each has its own best value
    2.2029055201726093,
    pi / 2,
    1.2849915705529245,
    1.9230584698663629,
    1.7204697725658413,
    pi / 2,
    1.454413971362379,
    1.7560865209450263,
    1.6557174168210291,
    pi / 2,
)
_STYBLINSKI_TANG_MINIMIZER = -2.903534027771177  # the leftmost root of 4 x^3 - 32 x + 5


def _points(*rows: Sequence[float]) -> Array:
    return frozen(np.array(rows, dtype=np.float64))  # (k, d)


def _ackley(d: int) -> Problem:
    minimizers = _points([0] * d)
    return Problem(f"Ackley{d}", ackley, ((-32.768, 32.768),) * d, 0.0, minimizers, "Ackley, 1987")


def _michalewicz(d: int, minimum: float) -> Problem:
    minimizers = _points(_MICHALEWICZ_MINIMIZER[:d])
    return Problem(f"Michalewicz{d}", michalewicz, ((0.0, pi),) * d, minimum, minimizers, "Michalewicz, 1992")


def _rosenbrock(d: int) -> Problem:
    minimizers = _points([1] * d)
    return Problem(f"Rosenbrock{d}", rosenbrock, ((-5.0, 10.0),) * d, 0.0, minimizers, "Rosenbrock, 1960")


def _styblinski_tang(d: int, minimum: float) -> Problem:
    minimizers = _points([_STYBLINSKI_TANG_MINIMIZER] * d)
    source = "Styblinski and Tang, 1990"
    return Problem(f"StyblinskiTang{d}", styblinski_tang, ((-5.0, 5.0),) * d, minimum, minimizers, source)


SYNTHETIC = (
    Problem(
        name="Branin",
        function=branin,
        bounds=((-5.0, 10.0), (0.0, 15.0)),
        minimum=0.3978873577297383,  # 5 / (4 pi)
        minimizers=_points((-pi, 12.275), (pi, 2.275), (3 * pi, 2.475)),
        source="Dixon and Szego, 1978",
    ),
    Problem(
        name="Eggholder",
        function=eggholder,
        bounds=((-512.0, 512.0),) * 2,
        minimum=-959.6406627208509,
        minimizers=_points((512.0, 404.2318051137578)),
        source="Whitley, Rana, Dzubera and Mathias, 1996",
    ),
    Problem(
        name="GoldsteinPrice",
        function=goldstein_price,
        bounds=((-2.0, 2.0),) * 2,
        minimum=3.0,
        minimizers=_points((0.0, -1.0)),
        source="Goldstein and Price, 1971",
    ),
    Problem(
        name="SixHumpCamel",
        function=six_hump_camel,
        bounds=((-3.0, 3.0), (-2.0, 2.0)),
        minimum=-1.0316284534898774,
        minimizers=_points((0.08984201310031806, -0.7126564030207396), (-0.08984201310031806, 0.7126564030207396)),
        source="Dixon and Szego, 1978",
    ),
    Problem(
        name="Hartmann3",
        function=hartmann3,
        bounds=((0.0, 1.0),) * 3,
        minimum=-3.8627797873326624,
        minimizers=_points((0.11458887665506896, 0.55564889461693, 0.8525469846866774)),
        source="Hartman, 1973",
    ),
    _ackley(5),
    _michalewicz(5, minimum=-4.687658179088146),
    _styblinski_tang(5, minimum=-195.8308285188571),
    Problem(
        name="Hartmann6",
        function=hartmann6,
        bounds=((0.0, 1.0),) * 6,
        minimum=-3.3223680114155147,
        minimizers=_points(_HARTMANN6_MINIMIZER),
        source="Hartman, 1973",
    ),
    _rosenbrock(7),
    _styblinski_tang(7, minimum=-274.1631599263999),
    _ackley(10),
    _michalewicz(10, minimum=-9.66015171564134),
    _rosenbrock(10),
    _styblinski_tang(10, minimum=-391.6616570377142),
)
