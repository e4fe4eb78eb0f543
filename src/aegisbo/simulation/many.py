"""Many simulated runs, one after the other or in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from traceback import format_exc
from typing import Any, TypeVar

from aegisbo.errors import AegisError
from aegisbo.outcome import Outcome, kept
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.pools.make_pool import make_pool
from aegisbo.runners.protocol import Finished

What = TypeVar("What")
Answer = TypeVar("Answer")


def answers(simulation: Callable[[What], Answer], specs: Sequence[What], jobs: int = 1) -> Iterator[Answer]:
    """The record of each spec, in their order, each as soon as it is ready.

    The number of worker processes, `jobs`, changes no answer; with 1 everything happens in this process.

    Raises:
        AegisError: a worker process died. Exceptions of a simulation are raised here as they are, and end the others.
    """
    processes = min(jobs, len(specs))
    if processes <= 1:
        yield from map(simulation, specs)
        return
    with closing(make_pool("processes", partial(_answer, simulation), processes, judge=kept)) as pool:
        for spec, outcome in zip(specs, _outcomes(specs, pool), strict=True):
            if outcome.state != "done":
                raise AegisError(f"The simulation of {spec} gave no record: {outcome.reason}")
            if isinstance(outcome.value, Exception):
                raise outcome.value
            yield outcome.value


def _outcomes(specs: Sequence[Any], pool: Pool) -> Iterator[Outcome]:
    """How each simulation ended, in the order of the specs; no process waits for the slowest."""
    waiting = iter(enumerate(specs))
    for number, spec in islice(waiting, pool.capacity):
        pool.submit(number, spec)
    ended: dict[int, Outcome] = {}
    for wanted in range(len(specs)):
        while wanted not in ended:
            for job in (news for news in pool.collect() if isinstance(news, Finished)):
                ended[job.number] = job.outcome
                if following := next(waiting, None):
                    pool.submit(*following)
        yield ended.pop(wanted)


def _answer(simulation: Callable[[What], Answer], spec: What) -> Answer | Exception:
    """In a worker process: an exception is returned, because an outcome holds only its text."""
    try:
        return simulation(spec)
    except Exception as error:
        error.add_note(format_exc())  # where it happened
        return error
