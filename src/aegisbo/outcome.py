"""How an evaluation ends: one vocabulary of states, and the one place that judges what a function returned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from reprlib import repr as brief
from typing import Any, Literal, get_args

from aegisbo.number import as_number

Failure = Literal["failed", "invalid", "timed_out"]  # ended without a usable value: still a result
Ended = Literal["done", Failure, "lost"]  # lost: the worker died before there was a result
State = Literal["pending", Ended, "forgotten"]  # forgotten: on request, as if it had never been asked for
FAILURES: tuple[Failure, ...] = get_args(Failure)
NO_NUMBER = "it must return one real number."  # how the reason of an answer ends that is none


@dataclass(frozen=True)
class Outcome:
    """The end of an evaluation: a value, or the reason why there is none."""

    state: Ended
    value: Any = math.nan  # a finite float where the state is "done", unless another judge decided
    reason: str = ""
    traceback: str = ""
    seconds: float | None = None  # that the function itself took, measured where it ran; None if nobody knows
    began: float | None = None  # when the function was called, in seconds since 1970 by the clock where it ran
    worker: int | None = None  # which worker of the pool evaluated it, counted from 0
    output: str = ""  # the end of what the function printed
    shared: bool = False  # lost together with others, one of which broke the workers of all
    unusable: bool = False  # the function could not be run at all, wherever the point lies: a module is missing, say
    sd: float | None = None  # standard deviation of the value, where somebody knows it
    details: Mapping[str, Any] | None = None  # what else the function said, in JSON's types; it decides nothing


@dataclass(frozen=True)
class Answer:
    """What a function returns that has more to say than its value."""

    value: Any
    details: Mapping[str, Any]  # in JSON's types; kept with the trial


def judged(answer: object) -> Outcome:
    """What an answer of the user's function means: done if it is one finite real number, else invalid."""
    if isinstance(answer, Answer):
        return replace(judged(answer.value), details=answer.details)
    value = as_number(answer)
    if value is None:
        return Outcome("invalid", reason=f"The function returned {brief(answer)}: {NO_NUMBER}")
    if not math.isfinite(value):
        return Outcome("invalid", reason=f"The function returned {value}: it must return a finite number.")
    return Outcome("done", value)


def kept(answer: object) -> Outcome:
    """Done, whatever the answer is: for functions that return something else than a number."""
    return Outcome("done", answer)
