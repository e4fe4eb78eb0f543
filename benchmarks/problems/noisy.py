"""The 30 functions of bbob-noisy (Finck and others, 2009) as COCO defines them, with noise that follows from a seed.

A problem is called `noisy-f107-i1-d5`. COCO's own noise cannot be seeded, and COCO does not tell the true value. So the
noise is ours, by the same formulas. The true value comes from the same function with Cauchy noise: that noise is a
constant in most evaluations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput

PREFIX = "noisy-"
NAME = re.compile(r"noisy-f(\d+)-i(\d+)-d(\d+)")
FUNCTIONS = range(101, 131)
KINDS = ("Gaussian", "uniform", "Cauchy")  # of noise, in turn
WEAK = range(101, 107)  # functions with weak noise
# The first function of each three, and the function of BBOB that has the same minimum.
MINIMA = {101: 1, 104: 8, 107: 1, 110: 8, 113: 7, 116: 10, 119: 14, 122: 17, 125: 19, 128: 21}
SURE = 1e-8  # a regret below which there is no noise


@dataclass(frozen=True)
class NoisyBbob:
    """A function of a point that knows its true values, and draws noisy ones."""

    name: str
    function: int
    instance: int
    d: int

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        return ((-5.0, 5.0),) * self.d

    @property
    def kind(self) -> str:
        """Of its noise."""
        return KINDS[(self.function - 101) % 3]

    @property
    def weak(self) -> bool:
        """Whether there is little noise."""
        return self.function in WEAK

    @cached_property
    def minimum(self) -> float:
        from cocoex import BareProblem

        return float(BareProblem("bbob", MINIMA[self._first], self.d, self.instance).best_value())

    def __call__(self, x: Any) -> float:
        """The true value: what the sibling with Cauchy noise says twice, less the constant."""
        said: set[float] = set()
        while (value := float(self._sibling(np.asarray(x, float)))) not in said:
            said.add(value)
        if value - self.minimum < SURE:
            return value
        return value - 1000.0 * (0.01 if self.weak else 1.0) - 1.01 * SURE

    def measured(self, x: Any, rng: Generator) -> float:
        """A value with noise."""
        regret = max(self(x) - self.minimum, 0.0)
        return self.minimum + (regret if regret < SURE else self._loud(regret, rng) + 1.01 * SURE)

    @property
    def _first(self) -> int:
        """The first of the three functions that differ in their noise only."""
        return self.function - (self.function - 101) % 3

    @cached_property
    def _sibling(self) -> Any:
        from cocoex import Suite

        wanted = f"dimensions:{self.d} function_indices:{self._first + 2 - 100} instance_indices:{self.instance}"
        suite = Suite("bbob-noisy", "", wanted)
        return _Kept(suite, next(iter(suite)))

    def _loud(self, regret: float, rng: Generator) -> float:
        level = 0.01 if self.weak else 1.0
        if self.kind == "Gaussian":
            return float(regret * np.exp(level * rng.normal()))
        if self.kind == "uniform":
            power = level * (0.49 + 1.0 / self.d) * rng.random()
            return float(regret * rng.random() ** level * max(1.0, (1e9 / regret) ** power))
        outlier = rng.random() < (0.05 if self.weak else 0.2)
        cauchy = rng.normal() / abs(rng.normal())
        return float(regret + level * max(0.0, 1000.0 + outlier * cauchy))


class _Kept:
    """COCO's problem, which lives as long as its suite."""

    def __init__(self, suite: Any, problem: Any) -> None:
        self._suite, self._problem = suite, problem

    def __call__(self, x: Array) -> float:  # (d,)
        return float(self._problem(x))


def name_of(function: int, instance: int, d: int) -> str:
    return f"{PREFIX}f{function}-i{instance}-d{d}"


def noisy(name: str) -> NoisyBbob:
    """The problem of this name."""
    found = NAME.fullmatch(name)
    numbers = [int(part) for part in found.groups()] if found else [0, 0, 0]
    if numbers[0] not in FUNCTIONS or not numbers[1] or numbers[2] not in (2, 3, 5, 10, 20, 40):
        raise InvalidInput(f"{name!r} is no problem of bbob-noisy: write it like 'noisy-f107-i1-d5', f101 to f130.")
    return NoisyBbob(name, *numbers)
