"""Runs on a Dask cluster, which itself moves a run elsewhere when a machine is lost."""

from __future__ import annotations

from queue import SimpleQueue
from types import TracebackType
from typing import Any

from aegis_paper.execution import Done, perform
from aegis_paper.runs import Spec
from aegisbo.errors import AegisError
from aegisbo.runners.evaluation import in_words
from aegisbo.runners.pools.dask import connect

AHEAD = 2  # runs for each thread of the cluster, so that none waits for the next


class JobCluster:
    """As many runs at a time as keep the cluster busy; leaving the context cancels what is left."""

    def __init__(self, address: str) -> None:
        self._client = connect(address)
        self.capacity = AHEAD * sum(self._client.nthreads().values())
        if not self.capacity:
            self._client.close()
            raise AegisError(f"The Dask cluster at {address} has no workers yet: start some.")
        self._running: dict[Any, Spec] = {}  # by future
        self._ended: SimpleQueue[Any] = SimpleQueue()

    def __enter__(self) -> JobCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client.status == "running":
            self._client.cancel(list(self._running))
        self._client.close()

    def start(self, spec: Spec) -> None:
        future = self._client.submit(perform, spec, pure=False)
        self._running[future] = spec
        future.add_done_callback(self._ended.put)

    def finish(self) -> Done:
        future = self._ended.get()
        spec = self._running.pop(future)
        try:
            done: Done = future.result()
            return done
        except BaseException as error:  # who had it died again and again, or the scheduler is gone
            return Done(spec, failure=in_words(error))
