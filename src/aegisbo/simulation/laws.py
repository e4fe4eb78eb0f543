"""Laws of job times: how long the jobs of a simulated run take, with a mean of 1 second.

A law is a quantile function: the seconds within which a share `u` of all jobs ends, for `u` in [0, 1). The same random
number therefore gives comparable times under every law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.special import ndtri

from aegisbo.arrays import as_vector
from aegisbo.errors import InvalidInput, UnknownName

Law = Callable[[float], float]


def half_normal(u: float) -> float:
    """The absolute value of a centered normal variable: the paper's law."""
    return float(math.sqrt(math.pi / 2) * ndtri((1 + u) / 2))


def pareto(u: float) -> float:
    """A heavy tail: a job longer than t has probability (0.8 / t)^5."""
    return float(0.8 * (1 - u) ** (-1 / 5))


def exponential(u: float) -> float:
    """Jobs that end at a constant rate, however long they have been running."""
    return -math.log1p(-u)


def constant(u: float) -> float:
    """Jobs that all take the same time, so that asynchronous work falls back into batches."""
    return 1.0


def measured(seconds: Sequence[float]) -> Law:
    """One of the measured times, each as likely as the others."""
    shortest = min(as_vector(seconds, "seconds"), default=None)
    if shortest is None or shortest < 0:
        raise InvalidInput(f"The shortest of the seconds is {shortest}: give at least one, and none below 0.")
    return lambda u: float(np.quantile(seconds, u, method="inverted_cdf"))


LAWS: dict[str, Law] = {
    "half-normal": half_normal,
    "pareto": pareto,
    "exponential": exponential,
    "constant": constant,
}


def law_from_text(text: str) -> Law:
    """The law that a text names: one of `LAWS`, or a file that lists measured seconds."""
    if text in LAWS:
        return LAWS[text]
    if not Path(text).is_file():
        raise UnknownName("law of job times", text, LAWS)
    try:
        return measured([float(word) for word in Path(text).read_text(encoding="utf-8").split()])
    except ValueError as error:
        raise InvalidInput(f"{text} must list seconds only, separated by white space: {error}") from error
