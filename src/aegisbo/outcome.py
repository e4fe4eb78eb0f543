"""How an evaluation ends: one vocabulary of states, and the one place that judges what a function returned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from reprlib import repr as brief
from typing import Any, Literal, NamedTuple, get_args

from aegisbo.errors import InvalidInput
from aegisbo.number import as_finite, as_number

Failure = Literal["failed", "invalid", "timed_out"]  # ended without a usable value: still a result
# stopped: by the run, which did not expect enough of it; lost: the worker died before there was a result
Ended = Literal["done", Failure, "stopped", "lost"]
State = Literal["pending", Ended, "forgotten"]  # forgotten: on request, as if it had never been asked for
MOST_WORKERS = 100_000  # that a run may have: a picture has a line for each
FAILURES: tuple[Failure, ...] = get_args(Failure)
RESULTS: tuple[Ended, ...] = ("done", *FAILURES)  # how an evaluation ends that has a result
NOT_MEASURED = "The evaluation did not measure"  # how the reason of an answer begins that lacks something
NO_NUMBER = "it must return one real number."  # how the reason of an answer ends that is none
NO_SD = "with several objectives leave sd out; noisy=True learns the noise of each."
SD = "sd"  # among what a function measures, the standard deviation of its value


class Report(NamedTuple):
    """What an evaluation said while it was running."""

    step: float
    value: float | None  # None if it was not finite
    seconds: float | None = None  # since the function was called


@dataclass(frozen=True)
class Outcome:
    """The end of an evaluation: a value, or the reason why there is none."""

    state: Ended
    # A finite float where the state is "done", unless another judge decided; None of several objectives.
    value: Any = math.nan
    reason: str = ""
    traceback: str = ""
    seconds: float | None = None  # that the function itself took, measured where it ran; None if nobody knows
    began: float | None = None  # when the function was called, in seconds since 1970 by the clock where it ran
    worker: int | None = None  # which worker of the pool evaluated it, counted from 0
    output: str = ""  # the end of what the function printed
    shared: bool = False  # lost together with others, one of which broke the workers of all
    measured: Mapping[str, float] = field(default_factory=dict)  # beside the value, by name
    unusable: bool = False  # the function could not be run at all, wherever the point lies: a module is missing, say
    sd: float | None = None  # standard deviation of the value, where somebody knows it
    details: Mapping[str, Any] | None = None  # what else the function said, in JSON's types; it decides nothing
    reports: tuple[Report, ...] = ()  # that were not sent while it was running; they are written as events before it


@dataclass(frozen=True)
class Answer:
    """What a function returns that has more to say than its value."""

    value: Any
    details: Mapping[str, Any] | None = None  # in JSON's types; kept with the trial
    known: Mapping[str, Any] = field(default_factory=dict)  # objectives that follow from the parameters


@dataclass(frozen=True)
class Wanted:
    """What an evaluation must measure."""

    objectives: tuple[str, ...] = ()  # by name, instead of one number
    limited: tuple[str, ...] = ()  # what has a limit
    known: tuple[str, ...] = ()  # what follows from the parameters, and need not be measured

    @property
    def names(self) -> tuple[str, ...]:
        """All of it that has a name."""
        return tuple(name for name in dict.fromkeys((*self.objectives, *self.limited)) if name not in self.known)

    def missing(self, name: str, given: object) -> str:
        """Why an answer cannot be used that lacks one of the names, and what to do."""
        if not self.objectives:
            return f"{NOT_MEASURED} {name}, which has a limit: return value, {{{name!r}: ...}}."
        what = "is an objective" if name in self.objectives else "has a limit"
        gave = "" if given == {} else f" It gave {brief(given)}."
        return f"{NOT_MEASURED} {name}, which {what}: return {self.form}, or let a program print {name}=...{gave}"

    @property
    def form(self) -> str:
        """How an answer with all names is written."""
        return f"{{{', '.join(f'{name!r}: ...' for name in self.names)}}}"


ONE_NUMBER = Wanted()


def judged(answer: object, wanted: Wanted = ONE_NUMBER) -> Outcome:
    """What an answer of the user's function means: done if it is one finite real number, else invalid.

    Beside the number there may be others by name, as in (0.3, {"latency": 3.2}), and those that are wanted must be;
    `sd` among them is the standard deviation of the number. Several objectives have names only.
    """
    if isinstance(answer, Answer):
        outcome = with_known(judged(answer.value, wanted), answer.known, wanted)
        return outcome if answer.details is None else replace(outcome, details=answer.details)
    measured: Mapping[Any, Any] = {}
    match answer:
        case (inner, Mapping() as given):
            answer, measured = inner, given
    if wanted.objectives:
        return _judged_by_name(answer, measured, wanted)
    sd = measured.get(SD)
    if sd is not None and not is_sd(sd):
        return Outcome("invalid", reason=f"The function returned sd = {brief(sd)}: it must be a number, 0 or more.")
    value = as_number(answer)
    if value is None:
        return Outcome("invalid", reason=f"The function returned {brief(answer)}: {NO_NUMBER}")
    if not math.isfinite(value):
        return Outcome("invalid", reason=f"The function returned {value}: it must return a finite number.")
    others = {name: number for name, number in measured.items() if name != SD}
    return with_measured(Outcome("done", value, sd=as_number(sd)), others, wanted)


def _judged_by_name(answer: object, measured: Mapping[Any, Any], wanted: Wanted) -> Outcome:
    """What an answer means that must have all objectives in it."""
    if not isinstance(answer, Mapping):
        return Outcome("invalid", reason=wanted.missing(wanted.names[0], answer))
    everything = {**answer, **measured}
    if SD in everything:
        return Outcome("invalid", reason=f"The function returned sd = {brief(everything[SD])}: {NO_SD}")
    return with_measured(Outcome("done", None), everything, wanted)


def as_report(value: object, step: object, seconds: float | None = None) -> Report:
    """What an evaluation says of itself, checked.

    Raises:
        InvalidInput: the value is no number, or the step is no finite one.
    """
    number, at = as_number(value), as_finite(step)
    if number is None:
        raise InvalidInput(f"The value reported is {brief(value)}: report one real number.")
    if at is None:
        raise InvalidInput(f"The step reported is {brief(step)}: give a finite number, such as that of the epoch.")
    return Report(at, number if math.isfinite(number) else None, seconds)


def is_sd(value: object) -> bool:
    """Whether this can be a standard deviation."""
    return as_finite(value, least=0.0) is not None


def with_measured(outcome: Outcome, measured: Mapping[Any, Any], wanted: Wanted) -> Outcome:
    """The outcome with what was measured by name; invalid if that is not all that is wanted, in numbers."""
    numbers: dict[str, float] = {}
    for name, given in measured.items():
        number = as_finite(given)
        if number is None:
            reason = f"The evaluation measured {name} = {brief(given)}: it must be a finite number."
            return Outcome("invalid", reason=reason)
        numbers[str(name)] = number
    for name in wanted.names:
        if name not in numbers:
            return Outcome("invalid", reason=wanted.missing(name, dict(measured)))
    return replace(outcome, measured=numbers)


def with_known(outcome: Outcome, known: Mapping[str, Any], wanted: Wanted) -> Outcome:
    """The outcome with what follows from the parameters, if it is done."""
    if outcome.state != "done" or not known:
        return outcome
    return with_measured(outcome, {**outcome.measured, **known}, wanted)


def kept(answer: object) -> Outcome:
    """Done, whatever the answer is: for functions that return something else than a number."""
    return Outcome("done", answer)
