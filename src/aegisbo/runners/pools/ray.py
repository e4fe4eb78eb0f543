"""Evaluations as Ray tasks, on this machine or a cluster."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import Any
from uuid import uuid4

from aegisbo.errors import InvalidInput, MissingExtra
from aegisbo.executors import Ray
from aegisbo.outcome import Outcome
from aegisbo.runners.evaluation import Evaluation
from aegisbo.runners.packing import evaluate_packed, load, pack, unpack_outcome
from aegisbo.runners.pools.base import Pool, lost_by, taking
from aegisbo.runners.pools.ray_exchange import ExchangeLine, exchange
from aegisbo.runners.slots import at_slot


class RayTasks(Pool):
    """Tasks that Ray does not repeat by itself: the loop runs lost ones again, and counts.

    A task is a generator that first reports that the function is being called, because waiting for a place on the
    cluster, or for a new process, is not part of the function's time.
    """

    name = "Ray tasks"
    can_stop = True
    reports_calls = True

    def __init__(self, settings: Ray, evaluation: Evaluation, capacity: int | None, *, answered: bool = False) -> None:
        packed = pack(evaluation)
        try:
            self._ray = ray = import_module("ray")
        except ImportError:
            raise MissingExtra("Ray", "ray") from None
        try:
            self._remote = ray.remote(**{"max_retries": 0, **settings.parameters, "num_returns": "streaming"})(_spoken)
        except Exception as error:
            raise InvalidInput(f"Ray does not take the parameters {dict(settings.parameters)!r}: {error}") from error
        self._ours = not ray.is_initialized()
        if self._ours:
            ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        super().__init__(capacity or _room(ray, settings))
        self._packed = ray.put(packed)
        self._tasks: dict[int, Any] = {}  # by number
        self._stopped: dict[int, str] = {}  # reasons, by number
        self._ears = asyncio.new_event_loop()  # receives the tasks' reports
        self._listener = Thread(target=_listen, args=(self._ears,), name="aegisbo Ray", daemon=True)
        self._listener.start()
        self.hears = answered  # else reports come with the end, and need no actor
        self._exchange: Any = exchange(ray) if answered else None
        self._keys: dict[int, str] = {}  # of the tasks at the exchange, by number
        if answered:
            asyncio.run_coroutine_threadsafe(self._hear(), self._ears)

    def tell(self, number: int, reason: str = "") -> None:
        if self._exchange is not None and (key := self._keys.get(number)) is not None:
            self._exchange.answer.remote(key, reason)

    def stop(self, number: int, reason: str = "Stopped.") -> None:
        """Kill the process that evaluates this trial."""
        task = self._tasks.get(number)
        if task is not None:
            self._stopped[number] = reason
            self._ray.cancel(task, force=True)

    def close(self) -> None:
        """Kill the running tasks."""
        self._forget()
        for task in tuple(self._tasks.values()):
            with suppress(Exception):  # the cluster may be gone
                self._ray.cancel(task, force=True)
        self._tasks.clear()
        if self._listener.is_alive():  # else the pool was closed before
            self._ears.call_soon_threadsafe(self._ears.stop)
            self._listener.join()
        if self._ours:
            self._ours = False
            self._ray.shutdown()

    def _start(self, number: int, point: bytes, worker: int) -> None:
        with taking("Ray takes no more tasks", ": start Ray and"):
            self._keys[number] = key = uuid4().hex
            self._tasks[number] = task = self._remote.remote(worker, self._packed, point, (self._exchange, number, key))
        asyncio.run_coroutine_threadsafe(self._follow(number, task), self._ears)

    async def _hear(self) -> None:
        """Receive reports until the pool is closed."""
        while True:
            number, key, report = await self._exchange.next_report.remote()
            if self._keys.get(number) == key:
                self._heard(number, report)

    async def _follow(self, number: int, task: Any) -> None:
        """Receive the reports that the function is being called, and its outcome."""
        try:
            await (await anext(task))
            self._called(number)
            outcome = unpack_outcome(await (await anext(task)))
        except BaseException as error:
            outcome = lost_by(error)
        self._tasks.pop(number, None)
        self._keys.pop(number, None)
        stopped = self._stopped.pop(number, "")
        if stopped and outcome.state == "lost":
            outcome = Outcome("timed_out", reason=stopped)
        self._ended(number, outcome)


def _listen(ears: asyncio.AbstractEventLoop) -> None:
    """Run the event loop until it is stopped; reports that are still missing are dropped."""
    with asyncio.Runner(loop_factory=lambda: ears):
        ears.run_forever()


def _spoken(worker: int, packed: bytes, point: bytes, place: tuple[Any, int, str]) -> Iterator[bytes | None]:
    """What a task says: that it calls the loaded function, and the outcome. Reports go to its place at the exchange."""
    at_slot(worker, load, packed)
    yield None
    line = None if place[0] is None else ExchangeLine(*place)
    yield at_slot(worker, evaluate_packed, packed, point, lambda: None, line)


def _room(ray: Any, settings: Ray) -> int:
    """How many tasks can run at once on the whole cluster."""
    there = ray.cluster_resources()
    needs = {"CPU": settings.parameters.get("num_cpus", 1), "GPU": settings.parameters.get("num_gpus", 0)}
    return max(1, min(int(there.get(kind, 0) // need) for kind, need in needs.items() if need))
