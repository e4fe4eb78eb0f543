"""Several objectives, as the user writes them: which numbers of an evaluation are good, and in which direction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput, OneNumber, SeveralObjectives, UnknownName
from aegisbo.number import as_finite
from aegisbo.outcome import SD
from aegisbo.space import Params, Space
from aegisbo.space.function import OfParameters

DIRECTIONS = {"min": False, "minimize": False, "max": True, "maximize": True}
MOST = 4
Objectives = Mapping[str, str | tuple[str, Callable[..., float]]] | Iterable[str]  # as a user gives them
EXAMPLE = "{'accuracy': 'max', 'latency': 'min'}"


@dataclass(frozen=True)
class KnownFunction(OfParameters):
    """An objective that follows from the parameters, so that no evaluation need measure it."""

    role = "objective"

    def number(self, values: Params) -> Any:
        """What it returns at a point, which should be a number."""
        if lacking := self.lacking(values):
            raise InvalidInput(
                f"The objective {self.text} takes {lacking[0]!r}, which is not there: give it a default."
            )
        return self.asked(values)


@dataclass(frozen=True)
class Objective:
    """One of several numbers that an evaluation measures, and that the run makes as good as it can."""

    name: str
    maximize: bool
    known: KnownFunction | None = None  # if it need not be measured

    @property
    def text(self) -> str:
        """As a study stores it, and as it is given on the command line; of a function, its name."""
        known = "" if self.known is None else f" {self.known.text}"
        return f"{self.name} {'max' if self.maximize else 'min'}{known}"


@dataclass(frozen=True)
class OnCube:
    """A known objective as strategies see it: on the unit cube, to be minimized."""

    function: KnownFunction
    space: Space
    maximize: bool

    @property
    def here(self) -> bool:
        """Whether the function is here; else only its name is known."""
        return self.function.call is not None

    def __call__(self, Z: Array) -> Array:
        """The values (m,) at Z (m, width), NaN where the function raises or gives no finite number.

        Raises:
            InvalidInput: only the name of the function is known.
        """
        self.function.require_here()
        values = np.array([self._value(params) for params in self.space.params_of_all(Z)], dtype=np.float64)
        return -values if self.maximize else values

    def _value(self, params: Params) -> float:
        try:
            number = as_finite(self.function.number(params))
        except InvalidInput:
            return math.nan
        return math.nan if number is None else number


@dataclass(frozen=True)
class KnownObjectives:
    """All objectives of a run that follow from the parameters; worker processes ask them, too."""

    functions: Mapping[str, KnownFunction]  # by name of the objective
    parameters: tuple[str, ...]

    def __call__(self, x: Any) -> dict[str, Any]:
        """Their values at a point, in the form that the function receives or by name."""
        values = dict(x) if isinstance(x, Mapping) else dict(zip(self.parameters, x, strict=True))
        return {name: function.number(values) for name, function in self.functions.items()}


def objectives_of(given: Any, space: Space) -> tuple[Objective, ...]:
    """The objectives that a mapping of names to directions means, or a list of texts such as "accuracy max".

    Instead of a direction there may be a pair of it and a function of the parameters.

    Raises:
        InvalidInput: there are too few or too many, one cannot be read, or its name is taken.
    """
    entries = list(given.items()) if isinstance(given, Mapping) else _listed(given)
    objectives = tuple(_objective(each, space) for each in entries)
    names = [objective.name for objective in objectives]
    for name in names:
        if name == SD:
            raise InvalidInput(f"An objective cannot be called {SD!r}, which is a standard deviation: rename it.")
        if name in space.parameters:
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
    if objectives and all(each.known for each in objectives):
        raise InvalidInput(f"All objectives ({', '.join(names)}) are functions: one must be measured.")
    return objectives


def require_objective(name: str | None, objectives: Sequence[Objective]) -> None:
    """Refuse a question about one of several objectives that names none of them, or names one where there is none.

    Raises:
        SeveralObjectives: there are several, and none is named.
        UnknownName: none of them has this name.
        OneNumber: there is one number, which has no name.
    """
    names = [each.name for each in objectives]
    if not names and name is not None:
        raise OneNumber(f"There is one number and not several objectives, so there is no {name!r}: leave it out.")
    if names and name is None:
        listed = " or ".join(f"objective={each!r}" for each in names)
        raise SeveralObjectives(f"There are several objectives: say which one is meant, {listed}.")
    if name is not None and name not in names:
        raise UnknownName("objective", name, names)


def _listed(given: Any) -> list[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidInput(f"objectives must be a mapping such as {EXAMPLE}, got {given!r}.")
    return list(given)


def _objective(given: Any, space: Space) -> Objective:
    """The objective that a text or a pair of its name and the rest means."""
    if isinstance(given, Objective):
        return given
    known = None
    match given.split() if isinstance(given, str) else given:
        case [name, direction, str(function)] if function.endswith("()"):  # as a study stores it
            known = KnownFunction.absent(function.removesuffix("()"), space.parameters)
        case [name, (direction, function)] if not isinstance(given, str):
            if not callable(function):
                raise InvalidInput(f"The objective {name!r} has {function!r} beside {direction!r}: give a function.")
            known = KnownFunction.of(function, space.parameters, space.named)
        case [name, direction]:
            pass
        case _:
            raise InvalidInput(
                f"The objective {given!r} cannot be read: write a name and min or max, as in 'accuracy max'."
            )
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidInput(f"The name of an objective is one word, such as 'latency', got {name!r}.")
    if not isinstance(direction, str) or direction not in DIRECTIONS:
        raise InvalidInput(f"The objective {name!r} is to be {direction!r}: write 'min' or 'max'.")
    return Objective(name, DIRECTIONS[direction], known)
