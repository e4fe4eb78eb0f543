"""What other packages offer through entry points, looked up by name and loaded on first use."""

from __future__ import annotations

import re
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from aegisbo.errors import AegisError

T = TypeVar("T")


class Plugins(Generic[T]):
    """The entry points of one group.

    Args:
        group: the name of the group, such as "aegisbo.problems".
        kinds: what an entry point may refer to; anything else is refused.
        wanted: the kinds in words, for the message of a refusal; the names of the types if not given.
    """

    def __init__(self, group: str, kinds: tuple[type, ...], wanted: str | None = None) -> None:
        self._group, self._kinds = group, kinds
        self._wanted = wanted or " or ".join(kind.__name__ for kind in kinds)
        self._loaded: dict[str, T] = {}

    def names(self) -> tuple[str, ...]:
        """All names on offer; nothing is loaded for this."""
        return tuple(self._points)

    def names_of(self, cls: type) -> tuple[str, ...]:
        """The names that refer to a class; loads only entry points of the same package and name."""
        package = re.escape(cls.__module__.partition(".")[0])
        reference = re.compile(rf"{package}(\..*)?\s*:\s*{re.escape(cls.__qualname__)}\b")
        return tuple(
            name
            for name, points in self._points.items()
            if len(points) == 1 and reference.match(points[0].value) and self.get(name) is cls
        )

    def get(self, name: str) -> T | None:
        """Load what this name refers to; None if no package offers it.

        Raises:
            AegisError: two packages offer it, or the one that does cannot be loaded, or offers something other than
                it should.
        """
        if name not in self._points:
            return None
        if name not in self._loaded:
            self._loaded[name] = self._load(self._only(name))
        return self._loaded[name]

    @cached_property
    def _points(self) -> dict[str, list[EntryPoint]]:
        """All different entry points by name, sorted; a package that is installed under two names counts once."""
        points: dict[str, dict[str, EntryPoint]] = {}
        for point in entry_points(group=self._group):
            points.setdefault(point.name, {}).setdefault(point.value, point)
        return {name: [of_name[value] for value in sorted(of_name)] for name, of_name in sorted(points.items())}

    def _only(self, name: str) -> EntryPoint:
        first, *others = self._points[name]
        if others:
            owners = " and ".join(f"{_owner(point)} ({point.value})" for point in (first, *others))
            raise AegisError(f"Several packages offer {name!r} in {self._group}: {owners}. Uninstall all but one.")
        return first

    def _load(self, point: EntryPoint) -> T:
        try:
            found: Any = point.load()
        except Exception as error:
            raise AegisError(
                f"{point.name!r} of package {_owner(point)} cannot be loaded ({type(error).__name__}: {error}): "
                "repair or uninstall that package."
            ) from error
        if not isinstance(found, self._kinds):
            raise AegisError(
                f"{point.name!r} of package {_owner(point)} is {found!r}, not a {self._wanted}: tell its authors, or "
                "uninstall it."
            )
        return cast(T, found)


def _owner(point: EntryPoint) -> str:
    return "unknown" if point.dist is None else point.dist.name
