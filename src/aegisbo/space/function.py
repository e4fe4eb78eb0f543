"""Functions of the parameters that a run calls itself: constraints that are no texts, and known objectives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from aegisbo.errors import InvalidInput
from aegisbo.space.parameters import Parameter, Params, Real


@dataclass(frozen=True)
class OfParameters:
    """A user's function that cannot be stored; two are the same if their functions have the same name."""

    role: ClassVar[str]  # what the function is, for messages
    name: str
    call: Callable[..., Any] | None = field(compare=False, repr=False)  # None: it is missing here
    names: tuple[str, ...] = field(compare=False, repr=False)  # parameters that it needs
    passed: tuple[str, ...] = field(compare=False, repr=False)  # and those that it is given if they exist
    # Makes its single argument from all values, as for the evaluated function; None: it takes them by name.
    form: Callable[[list[Any]], Any] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, call: Callable[..., Any], parameters: Mapping[str, Parameter], named: bool) -> Self:
        """The function as a user gave it.

        Raises:
            InvalidInput: it takes something that is no parameter, or none of them.
        """
        name = getattr(call, "__qualname__", type(call).__qualname__).rpartition("<locals>.")[2]
        if not named:  # it gets the argument of the evaluated function
            form = np.array if all(isinstance(parameter, Real) for parameter in parameters.values()) else list
            return cls(name, call, (), tuple(parameters), form)
        try:
            arguments = inspect.signature(call).parameters.values()
        except (TypeError, ValueError):  # a builtin
            return cls(name, call, (), tuple(parameters))
        needed = [a.name for a in arguments if a.default is a.empty and a.kind not in (a.VAR_KEYWORD, a.VAR_POSITIONAL)]
        known = ", ".join(parameters)
        for argument in needed:
            if argument not in parameters:
                raise InvalidInput(
                    f"The {cls.role} {name}() takes {argument!r}, which is no parameter: there are {known}."
                )
        takes_all = any(a.kind is a.VAR_KEYWORD for a in arguments)
        taken = {a.name for a in arguments}
        passed = tuple(parameter for parameter in parameters if takes_all or parameter in taken)
        if not passed:
            raise InvalidInput(f"The {cls.role} {name}() takes no parameter: there are {known}.")
        return cls(name, call, tuple(needed), passed)

    @classmethod
    def absent(cls, name: str, parameters: Iterable[str]) -> Self:
        """A function of which only the name is known."""
        return cls(name, None, (), tuple(parameters))

    @property
    def text(self) -> str:
        return f"{self.name}()"

    def lacking(self, values: Params) -> list[str]:
        """The parameters that it needs and that do not exist at a point."""
        return [name for name in self.names if name not in values]

    def require_here(self) -> None:
        """Refuse a function of which only the name is known."""
        if self.call is None:
            raise InvalidInput(
                f"The run was made with the {self.role} {self.text}, a function that is not part of it: pass it again."
            )

    def asked(self, values: Params) -> Any:
        """What it returns at a point.

        Raises:
            InvalidInput: it is missing here, or raised an exception.
        """
        self.require_here()
        params = {name: values[name] for name in self.passed if name in values}
        call: Any = self.call
        try:
            return call(**params) if self.form is None else call(self.form(list(params.values())))
        except Exception as error:
            raise InvalidInput(f"The {self.role} {self.text} raised {error!r} at {params}: fix it.") from error
