"""Calling the user's function, wherever it runs: here, in a worker process or on another machine.

An evaluation always has an outcome. What goes to another process and comes back is packed into bytes here, so that a
function or an answer that cannot travel is reported in the same words by every pool.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from time import perf_counter
from traceback import format_exc
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.outcome import Outcome, judged
from aegisbo.runners.protocol import StopRun

Judge = Callable[[object], Outcome]  # what an answer of the function means
Evaluation = Callable[[Any], Outcome]  # a function and its judge: from a point to its outcome


def evaluate(function: Callable[[Any], Any], x: Any, judge: Judge = judged) -> Outcome:
    """Call the function and judge its answer.

    Args:
        function: the user's function.
        x: its argument.
        judge: what an answer means; by default it must be one finite real number.

    Returns:
        The outcome, with the seconds that the function took. An exception of the function is an outcome too.

    Raises:
        StopRun: the run was ended while the function was running in this thread.
    """
    begin = perf_counter()
    try:
        outcome = judge(function(x))
    except StopRun:  # not an error of the function: the run ends around it
        raise
    except KeyboardInterrupt:  # Ctrl-C also reaches processes that others started: the point is not to blame
        outcome = Outcome("lost", reason="Interrupted by Ctrl-C.")
    except BaseException as error:  # sys.exit() in the function ends the evaluation, not the worker
        outcome = Outcome("failed", reason=in_words(error), traceback=format_exc())
    return replace(outcome, seconds=perf_counter() - begin)


def in_words(error: BaseException) -> str:
    """The kind of an exception and what it says, if it can."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def pack(evaluation: Evaluation) -> bytes:
    """The evaluation as bytes, for another process: also of lambdas, closures and what a script itself defines.

    Raises:
        InvalidInput: the function holds something that cannot be sent.
    """
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(evaluation))
    except Exception as error:
        raise InvalidInput(
            f"The function cannot be sent to another process ({error}): make files, locks and connections inside it, "
            'or use executor="threads".'
        ) from error


def evaluate_packed(packed: bytes, x: Any) -> bytes:
    """In the other process: unpack the evaluation, once per process, and return the packed outcome for `x`."""
    try:
        evaluation = _unpacked(packed)
    except Exception as error:  # for example, a module is missing there
        return pickle.dumps(Outcome("failed", reason=f"The function cannot be loaded by the worker: {in_words(error)}"))
    outcome = evaluation(x)
    try:
        return pickle.dumps(outcome)
    except Exception as error:
        reason = f"What the function returned cannot be sent back: {in_words(error)}"
        return pickle.dumps(Outcome("failed", reason=reason, seconds=outcome.seconds))


def unpack_outcome(packed: bytes) -> Outcome:
    """Back in the driver: the outcome that `evaluate_packed` returned."""
    try:
        outcome: Outcome = pickle.loads(packed)
        return outcome
    except Exception as error:
        return Outcome("failed", reason=f"What the function returned cannot be read here: {in_words(error)}")


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> Evaluation:
    evaluation: Evaluation = pickle.loads(packed)
    return evaluation
