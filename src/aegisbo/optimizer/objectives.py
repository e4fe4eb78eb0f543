"""Several objectives, as the user writes them: which numbers of an evaluation are good, and in which direction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.outcome import SD

DIRECTIONS = {"min": False, "minimize": False, "max": True, "maximize": True}
MOST = 4
EXAMPLE = "{'accuracy': 'max', 'latency': 'min'}"


@dataclass(frozen=True)
class Objective:
    """One of several numbers that an evaluation measures, and that the run makes as good as it can."""

    name: str
    maximize: bool

    @property
    def text(self) -> str:
        """As a study stores it, and as it is given on the command line."""
        return f"{self.name} {'max' if self.maximize else 'min'}"


def objectives_of(given: Any, parameters: Iterable[str]) -> tuple[Objective, ...]:
    """The objectives that a mapping of names to directions means, or a list of texts such as "accuracy max".

    Raises:
        InvalidInput: there are too few or too many, one cannot be read, or its name is taken.
    """
    pairs = list(given.items()) if isinstance(given, Mapping) else [_pair(each) for each in _listed(given)]
    objectives = tuple(_objective(name, direction) for name, direction in pairs)
    names = [objective.name for objective in objectives]
    for name in names:
        if name == SD:
            raise InvalidInput(f"An objective cannot be called {SD!r}, which is a standard deviation: rename it.")
        if name in parameters:
            raise InvalidInput(f"The objective {name!r} has the name of a parameter: rename one of them.")
        if names.count(name) > 1:
            raise InvalidInput(f"The objective {name!r} is given twice: leave one out.")
    if len(objectives) == 1:
        which = f"maximize={objectives[0].maximize}"
        raise InvalidInput(
            f"{names[0]!r} is the only objective: leave objectives out, let the function return this number, and give "
            f"{which}."
        )
    if len(objectives) > MOST:
        raise InvalidInput(
            f"There are {len(objectives)} objectives ({', '.join(names)}): give two to {MOST}, and limits for others."
        )
    return objectives


def _listed(given: Any) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidInput(f"objectives must be a mapping such as {EXAMPLE}, got {given!r}.")
    return list(given)


def _pair(given: Any) -> tuple[Any, Any]:
    """The name and the direction in a text."""
    if isinstance(given, Objective):
        return given.name, "max" if given.maximize else "min"
    words = given.split() if isinstance(given, str) else []
    if len(words) != 2:
        raise InvalidInput(
            f"The objective {given!r} cannot be read: write a name and min or max, as in 'accuracy max'."
        )
    return words[0], words[1]


def _objective(name: Any, direction: Any) -> Objective:
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidInput(f"The name of an objective is one word, such as 'latency', got {name!r}.")
    if not isinstance(direction, str) or direction not in DIRECTIONS:
        raise InvalidInput(f"The objective {name!r} is to be {direction!r}: write 'min' or 'max'.")
    return Objective(name, DIRECTIONS[direction])
