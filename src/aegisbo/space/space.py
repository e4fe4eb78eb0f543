"""An ordered set of parameters, and the way between the user's values and the unit cube."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from aegisbo.arrays import Array, as_vector, frozen
from aegisbo.errors import InvalidInput
from aegisbo.space.branches import Branches
from aegisbo.space.conditions import branches_of, in_words
from aegisbo.space.cube import ABSENT, Cube
from aegisbo.space.description import Entry, entries_of, parameter_from_entry, parameter_from_table, table_of
from aegisbo.space.parameters import Parameter, Params, naming

SpaceLike = Mapping[str, Entry] | Iterable[Entry]


@dataclass(frozen=True, init=False)
class Space:
    """An ordered set of parameters.

    The function receives a dict if the parameters are named; else a NumPy vector if all are real, and a list of Python
    values if not.

    Args:
        spec: the parameters in a dict by name, or in a list (they are then called x0, x1, ...). Each is `Real`, `Int`,
            `Choice`, a pair (low, high), which means `Real(low, high)`, or one of Optuna's distributions. The bounds of
            a `scipy.optimize.Bounds` are such a list, too. A parameter that has conditions (`when`) is there only where
            they hold; the function is called without it elsewhere.

    Raises:
        InvalidInput: an entry stands for no parameter, or there is none; conditions cannot be fulfilled, or are given
            without names.
    """

    parameters: Mapping[str, Parameter]
    named: bool
    branches: Branches | None = field(compare=False, repr=False)  # what the conditions mean

    def __init__(self, spec: SpaceLike) -> None:
        entries = spec if isinstance(spec, Mapping) else {f"x{k}": entry for k, entry in enumerate(entries_of(spec))}
        parameters = {name: parameter_from_entry(name, entry) for name, entry in entries.items()}
        object.__setattr__(self, "parameters", parameters)
        object.__setattr__(self, "named", isinstance(spec, Mapping))
        if not self.parameters:
            raise InvalidInput("A space needs at least one parameter, got none.")
        object.__setattr__(self, "branches", branches_of(parameters))
        if self.branches is not None and not self.named:
            raise InvalidInput("Conditions need names: give the space as a dict of parameters by name.")

    @classmethod
    def from_description(cls, description: Mapping[str, Any] | Sequence[Any]) -> Space:
        """The space that `describe` described; a space file in TOML holds such a description, too.

        Raises:
            InvalidInput: a table has no known type, or its entries are not those of its type.
        """
        if isinstance(description, Mapping):
            return cls({name: parameter_from_table(name, table) for name, table in description.items()})
        return cls([parameter_from_table(f"x{k}", table) for k, table in enumerate(description)])

    def describe(self) -> dict[str, Any] | list[Any]:
        """The parameters in JSON's types: a dict if they are named, else a list."""
        tables = {name: table_of(parameter) for name, parameter in self.parameters.items()}
        return tables if self.named else list(tables.values())

    @cached_property
    def cube(self) -> Cube:
        """What strategies may know of this space."""
        return Cube(tuple(parameter.axis for parameter in self.parameters.values()), self.branches)

    def check(self, x: object) -> Params:
        """The values of `x` by name, moved to the nearest point of the grid where there is one.

        Args:
            x: a point in the form that the function receives, or a dict by name.

        Raises:
            InvalidInput: a name or a value is missing, or a value is out of bounds or not among the choices, or is
                given for a parameter that is not there.
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
        """The point of the cube that stands for `x`."""
        return self.encoded(self.check(x))

    def params(self, u: Array) -> Params:  # (width,)
        """The values, by name, that a point of the cube stands for, of the parameters that are there."""
        u = as_vector(u, "A point of the cube", self.cube.width)
        blocks = zip(self.parameters.items(), self.cube.columns, strict=True)
        return self._those_there({name: parameter.decode(u[columns]) for (name, parameter), columns in blocks})

    def changed(self, params: Params, changes: Params) -> Params:
        """A point with some values changed; what is there only after the change is in the middle of its range."""
        if self.branches is None:
            return {**params, **changes}
        middle = {
            name: parameter.decode(np.full(parameter.axis.width, 0.5)) for name, parameter in self.parameters.items()
        }
        return self._those_there({**middle, **params, **changes})

    def _those_there(self, values: Params) -> Params:
        """The values of the parameters that are there, given values of all."""
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
                raise InvalidInput(f"x must have a value for {name!r}, which is there at {values!r}: add it.")
            if name in values and not there:
                raise InvalidInput(
                    f"x has {name} = {values[name]!r}, which is there only when {in_words(parameter)}: leave it out."
                )

    def encoded(self, values: Params) -> Array:  # (width,)
        """The point of the cube that stands for values that have been checked, and for what is not there."""
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
