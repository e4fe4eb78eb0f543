"""Many simulated runs, one after the other, in several processes or on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import Protocol

from aegis_paper.runs import Spec
from aegisbo.runners.evaluation import in_words
from aegisbo.simulation.runs import Record, simulate
from aegisbo.study.study import build


@dataclass(frozen=True)
class Done:
    """A run that has ended, well or not."""

    spec: Spec
    record: Record | None = None
    failure: str = ""  # why there is no record
    seconds: float = 0.0  # from begin to end
    core_seconds: float = 0.0  # spent on it: fewer, if the machine had other things to do
    build: Mapping[str, str] = field(default_factory=dict)  # that it was computed with


def perform(spec: Spec) -> Done:
    """Simulate a run wherever this is called; an error is an answer too, so that it ends no other run."""
    begin, work = perf_counter(), thread_time()
    try:
        record = simulate(spec)
    except Exception as error:
        return Done(spec, failure=in_words(error))
    return Done(spec, record, seconds=perf_counter() - begin, core_seconds=thread_time() - work, build=build())


class Jobs(Protocol):
    """Somewhere that so many runs can be performed at a time."""

    capacity: int

    def start(self, spec: Spec) -> None:
        """Begin a run; there is a free place."""

    def finish(self) -> Done:
        """Wait for a run to end, whichever is first."""


def perform_all(specs: Iterable[Spec], jobs: Jobs) -> Iterator[Done]:
    """Every run as soon as it has ended; who reads slowly makes nobody wait but the next to end."""
    running = 0
    for spec in specs:
        if running < jobs.capacity:
            jobs.start(spec)
            running += 1
            continue
        done = jobs.finish()
        jobs.start(spec)
        yield done
    for _ in range(running):
        yield jobs.finish()
