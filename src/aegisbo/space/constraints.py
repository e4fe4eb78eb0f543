"""Constraints that are known before anything is evaluated: texts such as "a < b", or functions that return a bool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from aegisbo.arrays import Array, Mask
from aegisbo.errors import InvalidInput
from aegisbo.number import as_finite
from aegisbo.space.cube import Cube
from aegisbo.space.expression import Column, Expression, Kind, Verdict, parsed
from aegisbo.space.function import OfParameters
from aegisbo.space.parameters import Choice, Parameter, Params, Real

Label = str | dict[str, str]  # a text, or {"function": its name}
Constraint = str | Callable[..., bool]
KEY = "constraints"  # their key in the description of a space
SQUARED = 1e150  # squares of numbers up to this, and their sums, do not overflow
MOST = 1e3  # largest slack that counts, in units of its spread


@dataclass(frozen=True)
class Function(OfParameters):
    """A constraint that cannot be stored."""

    role = "constraint"

    def verdict(self, columns: Mapping[str, Column], there: Mapping[str, Mask]) -> Verdict:
        """Verdicts on points, one by one; a function cannot say by how much."""
        rows = {name: (column.tolist(), there[name]) for name, column in columns.items() if name in self.passed}
        count = len(next(iter(columns.values())))
        holds = [self.holds({n: values[k] for n, (values, mask) in rows.items() if mask[k]}) for k in range(count)]
        return Verdict(np.array(holds, dtype=bool), np.zeros(count))

    def holds(self, values: Params) -> bool:
        """Whether one point keeps it."""
        if self.lacking(values):
            return True
        answer = self.asked(values)
        if not isinstance(answer, bool | np.bool_):
            raise InvalidInput(f"The constraint {self.text} must return True or False, got {answer!r} at {values}.")
        return bool(answer)


Rule = Expression | Function


def rules_of(
    constraints: Iterable[Constraint | Rule | Label], parameters: Mapping[str, Parameter], named: bool
) -> tuple[Rule, ...]:
    """The constraints as a user gave them, or as they were stored, each once.

    Raises:
        InvalidInput: one cannot be read, or uses an unknown name.
    """
    if isinstance(constraints, str) or callable(constraints) or not isinstance(constraints, Iterable):
        raise InvalidInput(f"constraints must be a list, such as ['a < b'], got {constraints!r}.")
    rules: list[Rule] = []
    for each in constraints:
        rule = _rule(each, parameters, named)
        while isinstance(rule, Function) and any(rule == other and rule.call is not other.call for other in rules):
            rule = replace(rule, name=f"{rule.name}'")  # such as another lambda
        rules += [] if rule in rules else [rule]
    return tuple(rules)


def _rule(given: Any, parameters: Mapping[str, Parameter], named: bool) -> Rule:
    if isinstance(given, Expression):
        given = given.text
    if isinstance(given, str):
        kinds = {name: _kind(parameter) for name, parameter in parameters.items()}
        choices = {name: p.values for name, p in parameters.items() if isinstance(p, Choice)}
        return parsed(given, kinds, choices)
    if isinstance(given, Function):
        return given
    if isinstance(given, Mapping) and set(given) == {"function"}:
        return Function.absent(given["function"], parameters)
    if not callable(given):
        raise InvalidInput(f"A constraint is a text such as 'a < b', or a function that returns a bool, got {given!r}.")
    return Function.of(given, parameters, named)


def label_of(rule: Rule) -> Label:
    """What a study stores for it."""
    return rule.text if isinstance(rule, Expression) else {"function": rule.name}


def _kind(parameter: Parameter) -> Kind:
    if not isinstance(parameter, Choice):
        return "number"
    if all(isinstance(value, bool) for value in parameter.values):
        return "truth"
    return "choice" if any(as_finite(value) is None for value in parameter.values) else "number"


@dataclass(frozen=True)
class Constraints:
    """All constraints of a space on its cube; one that uses a parameter that does not exist counts as kept."""

    rules: tuple[Rule, ...]
    parameters: Mapping[str, Parameter] = field(compare=False, hash=False)

    @cached_property
    def _columns(self) -> dict[str, tuple[int, slice]]:
        """The axis and the coordinates of each parameter that some rule uses."""
        used = {name for rule in self.rules for name in (rule.names if isinstance(rule, Expression) else rule.passed)}
        columns = zip(self.parameters, self._cube.columns, strict=True)
        return {name: (k, block) for k, (name, block) in enumerate(columns) if name in used}

    def verdicts(self, Z: Array, active: Mask, rules: Iterable[Rule] | None = None) -> list[Verdict]:
        """The verdicts of these rules on points (m, width), given which axes exist (m, parameters)."""
        there = {name: active[:, k] for name, (k, _) in self._columns.items()}
        values = {name: self.parameters[name].decoded(Z[:, block]) for name, (_, block) in self._columns.items()}
        return [rule.verdict(values, there) for rule in (self.rules if rules is None else rules)]

    def broken_by(self, params: Params) -> list[str]:
        """The texts of the constraints that values break: exact values, since the cube may change their last digit."""
        return [rule.text for rule in self.rules if not rule.holds(params)]

    def allow(self, Z: Array, active: Mask) -> Mask:  # (m, width), (m, parameters) -> (m,)
        """Which points keep all of them."""
        verdicts = self.verdicts(Z, active)
        return np.asarray(np.all([np.full(len(Z), True), *(verdict.holds for verdict in verdicts)], axis=0))

    def slacks(self, Z: Array, active: Mask) -> Array:  # (m, width), (m, parameters) -> (m, r)
        """By how much points keep each of them, below 0 if broken; without functions, which cannot say."""
        if self._linear is not None and active.all():
            constants, weights = self._linear
            return np.clip(constants + np.clip(Z, 0.0, 1.0) @ weights, -MOST, MOST)
        found = np.empty((len(Z), len(self._told)))
        if self._told:
            for k, verdict in enumerate(self.verdicts(Z, active, self._told)):
                found[:, k] = np.where(np.isnan(verdict.slack), -np.inf, verdict.slack)
        with np.errstate(over="ignore"):  # of slacks in tiny spreads
            found /= self._spreads
        return np.clip(found, -MOST, MOST)

    @cached_property
    def _told(self) -> list[Expression]:
        """The constraints that say by how much they are broken."""
        return [rule for rule in self.rules if isinstance(rule, Expression)]

    @cached_property
    def _linear(self) -> tuple[Array, Array] | None:
        """The slacks as linear functions of the coordinates: constants (r,), weights (width, r); None if one is not.

        Most constraints are linear, and a search asks for slacks more often than for anything else.
        """
        constants, weights = np.zeros(len(self._told)), np.zeros((self._cube.width, len(self._told)))
        for k, rule in enumerate(self._told):
            linear = rule.linear
            if linear is None:
                return None
            constants[k] = linear.constant
            for name, weight in linear.weights.items():
                parameter = self.parameters[name]
                if not isinstance(parameter, Real) or parameter.log:
                    return None
                constants[k] += weight * parameter.low
                weights[self._columns[name][1], k] += weight * (parameter.high - parameter.low)
        found = constants / self._spreads, weights / self._spreads
        return found if all(np.isfinite(part).all() for part in found) else None

    @cached_property
    def _cube(self) -> Cube:
        """Without these constraints."""
        return Cube(tuple(parameter.axis for parameter in self.parameters.values()))

    @cached_property
    def _spreads(self) -> list[float]:
        """The spread of each slack over points, which is its unit."""
        Z = np.random.default_rng(0).random((256, self._cube.width))
        everywhere = np.full((256, len(self.parameters)), True)
        slacks = [verdict.slack for verdict in self.verdicts(Z, everywhere, self._told)]
        return [_spread(slack[np.isfinite(slack)]) or 1.0 for slack in slacks]

    def broken(self, Z: Array, active: Mask) -> list[str]:
        """The texts of the constraints that no point keeps."""
        verdicts = zip(self.rules, self.verdicts(Z, active), strict=True)
        return [rule.text for rule, verdict in verdicts if not verdict.holds.any()]

    @cached_property
    def here(self) -> Constraints:
        """The constraints without functions that are known only by name."""
        there = [rule for rule in self.rules if isinstance(rule, Expression) or rule.call is not None]
        return replace(self, rules=tuple(there))

    @property
    def absent(self) -> bool:
        """Whether one is a function that is missing here."""
        return self.here.rules != self.rules


def _spread(slack: Array) -> float:  # (m,)
    """The standard deviation, also of numbers whose squares would overflow."""
    if not len(slack):
        return 0.0
    largest = np.abs(slack).max()
    return float(np.std(slack)) if largest < SQUARED else float(np.std(slack / largest) * largest)
