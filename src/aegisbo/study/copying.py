"""Copies a study, event by event, from a file or a server to another place."""

from __future__ import annotations

from aegisbo.address import Address, Place
from aegisbo.errors import StudyError
from aegisbo.study import server
from aegisbo.study.file import create, explained, require_no_log
from aegisbo.study.reading import exists, read_rows
from aegisbo.study.rows import events_in


def copy(source: Place, target: Place) -> int:
    """Copy all events of a study, as they are written, to a place where there is none; how many there were.

    Raises:
        StudyError: the study cannot be read, or there is something in the other place.
    """
    rows = read_rows(source)
    events_in(rows, source)  # refuses what is damaged
    if exists(target):
        raise StudyError(f"{target} exists already: copy to another name.")
    if isinstance(target, Address):
        server.write_rows(target, rows)
    else:
        with explained(target):
            require_no_log(target)
            create(target.resolve(), rows)
    return len(rows)
