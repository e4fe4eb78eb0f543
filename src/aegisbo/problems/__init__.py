"""Benchmark problems with known answers, by name."""

from __future__ import annotations

from aegisbo.errors import UnknownName
from aegisbo.problems.base import Problem
from aegisbo.problems.synthetic import SYNTHETIC

__all__ = ["Problem", "get", "names"]

_BY_NAME = {problem.name: problem for problem in SYNTHETIC}


def names() -> tuple[str, ...]:
    """The names of all problems, in order of dimension."""
    return tuple(_BY_NAME)


def get(name: str) -> Problem:
    """The problem called `name`."""
    if name not in _BY_NAME:
        raise UnknownName("problem", name, _BY_NAME)
    return _BY_NAME[name]
