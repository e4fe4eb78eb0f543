"""Who may write to a study on a server: one driver, or copies that share it.

A driver's session holds the study's lock for itself, copies share it. The server frees it when the session ends, also
when only the connection was cut. So the study holds the mark of its driver as well, and every transaction compares
it: whoever was replaced while it was cut off cannot write any more.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from secrets import token_hex
from time import monotonic
from typing import Any, TypeAlias

from aegisbo.address import Address
from aegisbo.errors import StudyError
from aegisbo.study.server import PRESENCE, TURN, Connection, Unreachable

Link: TypeAlias = Callable[[], AbstractContextManager[Connection]]  # the session, for one thread

HESITATION = 2.0  # seconds until a refusal is accepted: the server may still be ending the session of one that died
PATIENCE = 60.0  # seconds to wait for a turn
PAUSE = 0.02, 0.25  # seconds between two attempts, the first and the longest


class ServerLock:
    """Held by a driver, or by a copy that shares the study."""

    alone = False  # whether no other copy is at work: one that is cut off cannot be seen, so its lease decides

    def __init__(self, address: Address, study: int, *, shared: bool, link: Link) -> None:
        self._address = address
        self._study = study
        self._shared = shared
        self._link = link
        self.mark = None if shared else token_hex(8)
        self._present = False
        self._stuck = False  # whether the last turn did not come in time: others do not wait for a suspended copy again

    def take(self) -> None:
        """Begin to drive the study, or to share it; whoever did so before and is cut off is replaced."""
        deadline = monotonic() + HESITATION
        while not self._held(PRESENCE, shared=self._shared):
            if monotonic() > deadline:
                raise StudyError(f"{self._address} is being driven by {self._holder()}: wait for it, or use another "
                                 "study.")  # fmt: skip
            time.sleep(PAUSE[1])
        self._present = True
        me = f"process {os.getpid()} on {platform.node()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}"
        who = None if self._shared else me
        self._ask(
            "UPDATE aegisbo.studies SET driver = %s, who = %s "
            "WHERE id = %s AND driver IS DISTINCT FROM %s RETURNING id",
            *(self.mark, who, self._study, self.mark),
        )

    def again(self) -> None:
        """The session is a new one."""
        self._present = False
        self.keep()

    def keep(self) -> None:
        """Hold the lock again after a cut, once the server has ended the old session."""
        if not self._present:
            self._present = self._held(PRESENCE, shared=self._shared)

    def check(self, mark: str | None, who: str | None) -> None:
        """Refuse to write if another driver has the study, or copies, since this one was cut off."""
        if mark != self.mark:
            other = f"another process ({who})" if mark else "copies of `aegisbo work`"
            raise StudyError(
                f"{self._address} was cut off from here and is now driven by {other}: this run ends. What it has "
                "finished and could not tell waits on this machine for the same call."
            )

    def leave(self) -> None:
        """Let others drive the study."""
        if self.mark is not None:
            self._ask(
                "UPDATE aegisbo.studies SET driver = NULL, who = NULL WHERE id = %s AND driver = %s RETURNING id",
                *(self._study, self.mark),
            )

    def make_room(self) -> None:
        """There is none to make: the server's disk is its own."""

    @contextmanager
    def turn(self, patience: float = PATIENCE) -> Iterator[None]:
        """Wait for this copy's turn to choose, up to a limit; one that comes too early must choose again."""
        deadline, (pause, longest) = monotonic() + (0.0 if self._stuck else patience), PAUSE
        while not (mine := self._held(TURN)) and monotonic() < deadline:
            time.sleep(pause)
            pause = min(1.5 * pause, longest)
        self._stuck = not mine
        try:
            yield
        finally:
            with suppress(Unreachable):  # the server has freed it
                if mine:
                    self._ask("SELECT pg_advisory_unlock(%s, %s)", TURN, self._study)

    def _held(self, kind: int, *, shared: bool = False) -> bool:
        """Whether this session could take a lock."""
        form = "pg_try_advisory_lock_shared" if shared else "pg_try_advisory_lock"
        return self._ask(f"SELECT {form}(%s, %s)", kind, self._study) == (True,)

    def _holder(self) -> str:
        found = self._ask("SELECT who FROM aegisbo.studies WHERE id = %s", self._study)
        return f"another process ({found[0]})" if found and found[0] else "copies of `aegisbo work`"

    def _ask(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        with self._link() as link:
            return link.execute(query, values).fetchone()
