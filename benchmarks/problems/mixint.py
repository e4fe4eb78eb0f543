"""The functions of BBOB on whole and real numbers (bbob-mixint, Tusar and others, 2019), as COCO defines them.

A problem is called `mixint-f10-i1-d5`: function 10, instance 1. A fifth each of its parameters has 2, 4, 8 and 16
levels, the others are real. Its points are lists of values of the parameters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aegisbo import Int, Real
from aegisbo.errors import InvalidInput
from benchmarks.problems.bbob import FUNCTIONS

PREFIX = "mixint-"
NAME = re.compile(r"mixint-f(\d+)-i(\d+)-d(\d+)")
DIMENSIONS = (5, 10, 20)


@dataclass(frozen=True)
class MixInt:
    """A problem of whole and real numbers."""

    name: str
    function: int
    instance: int
    d: int

    @cached_property
    def _problem(self) -> Any:
        from cocoex import Suite

        wanted = f"dimensions:{self.d} function_indices:{self.function} instance_indices:{self.instance}"
        return next(iter(Suite("bbob-mixint", "", wanted)))

    @cached_property
    def bounds(self) -> tuple[Int | Real, ...]:
        """The parameters: COCO puts the whole numbers first."""
        sides = list(zip(self._problem.lower_bounds, self._problem.upper_bounds, strict=True))
        whole = self._problem.number_of_integer_variables
        return (*(Int(int(a), int(b)) for a, b in sides[:whole]), *(Real(a, b) for a, b in sides[whole:]))

    @cached_property
    def minimum(self) -> float:
        """The value where COCO says that it lies, which it only tells a file in the working directory."""
        with TemporaryDirectory() as folder, chdir(folder):
            self._problem._best_parameter("print")
            (file,) = Path(folder).iterdir()
            return self([float(value) for value in file.read_text().split()])

    def __call__(self, x: Sequence[Any]) -> float:
        return float(self._problem([float(value) for value in x]))


def mixint(name: str) -> MixInt:
    """The problem of this name."""
    found = NAME.fullmatch(name)
    numbers = [int(part) for part in found.groups()] if found else [0, 0, 0]
    if numbers[0] not in FUNCTIONS or not numbers[1] or numbers[2] not in DIMENSIONS:
        raise InvalidInput(f"{name!r} is no problem of bbob-mixint: write it like 'mixint-f10-i1-d5', d = 5, 10 or 20.")
    return MixInt(name, *numbers)
