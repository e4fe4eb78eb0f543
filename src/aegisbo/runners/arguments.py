"""The arguments of a run, checked before anything is evaluated and any file is touched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.runners.command import Command
from aegisbo.runners.pools import HERE, check_executor
from aegisbo.runners.signature import check_callback, check_function
from aegisbo.space.space import Space


def check_call(
    fun: Any, space: Space, executor: Any, workers: Any, threads_per_worker: Any, worker_env: Any = None
) -> None:
    """Refuse a function that cannot be called with points of the space, or workers that cannot run it.

    Raises:
        InvalidInput: the message says what to change.
    """
    kind = check_executor(executor, workers, threads_per_worker, worker_env)
    if isinstance(fun, Command):
        _check_command(fun, space, here=kind in HERE)
    else:
        check_function(fun, space)


def check_file(study: Any) -> None:
    """Refuse what cannot be the name of a study.

    Raises:
        InvalidInput: the message says what to give instead.
    """
    if study is not None and (not isinstance(study, str | os.PathLike) or not os.fspath(study)):
        raise InvalidInput(f"study is {study!r}: give the name of a file, such as 'run.db', or None.")


def _check_command(command: Command, space: Space, *, here: bool) -> None:
    if not space.named:
        raise InvalidInput("A program gets its parameters by name: give the space as {'name': (low, high), ...}.")
    command.require_known(space.parameters)
    command.require_always([name for name, parameter in space.parameters.items() if parameter.when])
    if here:
        command.require_program()


def checked_callbacks(callbacks: Any) -> tuple[Any, ...]:
    """The callbacks in a tuple.

    Raises:
        InvalidInput: they are in no list, or one of them cannot be called with a trial and a result.
    """
    if callable(callbacks) or isinstance(callbacks, str | Mapping) or not isinstance(callbacks, Iterable):
        inner = getattr(callbacks, "__name__", "function")
        raise InvalidInput(f"callbacks must be a list of functions, got {callbacks!r}: write callbacks=[{inner}].")
    listed = tuple(callbacks)
    for k, callback in enumerate(listed):
        check_callback(callback, f"callbacks[{k}]")
    return listed
