"""Reports of Ray tasks and answers to them, exchanged through an actor: a task has no other way to speak meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import Any

from aegisbo.outcome import Report
from aegisbo.runners.reports import Line

MANY = 10_000  # calls that the actor takes at a time: tasks that wait for answers must not keep others out


class Exchange:
    """The actor."""

    def __init__(self) -> None:
        self._reports: asyncio.Queue[tuple[int, str, Report]] = asyncio.Queue()
        self._answers: dict[str, tuple[int, str]] = {}  # how many there were, and the last; by key of the task
        self._change = asyncio.Condition()

    async def say(self, number: int, key: str, report: Report) -> None:
        """From a task: report."""
        await self._reports.put((number, key, report))

    async def next_report(self) -> tuple[int, str, Report]:
        """From the pool: wait for the next report of any task."""
        return await self._reports.get()

    async def answer(self, key: str, reason: str) -> None:
        """From the pool: answer the last report of a task."""
        async with self._change:
            self._answers[key] = self._answers.get(key, (0, ""))[0] + 1, reason
            self._change.notify_all()

    async def answered(self, key: str, count: int) -> str:
        """From a task: wait until so many of its reports were answered; why it must stop."""
        async with self._change:
            await self._change.wait_for(lambda: self._answers.get(key, (0, ""))[0] >= count)
            return self._answers[key][1]


def exchange(ray: Any) -> Any:
    """Start the actor, which takes no place on the cluster."""
    return ray.remote(num_cpus=0, max_concurrency=MANY)(Exchange).remote()


class ExchangeLine(Line):
    """The end at which the evaluation is."""

    def __init__(self, actor: Any, number: int, key: str) -> None:
        super().__init__(lambda report: actor.say.remote(number, key, report))
        self._actor, self._key, self._said = actor, key, 0

    def say(self, report: Report, wait: float) -> None:
        ray = import_module("ray")
        self._send(report)
        self._said += 1
        with suppress(ray.exceptions.GetTimeoutError):
            self._stop = ray.get(self._actor.answered.remote(self._key, self._said), timeout=max(wait, 1e-3))
