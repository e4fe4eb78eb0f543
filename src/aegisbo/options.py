"""Every option of a run, once: its default, its check, its words on the command line, and whether it may change.

From this table follow the flags of `aegisbo minimize` and `aegisbo work`, what `aegisbo set` can change, what a study
stores of a call, and the call by which the report says how to go on. `minimize` writes all options out, because people
read its signature; a test holds it against the table. An option that is added here must be added there, and be heeded
where it has its effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from numbers import Integral
from threading import TIMEOUT_MAX
from typing import Any

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.number import as_finite, as_number, as_switch, as_whole
from aegisbo.printable import brief
from aegisbo.stop_when import checked_stop_when

Check = Callable[[str, Any], Any]  # (name, value) -> the value as it is kept; refuses what cannot be used

MOST = 10**15  # of anything that is counted


def as_stored(value: Any) -> int | float | None:
    """A number as JSON holds it: NumPy's and fractions are numbers, too."""
    return value if value is None else int(value) if isinstance(value, Integral) else float(value)


def count(remedy: str, least: int = 1, *, none: bool = False) -> Check:
    """A check for whole numbers that are not less than the least one, and that a run could reach."""

    def check(name: str, value: Any) -> int | float | None:
        if as_whole(value, least, MOST) is None and not (none and value is None):
            beyond = f" and at most {MOST:,}" if as_whole(value, least) is not None else ""
            raise InvalidInput(f"{name} is {brief(repr(value))}: {remedy}{beyond}.")
        return as_stored(value)

    return check


def check_that(kept: Callable[[Any], Any], otherwise: str, *, none: bool = False) -> Check:
    """A check that keeps what a function makes of the value; if that is None, it is refused with this sentence."""

    def check(name: str, value: Any) -> Any:
        if none and value is None:
            return None
        if (found := kept(value)) is None:
            raise InvalidInput(otherwise.format(name=name, value=brief(repr(value))))
        return found

    return check


def _seconds(value: Any) -> int | float | None:
    """A time that a clock can wait for."""
    number = as_number(value)
    return as_stored(value) if number is not None and 0 < number <= TIMEOUT_MAX else None


def _finite(value: Any) -> int | float | None:
    return None if as_finite(value) is None else as_stored(value)


NO_SECONDS, NO_SWITCH = "{name} is {value}: give seconds, more than 0", "{name} must be True or False, got {value}."
seconds = check_that(_seconds, f"{NO_SECONDS}.")
time_limit = check_that(_seconds, f"{NO_SECONDS}; without it, or with None, there is no limit.", none=True)
finite = check_that(_finite, "{name} is {value}: give a finite number, or None.", none=True)
natural = check_that(
    partial(as_whole, least=0), "{name} must be an integer from 0 upwards, or None, got {value}.", none=True
)
switch = check_that(as_switch, NO_SWITCH)
rule = check_that(
    lambda value: value if isinstance(value, str) else as_switch(value),
    "{name} must be True, False or the name of a rule, got {value}.",
    none=True,
)
step = check_that(
    lambda value: number if (number := _finite(value)) is not None and number > 0 else None,
    "{name} is {value}: give the step at which an evaluation ends, more than 0, or None.",
    none=True,
)
maybe_switch = check_that(as_switch, NO_SWITCH, none=True)


def judged_later(name: str, value: Any) -> Any:
    """Whatever it is: it can be judged only together with the space, the strategy or the kind of workers."""
    return value


@dataclass(frozen=True)
class Flag:
    """How an option is given on the command line."""

    help: str
    takes: str = ""  # what stands behind it, as --help shows it; nothing behind a switch
    of: type = str  # what is read: int, float, str, bool for a switch, list for one that may be given several times
    least: int = 0  # of a whole number
    name: str = ""  # without --, where it is not that of the option
    only: str = ""  # the one command that has it
    copies: str = ""  # the help of `aegisbo work`, where that says something else


@dataclass(frozen=True)
class Option:
    """What is known of an option."""

    default: Any
    flag: Flag | None = None  # None: for Python only, or the commands have a way of their own
    check: Check = judged_later
    fixed: str = ""  # why it cannot be changed while a run goes on; empty if it can
    shared: bool = False  # copies of a shared study heed a change; else each copy has its own
    open: bool = False  # a call may leave it open with None, which a run that goes on cannot be given
    none_at_zero: bool = False  # in text 0 stands for None


def option(default: Any, *about: Any, **more: Any) -> Any:
    """A field of `Options` that is an `Option`."""
    return field(default=default, metadata={"option": Option(default, *about, **more)})


ONE_CALL = "it belongs to one call. End the run and make the call with another one"
DECIDED = "earlier choices were made with it. Begin another study --from this one"


@dataclass(frozen=True)
class Options:
    """How a run is driven: how far it may go, on which workers, and what it does about failures.

    What is not `fixed` may change while the run goes on, and is stored with each call.
    """

    budget: int = option(
        None,  # until the study has said it
        Flag("Evaluations in total.", "N", int, least=1, copies="Evaluations of all copies in total."),
        count("give a whole number of evaluations, at least 1"),
        shared=True,
        open=True,
    )
    workers: int | None = option(
        None,
        Flag(
            "Evaluations at a time; one per core unless given.",
            "N",
            int,
            1,
            copies="Evaluations of this copy at a time.",
        ),
        count("give a whole number from 1 upwards"),
        open=True,
    )
    executor: Any = option(
        None,
        Flag(
            "`processes`, `threads`, `serial`, `ray`, `slurm:minutes=30`, or the address of a Dask scheduler.",
            "KIND",
            only="minimize",
        ),
        fixed=ONE_CALL,
    )
    threads_per_worker: int | None = option(
        None,
        Flag("BLAS and OpenMP threads of a worker; a share of the cores.", "N", int, 1),
        fixed=ONE_CALL,
    )
    worker_env: Any = option(
        None,
        Flag(
            "An environment variable of the workers, such as `CUDA_VISIBLE_DEVICES={slot}`. Repeatable.",
            "NAME=VALUE",
            list,
        ),
        fixed=ONE_CALL,
    )
    timeout: float | None = option(
        None, Flag("Seconds for the whole run.", "S", float, copies="Seconds for this copy."), time_limit, shared=True
    )
    trial_timeout: float | None = option(None, Flag("Seconds for one evaluation.", "S", float), time_limit, shared=True)
    retries: int = option(
        2,
        Flag("How often an evaluation is tried again if its worker died.", "N", int),
        count("give a whole number, 0 for none", least=0),
    )
    target: float | None = option(None, Flag("Stop when a value is as good as this.", "Y", float), finite, shared=True)
    stop_when: str | None = option(
        None,
        Flag("Stop when `chance of 1% better in the next 50 < 0.05`, or after `no 1% better in 30`.", "TEXT"),
        checked_stop_when,
        shared=True,
    )
    give_up_after: int | None = option(
        20,
        Flag("Stop if the first N evaluations all fail; 0: never.", "N", int),
        count("give at least 1, or None to go on whatever happens", none=True),
        shared=True,
        none_at_zero=True,
    )
    raise_errors: bool | None = option(
        None,
        Flag(
            "Stop at the first exception; unless given, with `serial` only.",
            of=bool,
            name="raise-errors/--no-raise-errors",
            only="minimize",
        ),
        maybe_switch,
        fixed=ONE_CALL,
    )
    lease: float = option(
        60.0,
        Flag("Seconds without a sign of life after which others run what this copy ran.", "S", float, only="work"),
        seconds,
        fixed=ONE_CALL,
    )
    progress: bool | None = option(None, None, maybe_switch, fixed=ONE_CALL)
    anyway: bool = option(
        False, Flag("Continue a study although the function has changed.", of=bool), switch, fixed=ONE_CALL
    )

    @classmethod
    def checked(cls, **given: Any) -> Options:
        """Options as a user gave them.

        Raises:
            InvalidInput: one cannot be used; the message names the value and what to give instead.
        """
        checked: dict[str, Any] = {
            name: value if value is None and OPTIONS[name].open else OPTIONS[name].check(name, value)
            for name, value in given.items()
        }
        return cls(**checked)

    def describe(self) -> dict[str, Any]:
        """What a study stores of a call, in JSON's types."""
        return {name: getattr(self, name) for name in CHANGEABLE}


OPTIONS: dict[str, Option] = {each.name: each.metadata["option"] for each in fields(Options)}
CHANGEABLE = tuple(name for name, each in OPTIONS.items() if not each.fixed)
TEXTS = tuple(name for name in CHANGEABLE if (flag := OPTIONS[name].flag) and flag.of is str)
SHARED = tuple(name for name in CHANGEABLE if OPTIONS[name].shared)
NONE_AT_ZERO = tuple(name for name in CHANGEABLE if OPTIONS[name].none_at_zero)
OF_A_COPY = {"workers": 1}  # what `aegisbo work` does by itself, where `minimize` does something else


def decided(default: Any, flag: Flag | None, check: Check = judged_later, fixed: str = DECIDED) -> Option:
    """An option that decides the choices."""
    return Option(default, flag, check, fixed)


# What decides the choices of a run, as it is given; `optimizer.Settings` is made from it.
SETTINGS: dict[str, Option] = {
    "strategy": decided("aegis", Flag("The strategy; `aegisbo strategies` lists them.", "NAME")),
    "preset": decided(None, Flag("`adaptive`, `modern` or `paper`; `adaptive` unless given.", "NAME")),
    "n_initial": decided(None, Flag("Points spread out at the start; two for each parameter.", "N", int), natural),
    "seed": decided(None, Flag("Makes random choices repeatable.", "N", int), natural),
    "initial": decided(
        None, None, fixed="the first points have been chosen. `aegisbo add` lets another point be tried"
    ),
    "maximize": decided(False, Flag("Look for the largest value.", of=bool), switch),
    "noisy": decided(False, Flag("Values are noisy: the best mean counts, not the luckiest value.", of=bool), switch),
    "cost": decided(None, Flag("`time`: prefer points that are quick to evaluate.", "time")),
    "constraints": decided(
        (), Flag("What points must satisfy, such as `a < b`. Repeatable.", "TEXT", list, name="constraint")
    ),
    "limits": decided(
        (),
        Flag("A limit on a quantity that is measured, such as `latency <= 5`. Repeatable.", "TEXT", list, name="limit"),
    ),
    "objectives": decided(
        (), Flag("One of several objectives, such as `accuracy max`; two to four.", "TEXT", list, name="objective")
    ),
    "stop_early": decided(False, Flag("Stop evaluations that fall behind in what they report.", of=bool), rule),
    "steps": decided(None, Flag("The last step that evaluations report; learned unless given.", "N", float), step),
    "resumable": decided(
        False, Flag("Give each evaluation a folder, so that one that was stopped may go on later.", of=bool), switch
    ),
}
SPACE_FIXED = "earlier points lie in it. Give wider bounds to the next call, or begin another study --from this one"


def checked_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes as they are stored, if a run that goes on can heed them.

    Raises:
        InvalidInput: there are none, or one of them cannot be made; the message says why.
    """
    if not changes:
        raise InvalidInput(f"Nothing to change: give one or more of {', '.join(CHANGEABLE)}.")
    fixed = {"space": SPACE_FIXED} | {name: each.fixed for name, each in (OPTIONS | SETTINGS).items() if each.fixed}
    for name in changes:
        if name in fixed:
            raise InvalidInput(f"{name} cannot be changed while a run goes on: {fixed[name]}.")
        if name not in CHANGEABLE:
            raise UnknownName("setting", name, CHANGEABLE)
    return {name: OPTIONS[name].check(name, value) for name, value in changes.items()}
