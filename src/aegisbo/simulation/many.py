"""Many simulated runs, one after the other or in several processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from aegisbo.simulation.runs import Record, Spec, simulate


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
