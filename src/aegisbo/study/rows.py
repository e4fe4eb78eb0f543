"""Events as they are written down, in a file or on a server: rows with a checksum each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from aegisbo.address import Place
from aegisbo.events import Event, read_event
from aegisbo.study.file import checksum, damaged_file

DEEPEST = 100  # most levels of brackets in an event, far more than any has

Row: TypeAlias = tuple[int, str, int | None, float, str, int]  # id, kind, number, at, body, sum


def events_in(found: Iterable[Row], place: Place, after: int = 0) -> list[Event]:
    """The events in the rows that were appended after event `after`.

    Raises:
        StudyError: an event is missing, is not as it was written, or makes no sense.
    """
    events = []
    for next, (id, kind, number, at, text, sum) in enumerate(found, start=after + 1):
        if id != next:
            raise damaged_file(place, f"event {next} is missing")
        try:
            intact = sum == checksum(id, kind, number, at, text)
            body = json.loads(text)
            deep = text.count("[") + text.count("{") > DEEPEST and _depth(body) > DEEPEST
        except (ValueError, TypeError, RecursionError) as error:  # not JSON
            raise damaged_file(place, f"event {id}: {error}") from error
        if not intact:
            raise damaged_file(place, f"event {id} has another checksum than when it was written")
        if deep:
            raise damaged_file(place, f"event {id} is nested too deeply")
        events.append(read_event(id, kind, number, at, body))
    return events


def _depth(value: Any) -> int:
    """How deeply JSON is nested; without recursion, which has a limit."""
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [part for each in inner for part in each]
    return depth
