"""The arguments of a run, checked before anything is evaluated and any file is touched."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aegisbo.address import has_name, place_of
from aegisbo.errors import InvalidInput
from aegisbo.runners.command import FOLDER, PLACEHOLDER, Command
from aegisbo.runners.pools.make_pool import HERE, check_executor
from aegisbo.runners.signature import check_callback, check_function
from aegisbo.runners.slots import VARIABLE
from aegisbo.space.space import Space

TAKEN = {  # names that a parameter of a command cannot have
    FOLDER: "the folder of each evaluation",
    "PARAMETERS": "the file in AEGISBO_PARAMETERS",
    "SLOT": f"the number of the worker in {VARIABLE}",
}


def check_call(
    fun: Any, space: Space, executor: Any, workers: Any, threads_per_worker: Any, worker_env: Any = None
) -> None:
    """Refuse a function that cannot be called with points of the space, or workers that cannot run it."""
    kind, _ = check_executor(executor, workers, threads_per_worker, worker_env)
    if isinstance(fun, Command):
        check_command(fun, space, here=kind in HERE)
    else:
        check_function(fun, space)


def check_file(study: Any) -> None:
    """Refuse a value that cannot name a study."""
    if study is None:
        return
    if not has_name(study):
        raise InvalidInput(f"study is {study!r}: give the name of a file, such as 'run.db', or None.")
    place_of(study)


def check_command(command: Command, space: Space, *, here: bool) -> None:
    """Refuse a command that does not fit the space, or that this machine cannot run if it should."""
    if not space.named:
        raise InvalidInput("A program gets its parameters by name: give the space as {'name': (low, high), ...}.")
    for name in space.parameters:
        _check_name(name, command.words)
    known = [*space.parameters, FOLDER]
    for name in PLACEHOLDER.findall(command.words):
        if name not in known:
            raise InvalidInput(f"{{{name}}} in the command is no parameter: use one of {', '.join(known)}.")
    for name in PLACEHOLDER.findall(f"{command.arguments[0]} {command.value_file or ''}"):
        if name != FOLDER and space.parameters[name].when:
            raise InvalidInput(f"{{{name}}} does not always exist: name the program and its value file without it.")
    if here and not PLACEHOLDER.search(command.arguments[0]):
        _check_program(command.arguments[0])


def _check_name(name: str, command: str) -> None:
    if name in TAKEN:
        raise InvalidInput(f"A parameter of a command cannot be called {name!r}, which is {TAKEN[name]}: rename it.")
    if "=" in name or "\0" in name or (f"{{{name}}}" in command and not PLACEHOLDER.fullmatch(f"{{{name}}}")):
        raise InvalidInput(f"A command cannot have a parameter called {name!r}: use letters, digits and _ in its name.")
    if unfilled := re.search(rf"\{{{re.escape(name)}(?![\w}}])[^\s}}]*}}?", command):
        raise InvalidInput(f"{unfilled[0]} in the command is not filled in: write {{{name}}}.")


def _check_program(program: str) -> None:
    if shutil.which(program):
        return
    if Path(program).is_file():
        if os.access(program, os.X_OK):
            raise InvalidInput(f"The program {program!r} lies here, but not on the PATH: write ./{program}.")
        raise InvalidInput(
            f"The program {program!r} is not executable: run chmod +x {program}, or put its interpreter before it."
        )
    where = f"in {Path.cwd()}" if os.sep in program else "on the PATH"
    raise InvalidInput(f"There is no program {program!r} {where}: check its name.")


def checked_callbacks(callbacks: Any) -> tuple[Any, ...]:
    """The callbacks as a tuple; refuses one that cannot be called with a trial and a result."""
    if callable(callbacks) or isinstance(callbacks, str | Mapping) or not isinstance(callbacks, Iterable):
        inner = getattr(callbacks, "__name__", "function")
        raise InvalidInput(f"callbacks must be a list of functions, got {callbacks!r}: write callbacks=[{inner}].")
    listed = tuple(callbacks)
    for k, callback in enumerate(listed):
        check_callback(callback, f"callbacks[{k}]")
    return listed
