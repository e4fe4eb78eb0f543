"""Evaluations as Ray tasks, on this machine or a cluster."""

from __future__ import annotations

import logging
from contextlib import suppress
from importlib import import_module
from typing import Any

from aegisbo.errors import InvalidInput, MissingExtra
from aegisbo.executors import Ray
from aegisbo.outcome import Outcome
from aegisbo.runners.evaluation import Evaluation, in_words
from aegisbo.runners.packing import evaluate_packed, pack, pack_point, unpack_outcome
from aegisbo.runners.pools.base import Pool, lost_by
from aegisbo.runners.protocol import Journal, StopRun, WorkersGone
from aegisbo.runners.slots import at_slot


class RayTasks(Pool):
    """Tasks that Ray does not repeat by itself: a lost one is run again by the loop, which counts."""

    name = "Ray tasks"
    can_stop = True

    def __init__(self, settings: Ray, evaluation: Evaluation, capacity: int | None, journal: Journal | None) -> None:
        packed = pack(evaluation)
        self._ray = ray = _loaded()
        try:
            self._remote = ray.remote(**{"max_retries": 0, **settings.parameters})(at_slot)
        except Exception as error:
            raise InvalidInput(f"Ray does not take the parameters {dict(settings.parameters)!r}: {error}") from error
        self._ours = not ray.is_initialized()
        if self._ours:
            ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        super().__init__(capacity or _room(ray, settings), journal)
        self._packed = ray.put(packed)
        self._refs: dict[int, Any] = {}  # by number
        self._stopped: dict[int, str] = {}  # reasons, by number

    def stop(self, number: int, reason: str = "Stopped.") -> None:
        """Kill the process that evaluates this trial."""
        ref = self._refs.get(number)
        if ref is not None:
            self._stopped[number] = reason
            self._ray.cancel(ref, force=True)  # its future's own cancel() would only pretend

    def close(self) -> None:
        """Kill what is running."""
        self._forget()
        for ref in tuple(self._refs.values()):
            with suppress(Exception):  # the cluster may be gone
                self._ray.cancel(ref, force=True)
        self._refs.clear()
        if self._ours:
            self._ours = False
            self._ray.shutdown()

    def _start(self, number: int, x: Any, worker: int) -> None:
        point = pack_point(x)
        if isinstance(point, Outcome):
            self._ended(number, point)
            return
        try:
            self._refs[number] = self._remote.remote(worker, evaluate_packed, self._packed, point)
            future = self._refs[number].future()
        except StopRun:  # Ctrl-C
            raise
        except Exception as error:
            raise WorkersGone(
                f"Ray takes no more tasks ({in_words(error)}). Nothing that has ended is lost: start Ray and make the "
                "same call again."
            ) from error
        future.add_done_callback(lambda done: self._done(number, done))

    def _done(self, number: int, future: Any) -> None:
        self._refs.pop(number, None)
        stopped = self._stopped.pop(number, "")
        try:
            outcome = unpack_outcome(future.result())
        except BaseException as error:
            outcome = lost_by(error)
        if stopped and outcome.state == "lost":
            outcome = Outcome("timed_out", reason=stopped)
        self._ended(number, outcome)


def _loaded() -> Any:
    try:
        return import_module("ray")
    except ImportError:
        raise MissingExtra("Ray", "ray") from None


def _room(ray: Any, settings: Ray) -> int:
    """How many tasks can run at once on the whole cluster."""
    there = ray.cluster_resources()
    needs = {"CPU": settings.parameters.get("num_cpus", 1), "GPU": settings.parameters.get("num_gpus", 0)}
    return max(1, min(int(there.get(kind, 0) // need) for kind, need in needs.items() if need))
