"""Evaluations on a Dask cluster."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

from aegisbo.errors import AegisError, MissingExtra
from aegisbo.outcome import Outcome
from aegisbo.runners.evaluation import Evaluation
from aegisbo.runners.packing import evaluate_packed, pack, pack_point, unpack_outcome
from aegisbo.runners.pools.base import Pool, lost_by
from aegisbo.runners.protocol import Journal, WorkersGone
from aegisbo.runners.slots import at_slot

Client = Any  # distributed.Client, which has no types and is loaded only when it is used


class Dask(Pool):
    """Jobs on the workers of a cluster. Dask itself moves a job elsewhere when its worker dies.

    Jobs say when they call the function: they may have waited for a worker, which is not the time of the function.
    """

    name = "Tasks on a Dask cluster"
    reports_calls = True

    def __init__(
        self, client: Client, evaluation: Evaluation, capacity: int | None, journal: Journal | None, *, ours: bool
    ) -> None:
        self._client = client
        self._ours = ours  # whether the client was made here and must be closed here
        try:
            self._packed = pack(evaluation)
            threads = sum(client.nthreads().values())
            if not capacity and not threads:
                raise AegisError("The Dask cluster has no workers yet: start some, or say how many with workers=.")
        except AegisError:
            if ours:
                client.close()
            raise
        super().__init__(capacity or threads, journal)
        self._run = f"aegisbo-{uuid4().hex[:8]}"  # also the topic of what jobs say
        client.subscribe_topic(self._run, self._hear)
        self._futures: dict[int, Any] = {}

    def close(self) -> None:
        """Cancel what is queued; what runs on a worker cannot be stopped."""
        self._forget()
        if self._client.status == "running":
            self._client.unsubscribe_topic(self._run)
            self._client.cancel(list(self._futures.values()))
        if self._ours:
            self._client.close()

    def _start(self, number: int, x: Any, worker: int) -> None:
        if self._client.status != "running":
            raise WorkersGone(
                "The Dask scheduler is gone. Nothing that has ended is lost: start it and make the same call again."
            )
        point = pack_point(x)
        if isinstance(point, Outcome):
            self._ended(number, point)
            return
        key = f"{self._run}-{number}-{uuid4().hex[:4]}"
        say = partial(_say, self._run, number)
        future = self._client.submit(at_slot, worker, evaluate_packed, self._packed, point, say, key=key, pure=False)
        self._futures[number] = future
        future.add_done_callback(lambda done: self._done(number, done))

    def _hear(self, event: tuple[float, int]) -> None:
        _, number = event
        self._called(number)

    def _done(self, number: int, future: Any) -> None:
        self._futures.pop(number, None)
        self._ended(number, _outcome(future))


def _say(run: str, number: int) -> None:
    """On the cluster: that the function is being called."""
    from distributed import get_worker

    get_worker().log_event(run, number)


def _outcome(future: Any) -> Outcome:
    if future.status not in ("finished", "error"):
        return Outcome("lost", reason=f"Dask reports the task as {future.status}.")
    try:
        return unpack_outcome(future.result())
    except BaseException as error:
        return lost_by(error)


def connect(address: str) -> Client:
    """A client of the scheduler at this address.

    Raises:
        MissingExtra: Dask is not installed.
        AegisError: nothing answers there.
    """
    try:
        import distributed
    except ImportError:
        raise MissingExtra("A Dask cluster", "dask") from None
    client: Client = distributed.Client
    try:
        return client(address, timeout=10)
    except (OSError, ValueError) as error:  # nobody answers, or the address is none
        raise AegisError(f"No Dask scheduler answers at {address} ({error}): check the address.") from error
