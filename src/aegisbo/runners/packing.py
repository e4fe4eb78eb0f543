"""The user's function on its way to another process, and its answer on the way back.

Both are packed into bytes here, so that a function or an answer that cannot be sent is reported in the same words by
every pool.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from traceback import format_exc
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.outcome import Outcome
from aegisbo.runners.evaluation import Evaluation, error_text
from aegisbo.runners.reports import Line, called_on


def pack(evaluation: Evaluation) -> bytes:
    """The evaluation as bytes for another process, including lambdas, closures and functions defined in a script."""
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(evaluation))
    except Exception as error:
        raise InvalidInput(
            f"The function cannot be sent to another process ({error}): make files, locks and connections inside it, "
            'or use executor="threads".'
        ) from error


def load(packed: bytes) -> None:
    """In the other process: unpack the evaluation beforehand; errors are reported with the first point."""
    with suppress(Exception, SystemExit):
        _unpacked(packed)


def pack_point(x: Any) -> bytes | Outcome:
    """A point as bytes; if it cannot be sent, an outcome that says so.

    It is packed here, so that a later exception is always the pool's fault and never the point's.
    """
    try:
        return pickle.dumps(x)
    except Exception as error:
        return Outcome("failed", reason=f"The point cannot be sent to another process: {error_text(error)}")


def evaluate_packed(
    packed: bytes, point: bytes, called: Callable[[], None] = lambda: None, line: Line | None = None
) -> bytes:
    """In the other process: the packed outcome for a point, whose reports go on the line.

    `called` is called just before the function is.
    """
    try:
        x = pickle.loads(point)
    except Exception as error:  # for example, its class cannot be imported here
        return pickle.dumps(Outcome("failed", reason=f"The point cannot be read by the worker: {error_text(error)}"))
    try:
        evaluation = _unpacked(packed)
    except (Exception, SystemExit) as error:  # for example, a module is missing there
        reason = f"The function cannot be loaded by the worker: {error_text(error)}"
        return pickle.dumps(Outcome("lost", reason=reason, traceback=format_exc(), unusable=True))
    called()
    outcome = called_on(line, evaluation, x)
    try:
        return pickle.dumps(outcome)
    except Exception as error:
        reason = f"What the function returned cannot be sent back: {error_text(error)}"
        return pickle.dumps(Outcome("failed", reason=reason, seconds=outcome.seconds))


def unpack_outcome(packed: bytes) -> Outcome:
    """Back in the driver: the outcome that `evaluate_packed` returned."""
    try:
        outcome: Outcome = pickle.loads(packed)
        return outcome
    except Exception as error:
        return Outcome("failed", reason=f"What the function returned cannot be read here: {error_text(error)}")


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> Evaluation:
    evaluation: Evaluation = pickle.loads(packed)
    return evaluation
