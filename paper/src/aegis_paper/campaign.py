"""A campaign: the runs of a plan that are not on record yet, each put on record as it ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from time import monotonic, thread_time

from threadpoolctl import threadpool_limits

from aegis_paper.plans import Plan
from aegis_paper.records import Records
from aegis_paper.runs import Cell, Spec
from aegisbo.outcome import Outcome
from aegisbo.runners.protocol import Finished, Workers
from aegisbo.simulation.runs import SimulatedRun, simulate
from aegisbo.study.agreement import build


@dataclass(frozen=True)
class Performed:
    """A run that went well, as it comes back from where it was simulated."""

    record: SimulatedRun
    core_seconds: float  # spent on it: fewer than it took, if the machine had other things to do
    build: Mapping[str, str]  # that it was computed with


@dataclass(frozen=True)
class Done:
    """A run that has ended, well or not."""

    spec: Spec
    performed: Performed | None = None
    failure: str = ""  # why there is no record
    seconds: float = 0.0  # from begin to end


def perform(spec: Spec) -> Performed:
    """Simulate one run wherever this is called, with one BLAS thread: several runs share the cores."""
    begin = thread_time()
    with threadpool_limits(1, user_api="blas"):
        record = simulate(spec)
    return Performed(record, thread_time() - begin, build())


def unfinished(plan: Plan, records: Records) -> list[Spec]:
    """The runs of the plan that are not on record, in the plan's order; raises if one of them is impossible."""
    on_record = records.runs()
    return [spec for spec in plan.specs() if spec.run not in on_record.get(Cell.of(spec), ())]


def carry_out(specs: Sequence[Spec], records: Records, pool: Workers) -> Iterator[Done]:
    """Do these runs; for whoever holds the lock of the records.

    Args:
        specs: the runs.
        records: where each run is kept before it is returned.
        pool: calls `perform`, and accepts any answer of it.

    Returns:
        Each run as soon as it has ended. A run that failed, or whose process died, ends no other.
    """
    waiting = iter(enumerate(specs))
    for number, spec in islice(waiting, pool.capacity):
        pool.submit(number, spec)
    left = len(specs)
    while left:
        for job in (news for news in pool.collect() if isinstance(news, Finished)):
            left -= 1
            if following := next(waiting, None):
                pool.submit(*following)
            done = _done(specs[job.number], job.outcome, job.seconds)
            if done.performed is not None:
                records.add(done.performed.record, done.performed.build, done.performed.core_seconds)
            yield done


def _done(spec: Spec, outcome: Outcome, seconds: float) -> Done:
    if outcome.state != "done":
        return Done(spec, failure=outcome.reason, seconds=seconds)
    return Done(spec, outcome.value, seconds=seconds)


class Outlook:
    """How long a campaign will take, from what its runs took so far: they cost very differently."""

    def __init__(self, specs: Iterable[Spec]) -> None:
        self._left = Counter(map(_kind, specs))
        self._seconds: defaultdict[tuple[object, ...], list[float]] = defaultdict(list)
        self._begin = monotonic()

    def note(self, done: Done) -> None:
        """A run has ended."""
        self._left[_kind(done.spec)] -= 1
        self._seconds[_kind(done.spec)].append(done.seconds)

    def seconds_left(self) -> float:
        """Work that is left over the work done in a second so far; a kind not yet seen counts as the average one."""
        worked = sum(map(sum, self._seconds.values()))
        if not worked:
            return float("inf")
        average = fmean(map(fmean, self._seconds.values()))
        work = sum(count * fmean(self._seconds.get(kind, [average])) for kind, count in self._left.items())
        return work * (monotonic() - self._begin) / worked


def _kind(spec: Spec) -> tuple[object, ...]:
    """Runs of one kind take about the same time."""
    return spec.strategy, spec.preset, spec.n_initial, spec.workers
