"""An ordered set of parameters, and the conversion between the user's values and the unit cube."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from aegisbo.arrays import Array, Mask, as_vector, frozen
from aegisbo.errors import InvalidInput
from aegisbo.printable import brief
from aegisbo.space.branches import Branches
from aegisbo.space.conditions import branches_of, when_text
from aegisbo.space.constraints import KEY, Constraint, Constraints, Function, Label, Rule, label_of, rules_of
from aegisbo.space.cube import ABSENT, Cube
from aegisbo.space.description import Entry, entries_of, parameter_from_entry, parameter_from_table, table_of
from aegisbo.space.guess import Guess
from aegisbo.space.parameters import Parameter, Params, naming

SpaceLike = Mapping[str, Entry] | Iterable[Entry]


@dataclass(frozen=True, init=False)
class Space:
    """An ordered set of parameters.

    If the parameters have names, the function receives a dict. Otherwise it receives a NumPy vector if all are real,
    and a list of Python values if not.

    Args:
        spec: the parameters in a dict by name, or in a list (they are then called x0, x1, ...). Each is a `Real`, `Int`
            or `Choice`, a pair (low, high), which means `Real(low, high)`, or one of Optuna's distributions. A
            `scipy.optimize.Bounds` may replace the list. A parameter with conditions (`when`) exists only where they
            hold; elsewhere the function is called without it.
        constraints: rules that a point must satisfy to be evaluated: texts such as "a < b" or "x + 2*y <= 3", or
            functions that take parameters by name and return a bool. A constraint on a parameter that does not exist
            at a point is satisfied there.

    Raises:
        InvalidInput: an entry is not a parameter, or there are none; conditions can never hold, or parameters have no
            names for them; a constraint cannot be read, or no point was found that satisfies all.
    """

    parameters: Mapping[str, Parameter]
    named: bool
    branches: Branches | None = field(compare=False, repr=False)  # from the conditions
    constraints: tuple[Rule, ...] = ()

    def __init__(self, spec: SpaceLike, constraints: Iterable[Constraint | Rule | Label] = ()) -> None:
        entries = spec if isinstance(spec, Mapping) else {f"x{k}": entry for k, entry in enumerate(entries_of(spec))}
        parameters = {name: parameter_from_entry(name, entry) for name, entry in entries.items()}
        object.__setattr__(self, "parameters", parameters)
        object.__setattr__(self, "named", isinstance(spec, Mapping))
        if not self.parameters:
            raise InvalidInput("A space needs at least one parameter, got none.")
        object.__setattr__(self, "branches", branches_of(parameters))
        if self.branches is not None and not self.named:
            raise InvalidInput("Conditions need names: give the space as a dict of parameters by name.")
        object.__setattr__(self, "constraints", rules_of(constraints, parameters, self.named))
        if self.constraints:
            self._require_a_point()

    @classmethod
    def from_description(cls, description: Mapping[str, Any] | Sequence[Any]) -> Space:
        """Make a space from what `describe` returned, or from the content of a space file in TOML.

        A constraint that was a function is known only by name: see `given`.

        Args:
            description: what `describe` returned, perhaps by way of JSON.

        Returns:
            An equal space.

        Raises:
            InvalidInput: a table has no known type, or its entries are not those of its type.
        """
        if isinstance(description, Mapping):
            listed = isinstance(description.get(KEY), list)  # a parameter may have this name, too
            tables = {name: table for name, table in description.items() if not (listed and name == KEY)}
            parameters = {name: parameter_from_table(name, table) for name, table in tables.items()}
            return cls(parameters, description[KEY] if listed else ())
        told = [entry[KEY] for entry in description if isinstance(entry, Mapping) and set(entry) == {KEY}]
        entries = description[: len(description) - len(told)]
        return cls([parameter_from_table(f"x{k}", table) for k, table in enumerate(entries)], *told)

    def describe(self) -> dict[str, Any] | list[Any]:
        """The parameters in JSON types, for `from_description`.

        Returns:
            A dict if they are named, else a list; constraints come last.
        """
        tables = {name: table_of(parameter) for name, parameter in self.parameters.items()}
        told = {KEY: [label_of(rule) for rule in self.constraints]} if self.constraints else {}
        return {**tables, **told} if self.named else [*tables.values(), *([told] if told else [])]

    def constrained(self, constraints: Iterable[Constraint | Rule | Label]) -> Space:
        """This space with further constraints."""
        rules = rules_of(constraints, self.parameters, self.named)
        return self._with([*self.constraints, *rules]) if rules else self

    def given(self, constraints: Iterable[Constraint | Rule]) -> Space:
        """This space with functions from these constraints in place of those known only by name."""
        rules = rules_of(constraints, self.parameters, self.named)
        functions: dict[Rule, Rule] = {rule: rule for rule in rules if isinstance(rule, Function)}
        return self._with([functions.get(rule, rule) for rule in self.constraints]) if functions else self

    def _with(self, rules: Iterable[Rule]) -> Space:
        return Space(self.parameters if self.named else self.parameters.values(), rules)

    @property
    def lacks_a_function(self) -> bool:
        """Whether one of the constraints is a function known only by name, so that it cannot be checked."""
        return self._rules.absent

    def broken(self, params: Params) -> list[str]:
        """The constraints that checked values break, as far as the functions are known."""
        return self._rules.here.broken_by(params)

    def keeps_constraints(self, Z: Array) -> Mask:  # (m, width) -> (m,)
        """Which points of the cube keep the constraints, as far as the functions are known."""
        return self._rules.here.allow(Z, self.cube.active(Z))

    def require_allowed(self, params: Params) -> None:
        """Refuse checked values that break a constraint, or if one is a function that is missing here."""
        if self.lacks_a_function:
            raise InvalidInput("One of the constraints is a function that is not here: use `initial` where it is.")
        for constraint in self.broken(params):
            raise InvalidInput(f"{params} breaks the constraint {brief(constraint)}: it cannot be evaluated.")

    def _require_a_point(self) -> None:
        """Refuse constraints that leave no point."""
        if self.named and KEY in self.parameters:
            raise InvalidInput(f"A parameter cannot be called {KEY!r} where there are constraints: rename it.")
        if self._rules.absent or len(self.cube.first_allowed):
            return
        Z = self.cube.fill_all(np.random.default_rng(0).random((4096, self.cube.parameters)))
        never = self._rules.broken(Z, self.cube.active(Z)) or [rule.text for rule in self.constraints]
        listed = brief("; ".join(map(brief, never)), 1000)
        said = f"the constraint {listed}" if len(never) == 1 else f"all of the constraints {listed}"
        equal = " What must be equal on real axes, compute inside the function." if "==" in "".join(never) else ""
        raise InvalidInput(
            f"No point of the space was found that satisfies {said}: relax it, or widen the space.{equal}"
        )

    @cached_property
    def cube(self) -> Cube:
        """This space as strategies see it."""
        parameters = self.parameters.values()
        axes = tuple(parameter.axis for parameter in parameters)
        cube = Cube(axes, self.branches, self._rules if self.constraints else None)
        if all(parameter.guess is None for parameter in parameters):
            return cube
        leanings = (parameter.leaning for parameter in parameters)
        return replace(cube, guess=Guess(tuple(zip(cube.columns, leanings, strict=True))))

    @cached_property
    def _rules(self) -> Constraints:
        return Constraints(self.constraints, self.parameters)

    def check(self, x: object) -> Params:
        """The values of `x` by name.

        Args:
            x: a point in the form that the function receives, or a dict by name.

        Returns:
            A dict of the parameters that exist there.

        Raises:
            InvalidInput: a name or a value is missing, or a value is out of bounds, between two integers or not among
                the choices, or is given for a parameter that does not exist there.
        """
        values = self._by_name(x)
        checked = {}
        for name, parameter in self.parameters.items():
            if name not in values:
                continue
            try:
                checked[name] = parameter.check(values[name])
            except InvalidInput:  # only then, because entering a context takes longer than the check
                with naming(name):
                    raise
        self._require_those_there(checked)
        return checked

    def to_unit(self, x: object) -> Array:  # (width,)
        """The point of the cube for `x`."""
        return self.encoded(self.check(x))

    def params(self, u: Array) -> Params:  # (width,)
        """The values, by name, at a point of the cube, of the parameters that exist there."""
        return self._those_there(self._values(as_vector(u, "A point of the cube", self.cube.width)))

    def params_of_all(self, Z: Array) -> list[Params]:  # (m, width)
        """As `params`, of many points; they may have coordinates of parameters that do not exist there."""
        blocks = zip(self.parameters.values(), self.cube.columns, strict=True)
        rows = zip(*(parameter.decoded(Z[:, columns]).tolist() for parameter, columns in blocks), strict=True)
        values = [dict(zip(self.parameters, row, strict=True)) for row in rows]
        if self.branches is None:
            return values
        active = self.cube.active(Z).tolist()
        return [
            {name: value for (name, value), there in zip(point.items(), exists, strict=True) if there}
            for point, exists in zip(values, active, strict=True)
        ]

    def _values(self, u: Array) -> Params:  # (width,)
        """The values at coordinates, also of parameters that do not exist there."""
        blocks = zip(self.parameters.items(), self.cube.columns, strict=True)
        return {name: parameter.decoded(u[None, columns]).item() for (name, parameter), columns in blocks}

    def changed(self, params: Params, changes: Params) -> Params:
        """A point with some values changed; parameters that exist only then get the middle of their range."""
        if self.branches is None:
            return {**params, **changes}
        return self._those_there({**self._middle, **params, **changes})

    @cached_property
    def _middle(self) -> Params:
        return self._values(np.full(self.cube.width, 0.5))

    def _those_there(self, values: Params) -> Params:
        """The values of the parameters that exist, given values of all."""
        if self.branches is None:
            return values
        active = self.cube.active(self.encoded(values)[None])[0]
        return {name: values[name] for name, there in zip(self.parameters, active, strict=True) if there}

    def _require_those_there(self, values: Params) -> None:
        if self.branches is None:
            return
        active = self.cube.active(self.encoded(values)[None])[0]
        for (name, parameter), there in zip(self.parameters.items(), active, strict=True):
            if there and name not in values:
                raise InvalidInput(f"x must have a value for {name!r}, which exists at {values!r}: add it.")
            if name in values and not there:
                raise InvalidInput(
                    f"x has {name} = {values[name]!r}, which exists only when {when_text(parameter)}: leave it out."
                )

    def encoded(self, values: Params) -> Array:  # (width,)
        """The point of the cube for checked values, which lack parameters that do not exist there."""
        return np.array(
            [
                u
                for name, parameter in self.parameters.items()
                for u in (parameter.encode(values[name]) if name in values else [ABSENT] * parameter.axis.width)
            ]
        )

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
            needed = {name for name, parameter in self.parameters.items() if parameter.when is None}
            if not needed <= set(x) <= set(self.parameters):
                names = [name if name in needed else f"{name} (sometimes)" for name in self.parameters]
                raise InvalidInput(f"x must have the names {', '.join(names)}, got {x!r}.")
            return x
        if self.named:
            raise InvalidInput(f"x must be a dict with the names {', '.join(self.parameters)}, got {x!r}.")
        if isinstance(x, str) or not isinstance(x, Iterable) or len(values := list(x)) != len(self.parameters):
            raise InvalidInput(f"x must hold {len(self.parameters)} values, got {x!r}.")
        return dict(zip(self.parameters, values, strict=True))
