"""What a study stores about its function, and how another process finds the function again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aegisbo.runners.command import Command
from aegisbo.study.stored_function import StoredFunction


def objective_of(fun: Callable[..., Any]) -> StoredFunction:
    """The objective of a study; for a command, its words."""
    if isinstance(fun, Command):
        return StoredFunction("command", source=repr([*fun.arguments, *filter(None, [fun.value_file])]))
    return StoredFunction.of(fun)


def recipe(fun: Callable[..., Any]) -> dict[str, Any]:
    """Where another process finds the function, in JSON types: a command, a name to import, or nothing."""
    if isinstance(fun, Command):
        return {"command": fun.text, "value_file": fun.value_file}
    module, name = getattr(fun, "__module__", None), getattr(fun, "__qualname__", None)
    importable = module not in (None, "__main__") and isinstance(name, str) and name.isidentifier()
    return {"function": f"{module}:{name}"} if importable else {}


def place(executor: Any, threads_per_worker: int | None) -> dict[str, Any]:
    """Where evaluations run, in JSON types; an object cannot be stored."""
    threads = {} if threads_per_worker is None else {"threads_per_worker": int(threads_per_worker)}
    return {"executor": executor, **threads} if isinstance(executor, str) else threads
