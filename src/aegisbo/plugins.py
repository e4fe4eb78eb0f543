"""What other packages offer us through entry points, looked up by name and loaded on first use."""

from __future__ import annotations

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
    """

    def __init__(self, group: str, kinds: tuple[type, ...]) -> None:
        self._group, self._kinds = group, kinds
        self._loaded: dict[str, T] = {}

    def names(self) -> tuple[str, ...]:
        """All names on offer; nothing is loaded for this."""
        return tuple(self._points)

    def get(self, name: str) -> T | None:
        """What this name refers to; None if no package offers it.

        Raises:
            AegisError: the package cannot be loaded, or offers something else than it should.
        """
        if name not in self._points:
            return None
        if name not in self._loaded:
            self._loaded[name] = self._load(self._points[name])
        return self._loaded[name]

    def all(self) -> dict[str, T]:
        """Everything on offer, by name."""
        return {name: found for name in self._points if (found := self.get(name)) is not None}

    @cached_property
    def _points(self) -> dict[str, EntryPoint]:
        points: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self._group), key=lambda point: (point.name, point.value)):
            other = points.setdefault(point.name, point)
            if other.value != point.value:
                raise AegisError(
                    f"Two packages offer {point.name!r} in {self._group}: {_owner(other)} ({other.value}) and "
                    f"{_owner(point)} ({point.value}). Uninstall one of them."
                )
        return points

    def _load(self, point: EntryPoint) -> T:
        try:
            found: Any = point.load()
        except Exception as error:
            raise AegisError(
                f"{point.name!r} of package {_owner(point)} cannot be loaded ({type(error).__name__}: {error}): "
                "repair or uninstall that package."
            ) from error
        if not isinstance(found, self._kinds):
            wanted = " or ".join(kind.__name__ for kind in self._kinds)
            raise AegisError(
                f"{point.name!r} of package {_owner(point)} is {found!r}, not a {wanted}: tell its authors, or "
                "uninstall it."
            )
        return cast(T, found)


def _owner(point: EntryPoint) -> str:
    return "unknown" if point.dist is None else point.dist.name
