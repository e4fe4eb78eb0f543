"""The kinds of parameters, what they accept, and where their values lie on the unit cube."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput
from aegisbo.number import as_finite, as_number
from aegisbo.space.cube import Continuous, Grid, OneHot
from aegisbo.space.guess import WIDTH, Near, Weighted

LARGEST_INT = 2**40  # beyond it, float64 cannot separate neighbors on a logarithmic scale

Scalar = str | int | float | bool | None  # what JSON and TOML can hold
Params = dict[str, Any]  # values by name: float, int, or one of the choices
When = Mapping[str, Any]  # by the name of another parameter: a value, a list of values, or text such as ">= 2"
Range = tuple[float, float]


@dataclass(frozen=True, repr=False)
class Real:
    """A number from `low` to `high`, both included.

    Args:
        low: the smallest value; above 0 with `log`.
        high: the largest value.
        log: whether to search on a logarithmic scale, where 0.01 to 0.1 is as far as 0.1 to 1.
        when: the values of other parameters for which this one exists: {"optimizer": "adam"}, {"optimizer": ["adam",
            "sgd"]}, {"layers": ">= 2"} or {"layers": "2 to 4"}.
        guess: where you expect its best value: a number, or a range (low, high). It is tried first, and choices lean
            towards it, the less the more results there are.

    Raises:
        InvalidInput: the bounds are not finite, are reversed or equal, or have no logarithm; the guess is not within
            them.
    """

    low: float
    high: float
    log: bool = False
    when: When | None = field(default=None, hash=False)
    guess: float | Range | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", _checked_when(self.when))
        object.__setattr__(self, "low", _number(self.low, "low"))
        object.__setattr__(self, "high", _number(self.high, "high"))
        _check_bounds(self)
        low, high = self._scale
        if not 0 < high - low < math.inf:
            raise InvalidInput(f"{self} is too narrow or too wide for floating point: choose other bounds.")
        object.__setattr__(self, "guess", _checked_guess(self))

    def __repr__(self) -> str:
        return _as_typed(self)

    @property
    def axis(self) -> Continuous:
        return Continuous()

    @property
    def leaning(self) -> Near | None:
        """The guess on the axis."""
        return _near(self, WIDTH)

    def check(self, value: object) -> float:
        """The value as a float, if it lies within the bounds."""
        if type(value) is float and self.low <= value <= self.high:  # nearly always
            return value
        return _within(_number(value, "the value"), self)

    def encode(self, value: float) -> list[float]:
        low, high = self._scale
        return [((math.log(value) if self.log else value) - low) / (high - low)]

    def decoded(self, block: Array) -> Array:  # (m, 1) -> (m,)
        low, high = self._scale
        share = np.clip(block[:, 0], 0.0, 1.0)
        value = low * (1 - share) + high * share
        if self.log:  # not by NumPy, whose last digit may depend on the machine
            value = np.array([math.exp(each) for each in value.tolist()])
        value = np.clip(value, self.low, self.high)
        if isinstance(self.guess, float):  # exactly, as the ends
            value = np.where(share == self.encode(self.guess)[0], self.guess, value)
        return np.where(share == 0.0, self.low, np.where(share == 1.0, self.high, value))  # the ends exactly

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """The values at the coordinates 0 and 1, on the scale that is divided evenly."""
        return (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)


@dataclass(frozen=True, repr=False)
class Int:
    """One of the integers low, low + step, ..., high.

    Args:
        low: the smallest value; above 0 with `log`.
        high: the largest value, a whole number of steps above `low`.
        log: whether to search on a logarithmic scale.
        step: the difference between neighbors.
        when: the values of other parameters for which this one exists, as for `Real`.
        guess: where you expect its best value, as for `Real`.

    Raises:
        InvalidInput: the bounds are not integers, are reversed, equal or too large, or steps from `low` miss `high`;
            the guess is not among the values.
    """

    low: int
    high: int
    log: bool = False
    step: int = 1
    when: When | None = field(default=None, hash=False)
    guess: int | tuple[int, int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "when", _checked_when(self.when))
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, _whole(getattr(self, name), name))
        _check_bounds(self)
        if self.step < 1:
            raise InvalidInput(f"step must be 1 or more, got {self.step}.")
        if beyond := (self.high - self.low) % self.step:
            raise InvalidInput(f"{self} never reaches its high: set high={self.high - beyond} or another step.")
        if max(-self.low, self.high) > LARGEST_INT:
            raise InvalidInput(f"{self} goes beyond {LARGEST_INT}: use Real, and round inside the function.")
        object.__setattr__(self, "guess", _checked_guess(self))

    def __repr__(self) -> str:
        return _as_typed(self)

    @cached_property
    def axis(self) -> Grid:
        return Grid(self.low, self.high, self.step, self.log)

    @property
    def leaning(self) -> Near | None:
        """The guess on the axis."""
        return _near(self, max(WIDTH, 1.0 / self.axis.size))

    def check(self, value: object) -> int:
        """The value as an int, if it is one of the integers."""
        number = _within(_number(value, "the value"), self)
        nearest = self.low + self._level(number) * self.step
        if nearest != number:
            raise InvalidInput(f"{number!r} is not in {self}: use {nearest}, or leave it out.")
        return nearest

    def encode(self, value: int) -> list[float]:
        return [float(self.axis.points(np.array([self._level(value)]))[0, 0])]

    def decoded(self, block: Array) -> NDArray[np.int64]:  # (m, 1) -> (m,)
        return self.low + self.axis.levels(block).astype(np.int64) * self.step

    def _level(self, value: float) -> int:
        return round((value - self.low) / self.step)


@dataclass(frozen=True, init=False, repr=False)
class Choice:
    """One of the given values, in no particular order.

    Args:
        values: two or more different values: text, finite numbers, True, False or None.
        when: the values of other parameters for which this one exists, as for `Real`.
        guess: which one you expect to be best: a value, a list of values, or weights by value, such as {"relu": 3,
            "tanh": 1}; others have none.

    Raises:
        InvalidInput: a value is of another kind or appears twice, or there are fewer than two; the guess is not among
            them, or a weight is no number from 0 upwards.
    """

    values: tuple[Scalar, ...]
    when: When | None = field(default=None, hash=False)
    guess: Mapping[Scalar, float] | None = field(default=None, hash=False)  # weights by value

    def __init__(self, values: Iterable[Scalar], when: When | None = None, guess: Any = None) -> None:
        object.__setattr__(self, "when", _checked_when(when))
        object.__setattr__(self, "guess", None)  # messages about the values do not tell it
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
            raise InvalidInput(f"Choice needs a list of values, got {values!r}.")
        if isinstance(values, Set):  # another process would order them differently
            raise InvalidInput(f"Choice needs values in a fixed order, got {values!r}: write a list, as in [...].")
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
        object.__setattr__(self, "guess", None if guess is None else _weights(self, guess))

    def __repr__(self) -> str:
        others = [f", {name}={given}" for name, given in (("when", self.when), ("guess", self.guess)) if given]
        return f"Choice({list(self.values)}{''.join(others)})"

    @property
    def axis(self) -> OneHot:
        return OneHot(len(self.values))

    @property
    def leaning(self) -> Weighted | None:
        """The guess on the axis."""
        guess = self.guess
        return None if guess is None else Weighted(tuple(guess.get(value, 0.0) for value in self.values))

    def check(self, value: object) -> Scalar:
        """The given choice that equals the value."""
        try:
            return self.values[self.values.index(value)]
        except ValueError:  # not among them, or an array, which has no truth value
            raise InvalidInput(f"{value!r} is not among the choices: use one of {list(self.values)}.") from None

    def encode(self, value: Scalar) -> list[float]:
        return list(self.axis.points(np.array([self.values.index(value)]))[0].tolist())

    def decoded(self, block: Array) -> NDArray[np.object_]:  # (m, count) -> (m,)
        return np.array(self.values, dtype=object)[self.axis.levels(block)]


Parameter = Real | Int | Choice


def sweep(parameter: Parameter, count: int) -> list[Any]:
    """All choices, all whole numbers if there are at most `count`, else this many spread evenly, both ends included."""
    axis = parameter.axis
    if isinstance(axis, Continuous) or (axis.size > count and not isinstance(axis, OneHot)):
        points = axis.fill(np.linspace(0.0, 1.0, count))
    else:
        points = axis.points(np.arange(axis.size))
    return list(dict.fromkeys(parameter.decoded(points).tolist()))


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Say in an error message which parameter it is about."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"Parameter {name!r}: {error}") from None


def _as_typed(parameter: Real | Int) -> str:
    """The parameter as one would type it, without defaults."""
    given = {each: getattr(parameter, each.name) for each in fields(parameter)}
    bounds = [repr(value) for each, value in given.items() if each.default is MISSING]
    others = [f"{each.name}={v!r}" for each, v in given.items() if each.default is not MISSING and v != each.default]
    return f"{type(parameter).__name__}({', '.join(bounds + others)})"


def _checked_when(when: object) -> When | None:
    """The conditions as JSON holds them."""
    if when is None:
        return None
    if not isinstance(when, Mapping) or not when or not all(isinstance(name, str) for name in when):
        raise InvalidInput(f"when must be a dict by parameter, such as {{'optimizer': 'adam'}}, got {when!r}.")
    return {name: _wanted(name, wanted) for name, wanted in when.items()}


def _wanted(name: str, wanted: Any) -> Any:
    if isinstance(wanted, list | range):
        if not wanted:
            raise InvalidInput(f"when {name} is {wanted!r}: give one value at least.")
        return [_wanted(name, value) for value in wanted]
    wanted = wanted.item() if isinstance(wanted, np.generic) else wanted
    if not isinstance(wanted, Scalar):
        raise InvalidInput(
            f"when {name} is {wanted!r}: write a value, a list of values, or a range such as '>= 2' or '2 to 4'."
        )
    return wanted


def _checked_guess(parameter: Real | Int) -> Any:
    """The number or the range that is guessed, as values of the parameter."""
    guess = parameter.guess
    if guess is None:
        return None
    if as_number(guess) is not None or not isinstance(guess, list | tuple | np.ndarray):
        return _guessed(parameter, guess)
    if len(guess) != 2:
        raise InvalidInput(f"guess must be a number or a range (low, high), got {guess!r}.")
    low, high = (_guessed(parameter, end) for end in guess)
    if not low < high:
        raise InvalidInput(
            f"guess is the range {guess!r}, which is empty: write the smaller number first, or one only."
        )
    return low, high


def _guessed(parameter: Parameter, value: object) -> Any:
    try:
        return parameter.check(value)
    except InvalidInput as error:
        raise InvalidInput(f"guess {value!r}: {error}") from None


def _near(parameter: Real | Int, width: float) -> Near | None:
    if parameter.guess is None:
        return None
    ends = parameter.guess if isinstance(parameter.guess, tuple) else (parameter.guess, parameter.guess)
    low, high = (parameter.encode(end)[0] for end in ends)  # type: ignore[arg-type]
    return Near(low, high, width)


def _weights(choice: Choice, guess: Any) -> Mapping[Scalar, float]:
    """Weights by value; a list holds the likely values or, as in JSON, pairs of a value and its weight."""
    pairs = guess.items() if isinstance(guess, Mapping) else guess if isinstance(guess, list | tuple) else [guess]
    weights = {}
    for pair in pairs:
        value, weight = pair if isinstance(pair, list | tuple) and len(pair) == 2 else (pair, 1.0)
        number = as_finite(weight, least=0.0)
        if number is None:
            raise InvalidInput(f"guess gives {value!r} the weight {weight!r}: write a number from 0 upwards.")
        weights[_guessed(choice, value)] = number
    if not any(weights.values()):
        raise InvalidInput(f"guess is {guess!r}, which expects none of the choices: give one a weight above 0.")
    return weights


def _number(value: object, what: str) -> float:
    number = as_finite(value)
    if number is None:
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
