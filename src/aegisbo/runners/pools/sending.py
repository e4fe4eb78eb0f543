"""The user's function on its way to another process: also lambdas, closures and what a script itself defines."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.runners.workers import Outcome, evaluate


def packed(function: Callable[[Any], Any]) -> bytes:
    """The function as bytes, or an error before anything has started."""
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(function))
    except Exception as error:
        raise InvalidInput(
            f"The function cannot be sent to another process ({error}): make files, locks and connections inside it, "
            'or use executor="threads".'
        ) from error


def evaluate_packed(payload: bytes, x: Any) -> Outcome:
    """Unpack the function, once a process, and evaluate it."""
    try:
        function = _unpacked(payload)
    except Exception as error:  # a module that is missing over there, say
        return Outcome("failed", reason=f"The function cannot be loaded by the worker: {type(error).__name__}: {error}")
    return evaluate(function, x)


@lru_cache(maxsize=4)
def _unpacked(payload: bytes) -> Callable[[Any], Any]:
    function: Callable[[Any], Any] = pickle.loads(payload)
    return function
