"""Problems with several objectives whose fronts have a known hypervolume, on the unit cube of five parameters.

ZDT1 to ZDT3 are those of Zitzler, Deb and Thiele (2000), DTLZ2 that of Deb, Thiele, Laumanns and Zitzler (2005), there
with up to thirty parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import pi, sin, sqrt

import numpy as np

from aegisbo.arrays import Array
from aegisbo.simulation.problem import ExactFront, Problem

PARAMETERS = 5
EDGE = 1.1  # of the reference; the values on the fronts go up to 1


def zdt1(f: float, g: float) -> float:
    """The front, at g = 1, is convex."""
    return g - sqrt(f * g)


def zdt2(f: float, g: float) -> float:
    """The front is concave."""
    return g - f**2 / g


def zdt3(f: float, g: float) -> float:
    """The front has five parts."""
    return g - sqrt(f * g) - f * sin(10 * pi * f)


def zdt(second: Callable[[float, float], float], x: Array) -> tuple[float, float]:
    """The first coordinate, and a function of it and of the mean of the others."""
    f = float(x[0])
    return f, second(f, 1.0 + 9.0 * float(np.mean(x[1:])))


def dtlz2(m: int, x: Array) -> Array:  # (d,) -> (m,)
    """A part of a sphere, whose radius is 1 where all coordinates after the angles are in the middle."""
    angles, rest = x[: m - 1] * pi / 2, x[m - 1 :]
    radius = 1.0 + ((rest - 0.5) ** 2).sum()
    cosines = np.cumprod(np.append(1.0, np.cos(angles)))  # of the first 0, 1, ..., m - 1 angles
    return np.asarray(radius * cosines[::-1] * np.append(1.0, np.sin(angles[::-1])))


def _problem(name: str, function: Callable[[Array], object], m: int, hypervolume: float, source: str) -> Problem:
    front = ExactFront({f"f{k}": EDGE for k in range(1, m + 1)}, hypervolume)
    return Problem(name, function, ((0.0, 1.0),) * PARAMETERS, source=source, front=front)


ZDT, DTLZ = "Zitzler, Deb and Thiele, 2000", "Deb, Thiele, Laumanns and Zitzler, 2005"
STRIPS = EDGE - 1.0 + (EDGE - 1.0) * EDGE  # between a front that ends at (1, 0) and the reference, beyond the unit cube

FRONTS = (
    _problem("ZDT1", partial(zdt, zdt1), 2, STRIPS + 2 / 3, ZDT),
    _problem("ZDT2", partial(zdt, zdt2), 2, STRIPS + 1 / 3, ZDT),
    # From the integral of each part in closed form; its ends were found by Newton's method in 40-digit arithmetic.
    _problem("ZDT3", partial(zdt, zdt3), 2, 1.3317629086570202, ZDT),
    _problem("DTLZ2-m2", partial(dtlz2, 2), 2, EDGE**2 - pi / 4, DTLZ),
    _problem("DTLZ2-m3", partial(dtlz2, 3), 3, EDGE**3 - pi / 6, DTLZ),
)
