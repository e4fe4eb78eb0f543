"""Whether a function can be called the way a run would call it, found out before anything is evaluated."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from inspect import Parameter, Signature
from reprlib import repr as brief
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.space.space import Space

BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
ANY_NUMBER = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def check_function(fun: Any, space: Space) -> None:
    """Refuse a function that cannot be called with a point of the space, or that would return no value."""
    if not callable(fun):
        raise InvalidInput(f"fun is {brief(fun)}, which cannot be called: give the function itself, without ().")
    _require_value(fun)
    signature = signature_of(fun)
    if signature is None:
        return
    problem = _by_name(fun, signature, space) if space.named else _by_position(fun, signature, space)
    if problem:
        raise InvalidInput(problem)


def check_callback(callback: Any, place: str) -> None:
    """Refuse a callback that cannot be called with a trial and a result."""
    signature = signature_of(callback) if callable(callback) else Signature()
    if signature is not None and not _binds(signature, 2):
        raise InvalidInput(f"{place} is {_called(callback)}: it must be a function of two arguments, (trial, result).")


def signature_of(fun: Callable[..., Any]) -> Signature | None:
    """The signature of a function, with the changes that decorators make; None if unknown."""
    try:
        return inspect.signature(fun, follow_wrapped=False)
    except (TypeError, ValueError):
        return None


def _require_value(fun: Callable[..., Any]) -> None:
    for each in (fun, type(fun).__call__):  # the second is for callable objects
        if inspect.iscoroutinefunction(each):
            raise InvalidInput(
                f"{_called(fun)} is async: pass a plain function that calls asyncio.run({_name(fun)}(...))."
            )
        if inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each):
            raise InvalidInput(f"{_called(fun)} yields its values: let it return one number instead.")


def _by_position(fun: Callable[..., Any], signature: Signature, space: Space) -> str:
    if _binds(signature, 1):
        return ""
    what = "a vector" if space.cube.continuous else "a list"
    names = [name for name, each in signature.parameters.items() if each.kind not in ANY_NUMBER]
    if not names:
        return f"{_called(fun)} takes no argument, but gets the point as {what}: write def {_name(fun)}(x)."
    return (
        f"{_called(fun)} takes {', '.join(names)}, but parameters without names come as {what} in one argument: name "
        f"them, as in {{{names[0]!r}: (low, high), ...}}, or write def {_name(fun)}(x)."
    )


def _by_name(fun: Callable[..., Any], signature: Signature, space: Space) -> str:
    names = list(space.parameters)
    taken = [name for name, each in signature.parameters.items() if each.kind in BY_NAME]
    open_ended = any(each.kind is Parameter.VAR_KEYWORD for each in signature.parameters.values())
    needed = [
        name
        for name, each in signature.parameters.items()
        if each.default is Parameter.empty and each.kind not in ANY_NUMBER
    ]
    missing = [name for name in needed if name not in names or name not in taken]
    unknown = [] if open_ended else [name for name in names if name not in taken]
    if unknown:
        return f"{_called(fun)} takes no {unknown[0]!r}: {_instead(fun, unknown, names, taken)}"
    if missing:
        return (
            f"{_called(fun)} needs {missing[0]!r}, which is no parameter of the space ({', '.join(names)}): add it "
            "there, or give it a default."
        )
    if sometimes := [name for name in needed if space.parameters[name].when]:
        return (
            f"{_called(fun)} needs {sometimes[0]!r}, which does not always exist: give it a default, as in "
            f"{sometimes[0]}=None."
        )
    return ""


def _instead(fun: Callable[..., Any], unknown: Sequence[str], names: Sequence[str], taken: Sequence[str]) -> str:
    name, free = unknown[0], [each for each in taken if each not in names]
    near = get_close_matches(name.lower(), free, n=1, cutoff=0.5) or [each for each in free if _abbreviates(each, name)]
    if near and len(unknown) <= len(free):  # else no other name would help: def f(x), but a and b in the space
        return f"did you mean {near[0]!r}?"
    call = ", ".join(f"{each}=..." for each in names)
    return f"it is called as {_name(fun)}({call}). Write def {_name(fun)}({', '.join(names)}), or **params for a dict."


def _abbreviates(short: str, long: str) -> bool:
    """Whether `short` is made of the first letters of the words of `long`, such as lr of learning_rate."""
    return short.lower() == "".join(word[:1] for word in long.lower().split("_"))


def _binds(signature: Signature, count: int) -> bool:
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True


def _name(fun: Any) -> str:
    """The name after def."""
    name = str(getattr(_inner(fun), "__name__", "__call__"))
    return name if name.isidentifier() else "f"


def _called(fun: Any) -> str:
    inner = _inner(fun)
    if not callable(inner):
        return brief(inner)
    return f"{getattr(inner, '__name__', f'{type(inner).__name__}.__call__')}()"


def _inner(fun: Any) -> Any:
    return _inner(fun.func) if isinstance(fun, partial) else fun
