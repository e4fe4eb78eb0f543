"""How many threads linear algebra has: one while a model is at work, as many as before afterwards."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _OneBlasThread:
    """More threads would compete with the workers for cores, and sum in another order on another machine.

    The limit belongs to the whole process: it is lifted when nobody is left who needs it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._first: Any = None  # the limit that knows how many threads there were before

    def __enter__(self) -> None:
        with self._lock:
            limit = _controller().limit(limits=1, user_api="blas")
            self._first = self._first if self._users else limit
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._first.restore_original_limits()


_ONE_BLAS_THREAD = _OneBlasThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """One thread for linear algebra while this lasts, in every thread of this process."""
    return _ONE_BLAS_THREAD


@cache
def _controller() -> ThreadpoolController:
    """Made once per process, at the first suggestion: looking through the loaded libraries takes milliseconds."""
    return ThreadpoolController()
