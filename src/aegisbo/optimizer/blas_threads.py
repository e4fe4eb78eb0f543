"""The number of threads of linear algebra: one while a model is at work, afterwards as many as before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController


class _Shared:
    """The limit on libraries that have one thread count for the whole process: the last user lifts it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._first: Any = None  # the limit that knows how many threads there were before

    def hold(self, libraries: ThreadpoolController) -> None:
        with self._lock:
            # Otherwise threadpoolctl ignores all threads but the first that set a limit, while that thread lives.
            OpenBLASController.clear_controlling_thread(force=True)
            limit = libraries.limit(limits=1)
            self._first = self._first if self._users else limit
            self._users += 1

    def let_go(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                OpenBLASController.clear_controlling_thread(force=True)
                self._first.restore_original_limits()
                OpenBLASController.clear_controlling_thread()


_shared = _Shared()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Use one thread for linear algebra in this block; any thread may enter it, also several at a time.

    More threads would compete with the workers for cores, and sum in another order on another machine.
    """
    own, shared = _libraries()
    limit = own.limit(limits=1)
    _shared.hold(shared)
    try:
        yield
    finally:
        _shared.let_go()
        limit.restore_original_limits()


@cache
def _libraries() -> tuple[ThreadpoolController, ThreadpoolController]:
    """The BLAS libraries with a thread count for each of our threads, and those with one for the process.

    Found once per process, at the first suggestion: looking through the loaded libraries takes milliseconds.
    """
    blas = ThreadpoolController().select(user_api="blas")
    own = [library.filepath for library in blas.lib_controllers if _counts_by_thread(library)]
    shared = [library.filepath for library in blas.lib_controllers if not _counts_by_thread(library)]
    return blas.select(filepath=own), blas.select(filepath=shared)


def _counts_by_thread(library: Any) -> bool:
    if library.internal_api == "openblas":
        return bool(library.threading_layer == "openmp")
    return bool(library.internal_api == "mkl")
