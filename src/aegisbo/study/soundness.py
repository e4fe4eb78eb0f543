"""Whether an event is one that aegisbo writes: a study file may come from anywhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aegisbo.errors import OF_NONSENSE, AegisError, StudyError
from aegisbo.options import CHANGEABLE
from aegisbo.outcome import FAILURES, MOST_WORKERS
from aegisbo.study.events import Event

Test = Callable[[Any], bool]
LATEST = 2e11  # seconds since 1970: beyond, calendars have no name for the year


def _is(*types: type) -> Test:
    return lambda value: isinstance(value, types) and not (isinstance(value, bool) and bool not in types)


def _number(value: Any) -> bool:
    return _is(int, float)(value) and abs(value) <= sys.float_info.max


def _time(value: Any) -> bool:
    return _number(value) and abs(value) < LATEST


def _call(value: Any) -> bool:
    return _dict(value) and all(_or_none(_number)(value[name]) for name in CHANGEABLE if name in value)


def _worker(value: Any) -> bool:
    return _is(int)(value) and 0 <= value < MOST_WORKERS


def _or_none(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _list_of(test: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _dict_of(test: Test) -> Test:
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


_text, _whole, _dict = _is(str), _is(int), _is(dict)
_idle = _list_of(_dict_of(_number))
NEEDED: dict[str, dict[str, Test]] = {  # in the body of an event, by its kind
    "created": {"optimizer": _dict, "build": _dict_of(_text)},
    "asked": {"params": _dict, "note": _dict, "memory": _dict, "seen": _whole, "seconds": _time},
    "told": {"value": _number, "seconds": _or_none(_time)},
    "failed": {"state": lambda value: value in FAILURES, "reason": _or_none(_text), "seconds": _or_none(_time)},
    "lost": {"reason": _text, "seconds": _or_none(_time)},
    "late": {"seconds": _or_none(_time)},
    "observed": {"params": _dict},
    "added": {"params": _dict},
    "retried": {"numbers": _list_of(_whole)},
    "forgotten": {"numbers": _list_of(_whole)},
    "opened": {"pid": _whole},
    "widened": {"space": _is(dict, list)},
    "set": {"changes": _dict_of(_or_none(_number))},
    "closed": {"message": _text, "idle": _idle},
    "left": {"copy": _whole, "message": _text, "idle": _idle},
    "joined": {"lease": _number, "call": _call, "lane": _worker},
    "taken": {"copy": _whole},
}
POSSIBLE: dict[str, Test] = {  # wherever they are
    "traceback": _text,
    "output": _text,
    "began": _or_none(_time),
    "worker": _or_none(_worker),
    "sd": _or_none(_number),
    "measured": _dict_of(_number),
    "details": _or_none(_dict),
    "objective": lambda value: _dict_of(_or_none(_text))(value) and bool(value.get("name")),
    "call": _call,
    "copy": _whole,
    "host": _text,
}
OF_A_TRIAL = ("asked", "told", "failed", "lost", "late", "taken")


def require_sound(event: Event) -> None:
    """Refuse an event that no version has written.

    Raises:
        StudyError: it lacks something, or holds something of another kind.
    """
    body = event.body
    if not (_text(event.kind) and _time(event.at) and _or_none(_whole)(event.number) and _dict(body)):
        raise damaged(event, "it is no event")
    if event.kind in OF_A_TRIAL and (event.number is None or event.number < 0):
        raise damaged(event, f"there is no trial {event.number}")
    if event.kind not in NEEDED:
        raise damaged(event, "there is no such kind")
    for name, test in NEEDED[event.kind].items():
        if name not in body or not test(body[name]):
            raise damaged(event, f"{name} is {body.get(name)!r:.100}")
    for name, test in POSSIBLE.items():
        if name in body and not test(body[name]):
            raise damaged(event, f"{name} is {body[name]!r:.100}")
    if event.kind == "asked" and body["seen"] >= event.id:
        raise damaged(event, f"it knew of event {body['seen']}, which came later")


def damaged(event: Event, why: str) -> StudyError:
    """What is said of an event that makes no sense."""
    return StudyError(f"The study is damaged (event {event.id}, {event.kind!r}: {why}): restore it from a copy.")


@contextmanager
def making_sense(event: Event) -> Iterator[None]:
    """Say of an event that cannot be taken in that it is damaged."""
    try:
        yield
    except AegisError:
        raise
    except OF_NONSENSE as error:
        raise damaged(event, f"{type(error).__name__}: {error}") from error
