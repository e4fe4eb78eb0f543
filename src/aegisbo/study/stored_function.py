"""The function whose values a study holds: its name and source, so that values of two functions never mix."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import zip_longest
from typing import Any

from aegisbo.errors import StudyError
from aegisbo.printable import printable

LONGEST = 20_000  # most characters of source that are stored; for longer ones, a hash
HASH = "sha256:"


class AnotherFunction(StudyError):
    """The study holds values of another function."""


@dataclass(frozen=True)
class StoredFunction:
    """A function as a study describes it."""

    name: str
    module: str | None = None  # for people only: a script is __main__ when it is run, and not when it is imported
    source: str | None = None  # without comments and layout; None if unknown

    @classmethod
    def of(cls, fun: Callable[..., Any]) -> StoredFunction:
        """Describe a function: an object by its class, bound arguments by their names."""
        if isinstance(fun, partial):
            inner = cls.of(fun.func)
            bound = ", ".join([*["..."] * len(fun.args), *(f"{name}=..." for name in sorted(fun.keywords))])
            return replace(inner, source=_short(inner.source and f"{inner.source}\npartial({bound})"))
        plain = fun if isinstance(getattr(fun, "__name__", None), str) else type(fun)
        name = getattr(plain, "__qualname__", plain.__name__).rpartition("<locals>.")[2]
        return cls(name, getattr(plain, "__module__", None), _short(_source(plain)))

    def describe(self) -> dict[str, Any]:
        """The objective in JSON types."""
        return asdict(self)

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> StoredFunction:
        """The objective from the result of `describe`."""
        return cls(description["name"], description.get("module"), description.get("source"))

    def change_from(self, old: StoredFunction) -> str | None:
        """How this objective differs from an old one, as a clause; None if no difference is known."""
        if _last(self.name) != _last(old.name):
            return printable(f"{old}, and this call gives {self}")
        if old.source is None or self.source is None or _canonical(old.source) == _canonical(self.source):
            return None
        return printable(f"{old}, whose source has changed{_first_change(old.source, self.source)}")

    def __str__(self) -> str:
        return self.name if self.module in (None, "__main__") else f"{self.name} of {self.module}"


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _first_change(old: str, new: str) -> str:
    if HASH in (old[: len(HASH)], new[: len(HASH)]):
        return ""
    lines = zip_longest(*(_canonical(source).splitlines() for source in (old, new)), fillvalue="")
    was, now = next((was, now) for was, now in lines if was != now)
    return f": `{was.strip()}` was there, `{now.strip()}` is now"


def _canonical(source: str) -> str:
    """The source as formatted by this version of Python: a study may come from another one."""
    try:
        return ast.unparse(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a hash, or a stranger's text
        return source


def _short(source: str | None) -> str | None:
    if source is None or len(source) <= LONGEST:
        return source
    return HASH + sha256(source.encode()).hexdigest()


def _source(plain: Any) -> str | None:
    """The source of a function or class, without comments, layout and docstrings; None if there is none."""
    try:
        tree = _lambda(plain) if plain.__name__ == "<lambda>" else _parsed(inspect.getsource(plain))
    except Exception:  # built in, typed at a prompt, made by exec, or its file has changed since
        return None
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node, False):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _parsed(source: str) -> ast.AST:
    """The syntax tree of a function or class, which may be indented."""
    if source[:1].isspace():
        return ast.parse(f"if True:\n{source}").body[0].body[0]  # type: ignore[attr-defined, no-any-return]
    return ast.parse(source).body[0]


def _lambda(fun: Any) -> ast.AST | None:
    """The lambda itself, not the whole lines that contain it; None if several are possible."""
    fun = inspect.unwrap(fun)
    code = fun.__code__
    tree = ast.parse("".join(inspect.findsource(fun)[0]))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno]
    places = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column]
    around = [node for node in nodes if places and _start(node) < min(places) and max(places) <= _end(node)]
    return max(around, key=_start, default=None) if len(nodes) > 1 else next(iter(nodes), None)


def _start(node: ast.Lambda) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.Lambda) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0
