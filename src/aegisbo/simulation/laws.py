"""Laws of job times: how long the jobs of a simulated run take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from aegisbo.arrays import as_vector
from aegisbo.errors import InvalidInput, UnknownName


class Law(Protocol):
    """How long jobs take, as a quantile function: the same random number gives comparable times under every law."""

    def quantile(self, u: float) -> float:
        """The seconds within which a share `u` of all jobs ends, for `u` in [0, 1)."""


def _require_positive(value: float, name: str) -> None:
    if not 0 < value < math.inf:
        raise InvalidInput(f"{name} is {value}: give a positive, finite number.")


@dataclass(frozen=True)
class HalfNormal:
    """The absolute value of a centered normal variable: the paper's law, of mean 1 unless rescaled."""

    scale: float = math.sqrt(math.pi / 2)

    def __post_init__(self) -> None:
        _require_positive(self.scale, "scale")

    def quantile(self, u: float) -> float:
        return float(self.scale * ndtri((1 + u) / 2))


@dataclass(frozen=True)
class Pareto:
    """A heavy tail: a job longer than t has probability (offset / t)^power; of mean 1 unless changed."""

    power: float = 5.0
    offset: float = 0.8

    def __post_init__(self) -> None:
        _require_positive(self.power, "power")
        _require_positive(self.offset, "offset")

    def quantile(self, u: float) -> float:
        return float(self.offset * (1 - u) ** (-1 / self.power))


@dataclass(frozen=True)
class Exponential:
    """Jobs that end at a constant rate, however long they have been running."""

    rate: float = 1.0

    def __post_init__(self) -> None:
        _require_positive(self.rate, "rate")

    def quantile(self, u: float) -> float:
        return -math.log1p(-u) / self.rate


@dataclass(frozen=True)
class Constant:
    """Jobs that all take the same time, so that asynchronous work falls back into batches."""

    seconds: float = 1.0

    def __post_init__(self) -> None:
        _require_positive(self.seconds, "seconds")

    def quantile(self, u: float) -> float:
        return self.seconds


@dataclass(frozen=True)
class Empirical:
    """One of the measured times, each as likely as the others."""

    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        shortest = min(as_vector(self.seconds, "seconds"), default=None)
        if shortest is None or shortest < 0:
            raise InvalidInput(f"The shortest of the seconds is {shortest}: give at least one, and none below 0.")

    def quantile(self, u: float) -> float:
        return float(np.quantile(self.seconds, u, method="inverted_cdf"))


LAWS: dict[str, Law] = {
    "half-normal": HalfNormal(),
    "pareto": Pareto(),
    "exponential": Exponential(),
    "constant": Constant(),
}


def law_from_text(text: str) -> Law:
    """The law that a text names.

    Args:
        text: a name in `LAWS`, for a law of mean 1; or a file that lists measured seconds.

    Raises:
        UnknownName: there is neither such a law nor such a file.
        InvalidInput: the file holds something else than seconds.
    """
    if text in LAWS:
        return LAWS[text]
    if not Path(text).is_file():
        raise UnknownName("law of job times", text, LAWS)
    try:
        return Empirical(tuple(float(word) for word in Path(text).read_text(encoding="utf-8").split()))
    except ValueError as error:
        raise InvalidInput(f"{text} must list seconds only, separated by white space: {error}") from error
