"""Opens the log of a study for writing, wherever it lies: in a file or on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import TypeAlias

from aegisbo.address import Address, Place
from aegisbo.study.lock import DriverLock
from aegisbo.study.server_lock import ServerLock
from aegisbo.study.server_log import ServerLog
from aegisbo.study.store import Store

Log: TypeAlias = Store | ServerLog
Lock: TypeAlias = DriverLock | ServerLock


@contextmanager
def driving(place: Place, say: Callable[[str], None], *, shared: bool = False) -> Iterator[tuple[Log, Lock]]:
    """The study, opened by its only driver or by one of the copies that share it; it is made if there is none.

    Raises:
        StudyError: somebody else drives it, or it cannot be used.
    """
    if isinstance(place, Address):
        with closing(ServerLog(place, say, shared=shared)) as log:
            yield log, log.lock
        return
    with DriverLock(place, shared=shared, say=say) as lock:
        with lock.turn() if shared else nullcontext():  # of copies only one may make the file
            store = Store(place, say, shared=shared)
        with closing(store):
            yield store, lock


def beside(place: Place) -> Log:
    """The study, opened for writing beside those who drive it."""
    kind = ServerLog if isinstance(place, Address) else Store
    return kind(place, lambda text: None, beside=True)  # type: ignore[arg-type]
