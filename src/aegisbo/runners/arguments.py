"""The arguments of a run, checked before anything is evaluated and any file is touched."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from threading import TIMEOUT_MAX
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.number import as_number
from aegisbo.runners.command import Command
from aegisbo.runners.pools import HERE, check_executor
from aegisbo.runners.signature import check_callback, check_function
from aegisbo.space.space import Space
from aegisbo.strategies.checks import optional, switch

Check = Callable[[str, Any], object]


def check_arguments(**given: Any) -> None:
    """Refuse arguments of `minimize` that cannot be used.

    Args:
        given: arguments by name.

    Raises:
        InvalidInput: the message names the value, and what to give instead.
    """
    for name, value in given.items():
        CHECKS[name](name, value)


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


def _count(remedy: str, least: int = 1, *, none: bool = False) -> Check:
    def check(name: str, value: Any) -> None:
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not (whole and value >= least) and not (none and value is None):
            raise InvalidInput(f"{name} is {value!r}: {remedy}.")

    return check


def _seconds(name: str, value: Any) -> None:
    if value is None:
        return
    number = as_number(value)
    if number is None or not 0 < number <= TIMEOUT_MAX:
        raise InvalidInput(f"{name} is {value!r}: give seconds, more than 0, or None for no limit.")


def _finite(name: str, value: Any) -> None:
    number = as_number(value)
    if value is not None and (number is None or not math.isfinite(number)):
        raise InvalidInput(f"{name} is {value!r}: give a finite number, or None.")


def _file(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, str | os.PathLike) or not os.fspath(value)):
        raise InvalidInput(f"{name} is {value!r}: give the name of a file, such as 'run.db', or None.")


CHECKS: dict[str, Check] = {
    "budget": _count("give a whole number of evaluations, at least 1"),
    "retries": _count("give a whole number, 0 for none", least=0),
    "give_up_after": _count("give at least 1, or None to go on whatever happens", none=True),
    "ahead": _count("give how many results a point may be behind, 0 to make none ahead of time", least=0),
    "timeout": _seconds,
    "trial_timeout": _seconds,
    "lease": _seconds,
    "target": _finite,
    "study": _file,
    "raise_errors": optional(switch),
    "progress": optional(switch),
    "anyway": switch,
}
