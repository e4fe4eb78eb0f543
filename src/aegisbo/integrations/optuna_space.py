"""Optuna's distributions, and the way between their values and the unit cube."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput
from aegisbo.optimizer.space import LARGEST_INT, Choice, Int, Parameter, Real, Space
from aegisbo.strategies.cube import Cube


@dataclass(frozen=True)
class SearchSpace:
    """Distributions by name, each of which leaves something to choose."""

    distributions: Mapping[str, BaseDistribution]

    @property
    def cube(self) -> Cube:
        """What strategies may know of this space."""
        return self._space.cube

    def point(self, params: Mapping[str, Any]) -> Array | None:  # (width,)
        """The point of the cube that stands for `params`; None if a value is missing or out of range."""
        try:
            inner = {name: _inner(params[name], kind) for name, kind in self.distributions.items()}
            return self._space.to_unit(inner)
        except (KeyError, ValueError):
            return None

    def params(self, u: Array) -> dict[str, Any]:  # (width,)
        """The values, by name, that a point of the cube stands for."""
        inner = self._space.params(u)
        return {name: _outer(inner[name], kind) for name, kind in self.distributions.items()}

    @cached_property
    def digest(self) -> str:
        """A short text, the same in every process, that no other space has."""
        described = json.dumps({name: distribution_to_json(kind) for name, kind in self.distributions.items()})
        return sha256(described.encode()).hexdigest()[:16]

    @cached_property
    def _space(self) -> Space:
        return Space({name: _parameter(kind) for name, kind in self.distributions.items()})


def to_choose(distributions: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """The distributions that leave something to choose, in an order that does not depend on who wrote them down."""
    for name, distribution in distributions.items():
        if not isinstance(distribution, BaseDistribution):
            raise InvalidInput(f"Parameter {name!r} must be one of Optuna's distributions, got {distribution!r}.")
    return {name: distributions[name] for name in sorted(distributions) if not distributions[name].single()}


# Inside, a float with a step is the number of its step, and a category is the number of its choice: Optuna takes any
# object for a choice, also several that are equal.


def _parameter(distribution: BaseDistribution) -> Parameter:
    match distribution:
        case FloatDistribution(step=None):
            return Real(distribution.low, distribution.high, distribution.log)
        case FloatDistribution():
            return Int(0, _step_number(distribution.high, distribution))
        case IntDistribution() if max(-distribution.low, distribution.high) > LARGEST_INT:
            return Real(distribution.low, distribution.high, distribution.log)
        case IntDistribution():
            return Int(distribution.low, distribution.high, distribution.log, distribution.step)
        case CategoricalDistribution():
            return Choice(range(len(distribution.choices)))
    raise InvalidInput(f"{distribution!r} is none of Optuna's float, int and categorical distributions.")


def _inner(value: Any, distribution: BaseDistribution) -> float:
    internal = distribution.to_internal_repr(value)
    match distribution:
        case FloatDistribution(step=float()):
            return _step_number(internal, distribution)
        case CategoricalDistribution():
            return int(internal)
    return internal


def _outer(value: Any, distribution: BaseDistribution) -> Any:
    match distribution:
        case FloatDistribution(step=float()):  # in decimals, as the step was written: 0.3, not 0.30000000000000004
            return float(Decimal(str(distribution.low)) + value * Decimal(str(distribution.step)))
        case IntDistribution():  # a whole number already, unless it is beyond LARGEST_INT
            steps = round((value - distribution.low) / distribution.step)
            return min(distribution.low + steps * distribution.step, distribution.high)
        case CategoricalDistribution():
            return distribution.choices[value]
    return value


def _step_number(value: float, distribution: FloatDistribution) -> int:
    assert distribution.step is not None  # for mypy: the callers have matched a distribution with steps
    return round((value - distribution.low) / distribution.step)
