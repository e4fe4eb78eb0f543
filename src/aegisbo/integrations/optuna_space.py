"""Optuna's distributions, and the way between their values and the unit cube."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput
from aegisbo.space import Choice, Int, Real, Space
from aegisbo.space.cube import ABSENT, Cube
from aegisbo.space.parameters import LARGEST_INT, Parameter, When

OFF_STEP = 1e-8  # by how much of a step a value may miss one, as in Optuna: 0.1 is no sum of powers of two


@dataclass(frozen=True)
class SearchSpace:
    """Distributions by name, each of which leaves something to choose."""

    distributions: Mapping[str, BaseDistribution]
    # Of parameters that some trials lack, in inner values; None if the trials do not show them.
    conditions: Mapping[str, When | None] = field(default_factory=dict)

    @property
    def cube(self) -> Cube:
        """This space as strategies see it."""
        return self._space.cube

    def point(self, params: Mapping[str, Any]) -> Array | None:  # (width,)
        """The point of the cube for `params`; None if a value is missing or out of range.

        Parameters with conditions may be missing whatever the conditions say: the trial itself knows what it asked for.
        """
        coordinates: list[float] = []
        for name, parameter in self._space.parameters.items():
            if name not in params and parameter.when:
                coordinates += [ABSENT] * parameter.axis.width
                continue
            if name not in params or (value := inner_value(params[name], self.distributions[name])) is None:
                return None
            coordinates += parameter.encode(value)
        return np.array(coordinates)

    def params(self, u: Array) -> dict[str, Any]:  # (width,)
        """The values, by name, at a point of the cube."""
        inner = self._space.params(u)
        return {name: _outer(inner[name], kind) for name, kind in self.distributions.items() if name in inner}

    @cached_property
    def digest(self) -> str:
        """A short text that identifies the space, the same in every process."""
        return sha256(repr(dict(self.distributions)).encode()).hexdigest()[:16]

    @cached_property
    def _space(self) -> Space:
        return Space(
            {
                name: replace(inner_parameter(kind), when=self.conditions.get(name))
                for name, kind in self.distributions.items()
            }
        )


def to_choose(distributions: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """The distributions that leave something to choose, sorted."""
    if not isinstance(distributions, Mapping):
        raise InvalidInput(f"search_space must be a dict of Optuna's distributions by name, got {distributions!r}.")
    for name, distribution in distributions.items():
        if not isinstance(distribution, BaseDistribution):
            raise InvalidInput(f"Parameter {name!r} must be one of Optuna's distributions, got {distribution!r}.")
    return {name: distributions[name] for name in sorted(distributions) if not distributions[name].single()}


# Inside, a float with a step is the number of its step, and a category is the number of its choice: Optuna takes any
# object for a choice, also several that are equal.


def inner_parameter(kind: BaseDistribution) -> Parameter:
    """The inner parameter of a distribution."""
    match kind:
        case FloatDistribution(step=None):
            return Real(kind.low, kind.high, kind.log)
        case FloatDistribution(step=float(step)):
            steps = round((kind.high - kind.low) / step)
            return Int(0, steps) if steps <= LARGEST_INT else Real(0, steps)
        case IntDistribution() if max(-kind.low, kind.high) > LARGEST_INT:
            return Real(kind.low, kind.high, kind.log)
        case IntDistribution():
            return Int(kind.low, kind.high, kind.log, kind.step)
        case CategoricalDistribution():
            return Choice(range(len(kind.choices)))
    raise InvalidInput(f"{kind!r} is none of Optuna's float, int and categorical distributions.")


def inner_value(value: Any, kind: BaseDistribution) -> Any:
    """The inner form of a value; None if the distribution does not contain it."""
    try:
        number = kind.to_internal_repr(value)
    except ValueError:
        return None
    if isinstance(kind, CategoricalDistribution):
        return int(number)
    if not isinstance(kind, FloatDistribution | IntDistribution) or not kind.low <= number <= kind.high:
        return None
    if kind.step is None:
        return number
    steps = round((number - kind.low) / kind.step)
    rounding = 4 * math.ulp(max(abs(kind.low), abs(kind.high)))  # which may be more than that of a tiny step
    if abs(kind.low + steps * kind.step - number) > max(OFF_STEP * kind.step, rounding):  # of other steps
        return None
    return steps if isinstance(kind, FloatDistribution) else number


def _outer(value: Any, kind: BaseDistribution) -> Any:
    match kind:
        case CategoricalDistribution():
            return kind.choices[value]
        case FloatDistribution(step=float(step)):  # in decimals, as it was written: 0.3, not 0.30000000000000004
            return float(Decimal(str(kind.low)) + round(value) * Decimal(str(step)))
        case IntDistribution():  # a whole number already, unless the range goes beyond LARGEST_INT
            return min(kind.low + round((value - kind.low) / kind.step) * kind.step, kind.high)
    return value
