"""The log of a study as rows on a PostgreSQL server; what `Store` is for a file."""

from __future__ import annotations

import json
import select
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import inf
from time import monotonic
from typing import Any, TypeVar

from aegisbo.address import Address
from aegisbo.errors import StudyError
from aegisbo.events import Event
from aegisbo.study.file import checksum
from aegisbo.study.outbox import Outbox
from aegisbo.study.rows import Row, events_in
from aegisbo.study.server import (
    READ,
    Connection,
    Unreachable,
    connected,
    explained,
    has_tables,
    make_tables,
    number_of,
)
from aegisbo.study.server_lock import ServerLock

GIVE_UP = 3600.0  # seconds for which a server may be out of reach
HASTE = 10.0  # the same once the process must end
NOTICE = 30.0  # seconds of waiting before it says so
PAUSE = 0.1, 2.0  # seconds between two attempts to reach it, the first and the longest
PATIENCE = 60  # seconds after which the server ends a transaction of a process that was suspended in it

BEGIN = """
BEGIN; SELECT last, driver, who, extract(epoch FROM clock_timestamp())::float8
FROM aegisbo.studies WHERE id = %s FOR UPDATE
"""
END = """
INSERT INTO aegisbo.events (study, id, kind, number, at, body, sum) VALUES {rows};
UPDATE aegisbo.studies SET last = %s WHERE id = %s;
SELECT pg_notify(%s, '');
COMMIT
"""
# Time in which the server was down does not count: nobody could give a sign of life.
SILENCES = """
SELECT id, extract(epoch FROM clock_timestamp() - greatest(beat, pg_postmaster_start_time()))::float8
FROM aegisbo.copies WHERE study = %s
"""

E = TypeVar("E", bound=Event)
T = TypeVar("T")


class ServerLog:
    """Appends events to one study. Safe to use from several threads.

    Nothing waits for a server that is away: that raises `Unreachable`, and `come_back` waits, where no lock is held.
    """

    moved = ""  # nobody can take it away
    rest = 10.0  # seconds between two looks without any news

    def __init__(
        self, address: Address, say: Callable[[str], None], *, shared: bool = False, beside: bool = False
    ) -> None:
        self.path = self.file = address
        self._say = say
        self._lock = threading.RLock()
        self._deadline = inf  # when to stop waiting
        self._back = -inf  # when it was last reached again
        self._rings = 1  # how often others have written, as far as known
        self._read_at = self._slept_at = 0  # the rings that `news` and `stirred` know
        self._highest = 0  # the last event that was seen
        self._open: tuple[int, float] | None = None  # of a transaction: the last event, and the server's time
        self._unwritten: list[Row] = []
        self._doubt = False  # whether the last events may have been written just before a cut
        self._kept: list[Event] = []  # not told yet, in order
        self._why = f"The server of {address}: it has ended the connection."
        self._tried = -inf  # when it was last tried to reach the server
        with explained(address):
            self._link = connected(address)
            try:
                self._study, key = self._found(make=not beside)
                self.outbox = Outbox(key)
                self._prepare()
                self.lock = ServerLock(address, self._study, shared=shared, link=self._held)
                self._fenced = not beside
                if not beside:
                    self.lock.take()
            except BaseException:
                self._link.close()
                raise

    def append(self, event: E) -> E:
        """Have the server write one event, and return it with its place."""
        with self._lock:
            if self._open is not None:
                return self._noted(event, *self._open)
            if self._doubt and (there := self.told(event)) is not None:
                return there
            with self.transaction():
                return self.append(event)

    def _noted(self, event: E, last: int, at: float) -> E:
        """The event with its place, to be written at the end of the transaction."""
        id, body = last + 1, json.dumps(event.body)
        self._unwritten.append(
            (id, event.kind, event.number, at, body, checksum(id, event.kind, event.number, at, body))
        )
        self._open = id, at
        return replace(event, id=id, at=at)

    def told(self, event: E) -> E | None:
        """The event as the study already has it, if it was written just before the connection was cut."""
        with self._held() as link:
            found = link.execute(
                "SELECT id, at FROM aegisbo.events WHERE study = %s AND kind = %s AND number IS NOT DISTINCT FROM %s "
                "AND body = %s",
                (self._study, event.kind, event.number, json.dumps(event.body)),
            ).fetchone()
        return None if found is None else replace(event, id=found[0], at=found[1])

    def events(self, after: int = 0) -> list[Event]:
        """All events appended after an event."""
        with self._held() as link:
            found = events_in(link.execute(READ, (self._study, after)), self.path, after)
            self._highest = max(self._highest, found[-1].id if found else after)
            return found

    def news(self, after: int) -> list[Event]:
        """The events appended after an event, if another process has written since the last call."""
        self._listen(0.0)
        if self._read_at == self._rings:
            return []
        rings = self._rings
        found = self.events(after)
        self._read_at = rings
        return found

    def stirred(self) -> bool:
        """Whether others have written since the last call; costs the server nothing."""
        self._listen(0.0)
        slept, self._slept_at = self._slept_at, self._rings
        return slept != self._rings

    def wait(self, seconds: float) -> None:
        """Wait until another process writes, but not longer than this."""
        deadline = monotonic() + seconds
        while self._slept_at == self._rings and (rest := deadline - monotonic()) > 0:
            self._listen(rest)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Reads and appends inside are one transaction, which nobody else's writes can interrupt."""
        with self._held() as link:
            cursor = link.execute(BEGIN, (self._study,))
            cursor.nextset()
            found = cursor.fetchone()
            try:
                if found is None or found[0] < self._highest:
                    raise StudyError(f"{self.path} has lost events that were there: restore it from a later backup.")
                if self._fenced:
                    self.lock.check(*found[1:3])
                self._open, self._unwritten = (found[0], found[3]), []
                yield
                self._commit(link)
            except BaseException:
                with suppress(Exception):  # the server ends the transaction with the session
                    link.execute("ROLLBACK")
                raise
            finally:
                self._open = None

    def silences(self) -> dict[int, float]:
        """Seconds since the last sign of life of each copy, by the server's clock."""
        with self._held() as link:
            here = monotonic() - self._back  # since we were cut off, others may have been
            return {id: min(seconds, here) for id, seconds in link.execute(SILENCES, (self._study,)).fetchall()}

    def beat(self, copy: int) -> None:
        """Record a sign of life of a copy."""
        with self._held() as link:
            link.execute(
                "INSERT INTO aegisbo.copies VALUES (%s, %s, clock_timestamp()) "
                "ON CONFLICT (study, id) DO UPDATE SET beat = excluded.beat",
                (self._study, copy),
            )

    def stop_beating(self, copy: int) -> None:
        """Take a copy off the list."""
        with self._held() as link:
            link.execute("DELETE FROM aegisbo.copies WHERE study = %s AND id = %s", (self._study, copy))

    def come_back(self, reason: Unreachable) -> None:
        """Wait until the server is back, and say so if that takes long.

        Raises:
            StudyError: it was away for too long, or the study is another one now.
        """
        began, (pause, longest), said = monotonic(), PAUSE, False
        while True:
            waited = monotonic() - began
            if waited > GIVE_UP or monotonic() > self._deadline:
                raise StudyError(
                    f"{reason} It has been away for {waited:.0f} seconds, and this call gives up. {self.outbox} waits "
                    "here: make the same call on this machine again, and they are told."
                )
            if waited > NOTICE and not said:
                said = True
                self._say(f"{reason} Evaluations go on, and their results wait here; for {GIVE_UP / 3600:g} h at most.")
            try:
                self._reconnect()
            except Unreachable as error:
                reason = error
                time.sleep(pause)
                pause = min(1.5 * pause, longest)
            else:
                if said:
                    self._say(f"{self.path}: the server is back after {waited:.0f} seconds.")
                return

    def hold(self, event: Event) -> None:
        """Keep on this machine what the server cannot be told now."""
        with self._lock:
            self._kept.append(event)
            self.outbox.hold(event)

    def release(self, event: Event) -> None:
        """The server knows it now."""
        with self._lock:
            self._kept.remove(event)
            self.outbox.release(event)

    @property
    def holding(self) -> bool:
        """Whether there is anything to tell first."""
        return bool(self._kept)

    def left(self) -> Iterator[Event]:
        """Results that processes of this machine could not tell before they died, and that are not there yet."""
        return (event for event in self.outbox.orphans() if self.told(event) is None)

    def settle(self) -> None:
        """They have been told."""
        self.outbox.settle()

    def hurry(self) -> None:
        """Shorten all waiting, because this process must end; a signal handler may call it."""
        self._deadline = monotonic() + HASTE

    def fold(self) -> None:
        """The server makes room by itself."""

    def close(self) -> None:
        """Leave the study and end the connection."""
        with self._lock, suppress(Unreachable), explained(self.path):
            if self._fenced and not self._link.closed:
                self.lock.leave()
        self._link.close()
        self.outbox.close()

    @contextmanager
    def _held(self) -> Iterator[Connection]:
        """The connection, for one thread; made again if the server has ended it, which is tried once."""
        with self._lock, explained(self.path):
            if self._link.closed:
                if self._open is not None or monotonic() - self._tried < PAUSE[1]:
                    raise Unreachable(self._why)
                self._reconnect()
            yield self._link

    def _reconnect(self) -> None:
        with self._lock, explained(self.path):
            if not self._link.closed:
                return
            self._tried = monotonic()
            try:
                link = connected(self.path)
            except Unreachable as away:
                self._why = str(away)
                raise
            try:
                self._link = link
                if self._found(make=False)[0] != self._study:
                    raise StudyError(f"{self.path} is another study than it was: begin the run again.")
                self._prepare()
                if self._fenced:
                    self.lock.again()
            except BaseException:
                link.close()
                raise
            self._back = monotonic()
            self._rings += 1  # something may have been missed

    def _found(self, *, make: bool) -> tuple[int, str]:
        """The number and the key of the study, which is made if it may be."""
        name = (self.path.study,)
        if make and not has_tables(self._link, self.path):
            make_tables(self._link, self.path)
        if number_of(self._link, self.path) is None:
            if not make:
                raise StudyError(f"There is no study {self.path}: check the name.")
            self._link.execute("INSERT INTO aegisbo.studies (name) VALUES (%s) ON CONFLICT DO NOTHING", name)
        found = self._link.execute("SELECT id, key::text FROM aegisbo.studies WHERE name = %s", name).fetchone()
        assert found is not None
        return found[0], found[1]

    def _prepare(self) -> None:
        """What every session needs: events on the server's disk, and news of others."""
        self._link.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
        self._link.execute(f"SET idle_in_transaction_session_timeout = {1000 * PATIENCE}")
        for name, value in {
            "tcp_keepalives_idle": 30,
            "tcp_keepalives_interval": 10,
            "tcp_keepalives_count": 3,
        }.items():
            self._link.execute(f"SET {name} = {value}")
        self._link.execute(f"LISTEN {self._channel}")
        self._link.add_notify_handler(self._ring)

    @property
    def _channel(self) -> str:
        return f"aegisbo_{self._study}"

    def _ring(self, notice: Any) -> None:
        if notice.pid != self._link.info.backend_pid:
            self._rings += 1

    def _listen(self, seconds: float) -> None:
        """Let notices come in, waiting for the first; does not keep others from the connection meanwhile."""
        if self._link.closed:
            self._rings += 1  # for whoever waits to find out
            return
        with suppress(OSError, ValueError), suppress(Unreachable), explained(self.path):
            if not select.select([self._link.fileno()], [], [], seconds)[0]:
                return
            with self._lock:
                self._link.execute("SELECT")  # which hands them to the handler

    def _commit(self, link: Connection) -> None:
        if not self._unwritten:
            link.execute("COMMIT")
            return
        last = self._unwritten[-1][0]
        statement = END.format(rows=", ".join(["(%s, %s, %s, %s, %s, %s, %s)"] * len(self._unwritten)))
        values = [value for row in self._unwritten for value in (self._study, *row)]
        self._doubt = True
        link.execute(statement, [*values, last, self._study, self._channel])
        self._doubt, self._highest = False, last
