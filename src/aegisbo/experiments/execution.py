"""Many simulated runs, one after the other, in several processes or on a cluster."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import Protocol

from aegisbo.experiments.simulation import Record, Spec, simulate
from aegisbo.runners.workers import in_words
from aegisbo.study.study import build


def simulate_all(specs: Sequence[Spec], jobs: int = 1) -> Iterator[Record]:
    """The records in the order of their specs, each as soon as it is there; `jobs` processes change nothing else."""
    processes = min(jobs, len(specs))
    if processes <= 1:
        yield from map(simulate, specs)
        return
    context = multiprocessing.get_context("spawn")  # threads of the parent (BLAS, a progress bar) make a fork unsafe
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_end_when_interrupted) as pool:
        yield from pool.map(simulate, specs)


def _end_when_interrupted() -> None:
    """Let Ctrl-C end the process at once: the parent is interrupted too and speaks for all."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


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
