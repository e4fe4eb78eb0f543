"""The user's parameters, and the way between their values and the unit cube."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from aegisbo.arrays import Array, as_number, as_vector, frozen
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.space.cube import Continuous, Cube, Grid, OneHot

LARGEST_INT = 2**40  # beyond, neighbours on a logarithmic scale are no longer told apart in float64

Scalar = str | int | float | bool | None  # what JSON and TOML can hold
Params = dict[str, Any]  # values by name: float, int, or one of the choices


@dataclass(frozen=True)
class Real:
    """A number from `low` to `high`; with `log`, equal factors are equal distances."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", _number(self.low, "low"))
        object.__setattr__(self, "high", _number(self.high, "high"))
        _check_bounds(self)
        low, high = self._scale
        if not 0 < high - low < math.inf:
            raise InvalidInput(f"{self} is too narrow or too wide for floating point: choose other bounds.")

    @property
    def axis(self) -> Continuous:
        return Continuous()

    def check(self, value: object) -> float:
        """The value as a float, if it lies within the bounds."""
        return _within(_number(value, "the value"), self)

    def encode(self, value: float) -> list[float]:
        low, high = self._scale
        return [((math.log(value) if self.log else value) - low) / (high - low)]

    def decode(self, u: Array) -> float:  # (1,)
        share = min(max(float(u[0]), 0.0), 1.0)
        if share in (0.0, 1.0):  # hit the ends exactly, also through a logarithm
            return self.high if share else self.low
        low, high = self._scale
        value = low * (1 - share) + high * share
        return min(max(math.exp(value) if self.log else value, self.low), self.high)

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """What the coordinates 0 and 1 stand for, on the scale that is divided evenly."""
        return (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)


@dataclass(frozen=True)
class Int:
    """One of the integers low, low + step, ..., high; with `log`, equal factors are equal distances."""

    low: int
    high: int
    log: bool = False
    step: int = 1

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, _whole(getattr(self, name), name))
        _check_bounds(self)
        if self.step < 1:
            raise InvalidInput(f"step must be 1 or more, got {self.step}.")
        if beyond := (self.high - self.low) % self.step:
            raise InvalidInput(f"{self} never reaches its high: set high={self.high - beyond} or another step.")
        if max(-self.low, self.high) > LARGEST_INT:
            raise InvalidInput(f"{self} goes beyond {LARGEST_INT}: use Real, and round inside the function.")

    @cached_property
    def axis(self) -> Grid:
        return Grid(self.low, self.high, self.step, self.log)

    def check(self, value: object) -> int:
        """The integer on the grid that is nearest to a value within the bounds."""
        return self._at(self._level(_within(_number(value, "the value"), self)))

    def encode(self, value: int) -> list[float]:
        return [float(self.axis.points(np.array([self._level(value)]))[0, 0])]

    def decode(self, u: Array) -> int:  # (1,)
        return self._at(int(self.axis.levels(u[None])[0]))

    def _level(self, value: float) -> int:
        return round((value - self.low) / self.step)

    def _at(self, level: int) -> int:
        return self.low + level * self.step


@dataclass(frozen=True, init=False)
class Choice:
    """One of the given values (text, numbers, booleans or None), between which no order is assumed."""

    values: tuple[Scalar, ...]

    def __init__(self, values: Iterable[Scalar]) -> None:
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InvalidInput(f"Choice needs a list of values, got {values!r}.")
        object.__setattr__(self, "values", tuple(v.item() if isinstance(v, np.generic) else v for v in values))
        for value in self.values:
            if not isinstance(value, Scalar) or (isinstance(value, float) and not math.isfinite(value)):
                raise InvalidInput(
                    f"Choice cannot hold {value!r}: use text, finite numbers, True, False or None, "
                    "and look other objects up inside the function."
                )
        if len(set(self.values)) < len(self.values):
            raise InvalidInput(f"{self} holds equal values: leave out all but one of them.")
        if len(self.values) < 2:
            raise InvalidInput(f"{self} leaves nothing to choose: put a constant into the function.")

    @property
    def axis(self) -> OneHot:
        return OneHot(len(self.values))

    def check(self, value: object) -> Scalar:
        """The given choice that equals the value."""
        try:
            return self.values[self.values.index(value)]
        except ValueError:  # not among them, or an array, which has no truth value
            raise InvalidInput(f"{value!r} is not among the choices: use one of {list(self.values)}.") from None

    def encode(self, value: Scalar) -> list[float]:
        return [float(choice == value) for choice in self.values]

    def decode(self, u: Array) -> Scalar:  # (count,)
        return self.values[int(self.axis.levels(u[None])[0])]


Parameter = Real | Int | Choice
Pair = Sequence[float]  # (low, high), short for Real(low, high)
Entry = Parameter | Pair | Any  # Any: one of Optuna's distributions
SpaceLike = Mapping[str, Entry] | Iterable[Entry]
KINDS: dict[str, type[Parameter]] = {"real": Real, "int": Int, "choice": Choice}


@dataclass(frozen=True, init=False)
class Space:
    """An ordered set of parameters, from a dict (named) or a list (unnamed, then called x0, x1, ...).

    The function receives a dict where parameters are named; else a NumPy vector if all are real, and a list of Python
    values if not.
    """

    parameters: Mapping[str, Parameter]
    named: bool

    def __init__(self, spec: SpaceLike) -> None:
        if isinstance(spec, str) or not isinstance(spec, Iterable):
            raise InvalidInput(f"A space is a dict or a list of parameters, got {spec!r}.")
        entries = spec.items() if isinstance(spec, Mapping) else ((f"x{k}", entry) for k, entry in enumerate(spec))
        object.__setattr__(self, "parameters", {name: _parameter(name, entry) for name, entry in entries})
        object.__setattr__(self, "named", isinstance(spec, Mapping))
        if not self.parameters:
            raise InvalidInput("A space needs at least one parameter, got none.")

    @classmethod
    def from_description(cls, description: Mapping[str, Any] | Sequence[Any]) -> Space:
        """The space that `describe` described; a space file in TOML reads as such a description, too."""
        if isinstance(description, Mapping):
            return cls({name: _from_table(name, table) for name, table in description.items()})
        return cls([_from_table(f"x{k}", table) for k, table in enumerate(description)])

    def describe(self) -> dict[str, Any] | list[Any]:
        """The parameters in JSON's types: a dict if they are named, else a list."""
        names = {kind: name for name, kind in KINDS.items()}
        tables = {name: {"type": names[type(entry)], **asdict(entry)} for name, entry in self.parameters.items()}
        return tables if self.named else list(tables.values())

    @cached_property
    def cube(self) -> Cube:
        """What strategies may know of this space."""
        return Cube(tuple(parameter.axis for parameter in self.parameters.values()))

    def check(self, x: object) -> Params:
        """The values of `x` by name, within bounds and on the grid; `x` is what the function receives, or by name."""
        values = self._by_name(x)
        checked = {}
        for name, parameter in self.parameters.items():
            with _naming(name):
                checked[name] = parameter.check(values[name])
        return checked

    def to_unit(self, x: object) -> Array:  # (width,)
        """The point of the cube that stands for `x`."""
        params = self.check(x)
        return np.array([u for name, parameter in self.parameters.items() for u in parameter.encode(params[name])])

    def params(self, u: Array) -> Params:  # (width,)
        """The values, by name, that a point of the cube stands for."""
        u = as_vector(u, "A point of the cube", self.cube.width)
        blocks = zip(self.parameters.items(), self.cube.columns, strict=True)
        return {name: parameter.decode(u[columns]) for (name, parameter), columns in blocks}

    def from_unit(self, u: Array) -> Any:  # (width,)
        """What the function receives at a point of the cube."""
        return self.arrange(self.params(u))

    def arrange(self, params: Params) -> Any:
        """Values by name in the form that the function receives."""
        if self.named:
            return dict(params)
        values = [params[name] for name in self.parameters]
        if self.cube.continuous:
            return frozen(np.array(values))
        return values

    def _by_name(self, x: object) -> Mapping[str, object]:
        if isinstance(x, Mapping):
            if set(x) != set(self.parameters):
                raise InvalidInput(f"x must have the names {', '.join(self.parameters)}, got {x!r}.")
            return x
        if self.named:
            raise InvalidInput(f"x must be a dict with the names {', '.join(self.parameters)}, got {x!r}.")
        if isinstance(x, str) or not isinstance(x, Iterable) or len(values := list(x)) != len(self.parameters):
            raise InvalidInput(f"x must hold {len(self.parameters)} values, got {x!r}.")
        return dict(zip(self.parameters, values, strict=True))


def _parameter(name: str, entry: Entry) -> Parameter:
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"A parameter's name must be text, got {name!r}.")
    if isinstance(entry, Parameter):
        return entry
    if type(entry).__module__ == "optuna.distributions":
        return _from_optuna(name, entry)
    if isinstance(entry, str) or not isinstance(entry, Iterable) or len(bounds := list(entry)) != 2:
        raise InvalidInput(f"Parameter {name!r} must be Real, Int, Choice or a pair (low, high), got {entry!r}.")
    with _naming(name):
        return Real(low=bounds[0], high=bounds[1])


def _from_optuna(name: str, distribution: Any) -> Parameter:
    """The parameter that one of Optuna's distributions means; Optuna itself need not be known here."""
    with _naming(name):
        match type(distribution).__name__:
            case "FloatDistribution" if distribution.step is None:
                return Real(distribution.low, distribution.high, distribution.log)
            case "IntDistribution":
                return Int(distribution.low, distribution.high, distribution.log, distribution.step)
            case "CategoricalDistribution":
                return Choice(distribution.choices)
        raise InvalidInput(f"{distribution!r} has no counterpart: use an int, and scale it in the function.")


def _from_table(name: str, table: Mapping[str, Any]) -> Parameter:
    if not isinstance(table, Mapping) or "type" not in table:
        raise InvalidInput(f"Parameter {name!r} must have a type ({', '.join(KINDS)}), got {table!r}.")
    entries = dict(table)
    kind = entries.pop("type")
    with _naming(name):
        if kind not in KINDS:
            raise UnknownName("parameter type", str(kind), KINDS)
        known = {field.name: field.default for field in fields(KINDS[kind])}
        for key in entries:
            if key not in known:
                raise UnknownName(f"key of type {kind}", key, known)
        for key, default in known.items():
            if default is MISSING and key not in entries:
                raise InvalidInput(f"{key!r} is missing.")
        return KINDS[kind](**entries)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Say in an error message which parameter it is about."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"Parameter {name!r}: {error}") from None


def _number(value: object, what: str) -> float:
    number = as_number(value)
    if number is None or not math.isfinite(number):
        raise InvalidInput(f"{what} must be a finite number, got {value!r}.")
    return number


def _whole(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidInput(f"{what} must be an integer, got {value!r}: use Real if it may have decimals.")
    return int(value)


def _check_bounds(parameter: Real | Int) -> None:
    if not isinstance(parameter.log, bool):
        raise InvalidInput(f"log must be True or False, got {parameter.log!r}.")
    if parameter.low > parameter.high:
        raise InvalidInput(f"{parameter} has its bounds reversed: swap low and high.")
    if parameter.low == parameter.high:
        raise InvalidInput(f"{parameter} leaves nothing to choose: put a constant into the function.")
    if parameter.log and parameter.low <= 0:
        raise InvalidInput(f"{parameter} has no logarithm at {parameter.low}: raise low above 0 or leave out log.")


def _within(value: float, bounds: Real | Int) -> float:
    if not bounds.low <= value <= bounds.high:
        raise InvalidInput(f"{value} is not within [{bounds.low}, {bounds.high}]: widen the bounds or leave it out.")
    return value
