"""What a command minimizes: module:function, or any program."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from aegisbo.errors import InvalidInput


def chosen(function: str | None, command: str | None, value_file: str | None) -> Callable[..., Any]:
    """The function or program to minimize."""
    from aegisbo.runners.command import Command

    if (function is None) == (command is None):
        raise InvalidInput("Give either a function (module:name) or a --command.")
    if command is not None:
        return Command(command, value_file)
    if value_file is not None:
        raise InvalidInput("--value-file goes with --command: a function returns its value.")
    return imported(str(function))


def imported(text: str) -> Callable[..., Any]:
    """Import the function module:name from the current folder."""
    module, _, name = text.partition(":")
    if not module or not name:
        raise InvalidInput(f"{text!r} names no function: write module:function.")
    if module.startswith("."):
        raise InvalidInput(
            f"{text!r} is relative to nothing: write the whole name of the module, as in package.module."
        )
    if module.endswith(".py"):
        raise InvalidInput(f"{text!r} names a file: write {module.removesuffix('.py')}:{name}.")
    sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise InvalidInput(f"There is no module {module!r} here: run from the folder that holds it.") from error
        raise InvalidInput(f"Module {module!r} cannot be imported: {_where(error)}") from error
    if not callable(getattr(found, name, None)):
        raise InvalidInput(f"Module {module!r} has no function {name!r}.")
    return getattr(found, name)  # type: ignore[no-any-return]


def _where(error: Exception) -> str:
    """The error in the user's code, and its line."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "" if isinstance(error, SyntaxError) else f" ({last.filename}, line {last.lineno})"
    return f"{type(error).__name__}: {error}{place}"
