"""A campaign: the runs of a plan that are not on record yet, each put on record as it ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from statistics import fmean
from time import monotonic

from aegis_paper.execution import Done, Jobs, perform_all
from aegis_paper.plans import Plan
from aegis_paper.records import Records
from aegis_paper.runs import Cell, Spec


def unfinished(plan: Plan, records: Records) -> list[Spec]:
    """The runs of the plan that are not on record, in the plan's order; raises if one of them is impossible."""
    on_record = records.runs()
    return [spec for spec in plan.specs() if spec.run not in on_record.get(Cell.of(spec), ())]


def carry_out(specs: Iterable[Spec], records: Records, jobs: Jobs) -> Iterator[Done]:
    """Do these runs, whose records are kept before they are told of; for whoever holds the lock of the records."""
    for done in perform_all(specs, jobs):
        if done.record is not None:
            records.add(done.record, done.build, done.core_seconds)
        yield done


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
