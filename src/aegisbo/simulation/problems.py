"""Benchmark problems by name: functions with known answers, families of instances, and those of other packages.

Another package offers a problem through an entry point of the group `aegisbo.problems`. The name of the entry point is
the name of the problem; what it refers to is a `Problem` or a `Family` (see docs/extending.md).
"""

from __future__ import annotations

from dataclasses import replace

from aegisbo.errors import AegisError, InvalidInput, UnknownName
from aegisbo.plugins import Plugins
from aegisbo.simulation.fronts import FRONTS
from aegisbo.simulation.problem import ExactFront, Family, Parameter, Problem
from aegisbo.simulation.synthetic import SYNTHETIC

__all__ = ["ExactFront", "Family", "Parameter", "Problem", "families", "get", "names", "with_fronts"]

_FUNCTIONS = {problem.name: problem for problem in (*SYNTHETIC, *FRONTS)}
_PLUGINS: Plugins[Problem | Family] = Plugins("aegisbo.problems", (Problem, Family))


def names() -> tuple[str, ...]:
    """The names of all single functions: our own in order of dimension, then those of other packages."""
    return tuple(problem.name for problem in _single() if problem.front is None)


def with_fronts() -> tuple[str, ...]:
    """The names of all problems with several objectives, likewise."""
    return tuple(problem.name for problem in _single() if problem.front is not None)


def families() -> tuple[Family, ...]:
    """The problems that come in numbered instances, in order of dimension."""
    found = [each for each in _offered() if isinstance(each, Family)]
    return tuple(sorted(found, key=lambda family: (family.d, family.name)))


def broken() -> dict[str, str]:
    """The names that other packages offer but that cannot be loaded, with the reason."""
    reasons = {}
    for name in _PLUGINS.names():
        try:
            _PLUGINS.get(name)
        except AegisError as error:
            reasons[name] = str(error)
    return reasons


def dimension(name: str) -> int:
    """The number of coordinates of a problem; of an instance of a family, without making the instance."""
    base, _ = _split(name)
    return _find(base).d


def get(name: str, instance: int | None = None) -> Problem:
    """The function called `name`, or an instance of a family: get("push4", instance=3) or get("push4#3")."""
    base, number = _split(name)
    if number is not None and instance is not None:
        raise InvalidInput(f"{name!r} already names an instance: leave out instance={instance}.")
    number = instance if number is None else number
    found = _find(base)
    if isinstance(found, Family):
        if number is None:
            raise InvalidInput(f"{base} has {found.count} instances: name one of them, such as {base + '#1'!r}.")
        return found.instance(number)
    if number is not None:
        raise InvalidInput(f"{base} is a single function: leave out the instance {number}.")
    return found


def _find(base: str) -> Problem | Family:
    """The problem of this name; our own come before those of other packages, named by their entry point."""
    found = _FUNCTIONS.get(base) or _PLUGINS.get(base)
    if found is None:
        raise UnknownName("problem", base, [*_FUNCTIONS, *_PLUGINS.names()])
    return found if found.name == base else replace(found, name=base)


def _single() -> list[Problem]:
    return [*_FUNCTIONS.values(), *(found for found in _offered() if isinstance(found, Problem))]


def _offered() -> list[Problem | Family]:
    """The problems of other packages; a broken one does not hide the others."""
    hidden = {*_FUNCTIONS, *broken()}
    return [_find(name) for name in _PLUGINS.names() if name not in hidden]


def _split(name: str) -> tuple[str, int | None]:
    base, mark, number = name.partition("#")
    if not mark:
        return base, None
    if not number.isdecimal():
        raise InvalidInput(f"{name!r} has no instance number after #: write it like {base + '#1'!r}.")
    return base, int(number)
