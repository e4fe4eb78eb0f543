"""What can happen in a run: a class for each kind of event, which knows how it is written and checks what is read.

A log of these is the whole truth about a run. Whoever wants to know how it stands lets them happen again, in order.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias, get_type_hints

from aegisbo.errors import OF_NONSENSE, AegisError, StudyError, TrialError
from aegisbo.outcome import FAILURES, MOST_WORKERS, RESULTS, Outcome, Report
from aegisbo.outcome import Ended as Ending

Test = Callable[[Any], bool]
Body: TypeAlias = dict[str, Any]  # of an event, in JSON's types
LATEST = 2e11  # seconds since 1970: beyond, calendars have no name for the year
OBSERVED = {"move": "observed"}  # the note of a point that was observed elsewhere


def _is(*types: type) -> Test:
    return lambda value: type(value) in types  # as JSON has it: no subclass, and a bool is no int


def _number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _time(value: Any) -> bool:
    return _number(value) and abs(value) < LATEST


def _worker(value: Any) -> bool:
    return type(value) is int and 0 <= value < MOST_WORKERS


def _or_none(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _list_of(test: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _any_of(*tests: Test) -> Test:
    return lambda value: any(test(value) for test in tests)


def _dict_of(test: Test) -> Test:
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


def _objective(value: Any) -> bool:
    return _dict_of(_or_none(_text))(value) and bool(value.get("name"))


_text, _whole, _dict, _mark = _is(str), _is(int), _is(dict), _is(bool)
_numbers, _idle = _list_of(_whole), _list_of(_dict_of(_number))


class Part(NamedTuple):
    """Of the body of an event."""

    name: str
    test: Test
    default: Any = None  # MISSING if it must be there


class StoredMemory(dict[str, Any]):
    """A memory that was read, not given by the strategy in this process: somebody may have changed it since."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened."""

    kind: ClassVar[str]
    id: int = 0  # its place in the log, counted from 1; 0 until it has been written down
    at: float = 0.0  # when it was written down, in seconds since 1970
    number: int | None = None  # of the trial to which it happened, if it is one

    @property
    def body(self) -> Body:
        """What is written down of it, beside its kind and the number of its trial: all that is not as by default."""
        values = {part.name: getattr(self, part.name) for part in PARTS[type(self)]}
        return {part.name: values[part.name] for part in PARTS[type(self)] if values[part.name] is not part.default}


@dataclass(frozen=True)
class OfTrial(Event):
    """Something that happened to one trial."""

    number: int = field()


@dataclass(frozen=True)
class Created(Event):
    """A study was begun."""

    kind = "created"
    optimizer: Annotated[Body, _dict]  # its settings
    build: Annotated[Mapping[str, str], _dict_of(_text)]  # what the digits of a decision may depend on
    objective: Annotated[Body | None, _objective] = None


@dataclass(frozen=True)
class Widened(Event):
    """The bounds of the space became wider."""

    kind = "widened"
    space: Annotated[Any, _is(dict, list)]


@dataclass(frozen=True)
class Opened(Event):
    """A driver began to work, on its own."""

    kind = "opened"
    pid: Annotated[int, _whole]
    host: Annotated[str | None, _text] = None
    call: Annotated[Body | None, _dict] = None  # what it was asked for
    objective: Annotated[Body | None, _objective] = None


@dataclass(frozen=True)
class Closed(Event):
    """A driver ended by itself."""

    kind = "closed"
    message: Annotated[str, _text]
    idle: Annotated[Sequence[Mapping[str, float]], _idle]  # how each worker spent its time, in seconds


@dataclass(frozen=True)
class Joined(Event):
    """A copy began to work beside others, or is there again after having been given up."""

    kind = "joined"
    lease: Annotated[float, _number]  # seconds without a sign of life after which others count it as dead
    call: Annotated[Body, _dict]  # what it was asked for
    lane: Annotated[int, _worker]  # the number of its first worker, where each copy has others
    pid: Annotated[int | None, _whole] = None
    host: Annotated[str | None, _text] = None
    objective: Annotated[Body | None, _objective] = None
    copy: Annotated[int | None, _whole] = None  # which one, if it is there again

    @property
    def name(self) -> int:
        """By which the copy is known."""
        return self.id if self.copy is None else self.copy


@dataclass(frozen=True)
class Left(Event):
    """A copy ended, or others buried it."""

    kind = "left"
    copy: Annotated[int, _whole]
    message: Annotated[str, _text]
    idle: Annotated[Sequence[Mapping[str, float]], _idle]
    given_back: Annotated[bool, _mark] = False  # by itself, with the trials that it held
    buried: Annotated[bool, _mark] = False  # by another copy


@dataclass(frozen=True)
class Asked(OfTrial):
    """A point was chosen."""

    kind = "asked"
    params: Annotated[Body, _dict]
    note: Annotated[Body, _dict]
    memory: Annotated[Mapping[str, Any], _dict]  # what the strategy remembers from then on
    seen: Annotated[int, _whole]  # the last event that the choice knew of
    seconds: Annotated[float, _time]  # that it took
    copy: Annotated[int | None, _whole] = None  # that will run it


@dataclass(frozen=True)
class Taken(OfTrial):
    """A copy began to run a trial that nobody ran."""

    kind = "taken"
    copy: Annotated[int, _whole]


@dataclass(frozen=True)
class Reported(OfTrial):
    """A running evaluation said how far it is. Not every report is written down."""

    kind = "reported"
    step: Annotated[float, _number]
    value: Annotated[float | None, _or_none(_number)] = None  # None if it was not finite
    seconds: Annotated[float | None, _or_none(_time)] = None  # since the function was called
    copy: Annotated[int | None, _whole] = None  # that runs it

    @property
    def report(self) -> Report:
        return Report(self.step, self.value, self.seconds)


@dataclass(frozen=True)
class Halted(OfTrial):
    """The run decided that a running evaluation is to stop; it goes on until it hears of it."""

    kind = "halted"
    reason: Annotated[str, _text]
    seen: Annotated[int, _whole]  # the last event that the decision knew of
    step: Annotated[float | None, _or_none(_number)] = None  # of the last report that it knew; old studies lack it
    copy: Annotated[int | None, _whole] = None  # that runs it


@dataclass(frozen=True)
class Resumed(OfTrial):
    """The run decided that an evaluation that had stopped goes on."""

    kind = "resumed"
    seen: Annotated[int, _whole]  # the last event that the decision knew of
    copy: Annotated[int | None, _whole] = None  # that will run it


@dataclass(frozen=True)
class _Attempt(OfTrial):
    """An evaluation came to an end."""

    outcome: Outcome
    copy: Annotated[int | None, _whole] = None  # that ran it
    given_back: Annotated[bool, _mark] = False
    buried: Annotated[bool, _mark] = False

    @property
    def body(self) -> Body:
        outcome = self.outcome
        told: Body = {} if self.kind in ("told", "stopped", "lost") else {"state": outcome.state}
        if outcome.state == "done":
            told |= {} if outcome.value is None else {"value": outcome.value}
            told |= _beside(outcome)
        else:
            told |= {"reason": outcome.reason, "traceback": outcome.traceback}
        told |= {name: getattr(outcome, name) for name in ("seconds", "began", "worker", "output")}
        return told | ({} if outcome.details is None else {"details": outcome.details}) | super().body


@dataclass(frozen=True)
class Ended(_Attempt):
    """A trial has a result: a value, or the reason why there is none."""

    @property
    def kind(self) -> str:  # type: ignore[override]
        return {"done": "told", "stopped": "stopped"}.get(self.outcome.state, "failed")


@dataclass(frozen=True)
class Lost(_Attempt):
    """A worker or a copy died, or gave its trial back: it will be run again."""

    kind = "lost"


@dataclass(frozen=True)
class Late(_Attempt):
    """An evaluation ended whose trial others had ended or taken over: it counts for nothing."""

    kind = "late"


@dataclass(frozen=True)
class Observed(OfTrial):
    """An evaluation elsewhere ended like this."""

    kind = "observed"
    params: Annotated[Body, _dict]
    outcome: Outcome
    note: Annotated[Body | None, _dict] = None  # where it came from, if that is more than being observed

    @property
    def body(self) -> Body:
        outcome, done = self.outcome, self.outcome.state == "done"
        told = {"state": outcome.state, "value": outcome.value if done else None}
        return {**told, "reason": None if done else outcome.reason, **_beside(outcome), **super().body}


def _beside(outcome: Outcome) -> Body:
    """What was told beside the value of an evaluation, if there is one."""
    told = {"measured": dict(outcome.measured), "sd": outcome.sd} if outcome.state == "done" else {}
    return {name: part for name, part in told.items() if part not in ({}, None)}


@dataclass(frozen=True, kw_only=True)
class Caused(Event):
    """Something that a person or a program caused, not the run itself."""

    author: Annotated[str | None, _text] = None  # who; None: whoever uses the study, and did not say
    share: Annotated[float | None, _number] = None  # of the evaluations that the author may use up; None: any

    @property
    def cost(self) -> int:
        """How many evaluations it may use up: one, or that of each trial that it names."""
        return len(getattr(self, "numbers", [None]))

    @property
    def by(self) -> Body:
        """Who caused it and under which bound, as far as that was said."""
        told = {"author": self.author, "share": self.share}
        return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True)
class Added(Caused):
    """Somebody wants a point to be tried."""

    kind = "added"
    params: Annotated[Body, _dict]


@dataclass(frozen=True)
class Changed(Caused):
    """Somebody changed settings of the run."""

    kind = "set"
    changes: Annotated[Mapping[str, float | str | None], _dict_of(_or_none(_any_of(_number, _text)))]


@dataclass(frozen=True)
class Retried(Caused):
    """Trials are to be run again."""

    kind = "retried"
    numbers: Annotated[Sequence[int], _numbers]


@dataclass(frozen=True)
class Forgotten(Caused):
    """Trials are to count for nothing."""

    kind = "forgotten"
    numbers: Annotated[Sequence[int], _numbers]


KINDS: dict[str, type[Event]] = {
    "told": Ended,
    "failed": Ended,
    "stopped": Ended,
    **{
        event.kind: event
        for event in (
            *(Created, Widened, Opened, Closed, Joined, Left),
            *(Asked, Taken, Reported, Halted, Resumed, Lost, Late, Observed, Added, Changed, Retried, Forgotten),
        )
    },
}
# How evaluations may end, by kind of event; the first unless it is written down.
STATES: dict[str, tuple[Ending, ...]] = {
    "told": ("done",),
    "failed": FAILURES,
    "stopped": ("stopped",),
    "lost": ("lost",),
    "late": (*RESULTS, "stopped", "lost"),
    "observed": RESULTS,
}
RESULT = (  # what may be told of an evaluation, as `Outcome` has it,
    Part("measured", _dict_of(_number)),
    Part("sd", _or_none(_number)),
    Part("reason", _or_none(_text)),
)
WENT = (  # and of one of this run
    Part("traceback", _text),
    Part("seconds", _or_none(_time), MISSING),
    Part("began", _or_none(_time)),
    Part("worker", _or_none(_worker)),
    Part("output", _text),
    Part("details", _or_none(_dict)),
)


def _parts(event: type[Event]) -> Iterator[Part]:
    """The fields with a test."""
    hints = get_type_hints(event, include_extras=True)
    for each in fields(event):
        for test in getattr(hints[each.name], "__metadata__", ()):
            yield Part(each.name, test, each.default)


PARTS: dict[type[Event], tuple[Part, ...]] = {event: tuple(_parts(event)) for event in set(KINDS.values())}
OF_OUTCOME: dict[type[Event], tuple[Part, ...]] = {Observed: RESULT}
OF_OUTCOME |= dict.fromkeys((Ended, Lost, Late), RESULT + WENT)
TESTS = {event: parts + OF_OUTCOME.get(event, ()) for event, parts in PARTS.items()}


def ended(number: int, outcome: Outcome, seconds: float | None = None) -> Ended | Lost:
    """That the evaluation of a trial ended like this, which took so many seconds."""
    outcome = outcome if seconds is None else replace(outcome, seconds=seconds)
    return (Lost if outcome.state == "lost" else Ended)(number, outcome)


def read_event(id: int, kind: Any, number: Any, at: Any, body: Any) -> Event:
    """The event that was written down like this: the file may come from anywhere.

    Raises:
        StudyError: no version has written it.
    """
    if not (_text(kind) and _time(at) and _or_none(_whole)(number) and _dict(body)):
        raise _damaged(id, kind, "it is no event")
    if kind not in KINDS:
        raise _damaged(id, kind, "there is no such kind")
    event = KINDS[kind]
    of_trial = issubclass(event, OfTrial)
    if of_trial and (number is None or (number < 0) != (event is Observed)):
        raise _damaged(id, kind, f"there is no trial {number}")
    for name, test, default in TESTS[event]:
        if not (test(body[name]) if name in body else default is not MISSING):
            raise _damaged(id, kind, f"{name} is {body.get(name)!r:.100}")
    parts = {part.name: body[part.name] for part in PARTS[event] if part.name in body}
    if kind in STATES:
        parts["outcome"] = _outcome(id, kind, body)
    if body.get("seen", -1) >= id and event in (Asked, Halted, Resumed):
        raise _damaged(id, kind, f"it knew of event {body['seen']}, which came later")
    if event is Asked:
        parts["memory"] = StoredMemory(body["memory"])
    return event(id=id, at=at, number=number, **parts)


def _outcome(id: int, kind: str, body: Body) -> Outcome:
    """How an evaluation ended, as the body of an event tells it."""
    state = body.get("state", STATES[kind][0])
    if state not in STATES[kind]:
        raise _damaged(id, kind, f"state is {state!r:.100}")
    needed, sound = ("value", _number) if state == "done" else ("reason", _text)
    several = state == "done" and body.get("value") is None and bool(body.get("measured"))  # of several objectives
    if not several and not sound(body.get(needed)):
        raise _damaged(id, kind, f"{needed} is {body.get(needed)!r:.100}")
    told = {part.name: body[part.name] for part in (*RESULT, *WENT) if body.get(part.name) is not None}
    return Outcome(state, body.get("value") if state == "done" else math.nan, **told)


def concerns(event: Event, number: int) -> bool:
    """Whether it happened to this trial, or to others with it."""
    return number == event.number or number in getattr(event, "numbers", ())


def damaged(event: Event, why: str) -> StudyError:
    """What is said of an event that makes no sense after those before it."""
    return _damaged(event.id, event.kind, why)


def _damaged(id: int, kind: Any, why: str) -> StudyError:
    return StudyError(f"The study is damaged (event {id}, {kind!r}: {why}): restore it from a copy.")


@contextmanager
def making_sense(event: Event) -> Iterator[None]:
    """Say of an event that cannot be taken in that it is damaged."""
    try:
        yield
    except TrialError as error:  # there is no such trial, or nothing of the kind can have happened to it
        raise damaged(event, str(error)) from error
    except AegisError:
        raise
    except OF_NONSENSE as error:
        raise damaged(event, f"{type(error).__name__}: {error}") from error
