"""Whether a study has changed since one last looked, without reading it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aegisbo.address import Address, Place
from aegisbo.errors import StudyError
from aegisbo.study.lock import is_driven
from aegisbo.study.server import Connection, connected, explained, number_of, taking_part


class Stamp:
    """Gives a value that changes when the study is written to, or its driver comes or goes."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._link: Connection | None = None
        self._closed = False
        self.gone = False  # whether there was no such study at the last look

    def __call__(self) -> object:
        return self._on_server(self._place) if isinstance(self._place, Address) else self._in_file(self._place)

    def close(self) -> None:
        """End the connection, if there is one."""
        self._closed = True
        if self._link is not None:
            self._link.close()

    def _in_file(self, path: Path) -> object:
        files = path, path.with_name(path.name + "-wal")
        times = [(s.st_mtime_ns, s.st_size) if (s := _status(file)) is not None else None for file in files]
        self.gone = times[0] is None
        return times, not self.gone and is_driven(path)

    def _on_server(self, address: Address) -> object:
        """One small question, on a connection that stays; if it gets no answer, what was read before stays too."""
        try:
            if self._closed:  # by another thread
                return None
            if self._link is None or self._link.closed:
                self._link = connected(address)
            study = number_of(self._link, address)
            self.gone = study is None
            if study is None:
                return None
            with explained(address):
                last = self._link.execute("SELECT key, last FROM aegisbo.studies WHERE id = %s", (study,)).fetchone()
                return last, taking_part(self._link, study)
        except StudyError as error:
            return str(error)


def _status(file: Path) -> Any:
    try:
        return file.stat()
    except OSError:
        return None
