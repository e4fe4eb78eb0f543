"""How the workers of a run differ: how long evaluations take on each, how many failed and how many were lost there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, lgamma, log

from aegisbo.events import Lost
from aegisbo.outcome import FAILURES, RESULTS
from aegisbo.review.record import Record
from aegisbo.study.ledger import Ledger


@dataclass(frozen=True)
class Colleague:
    """What is known of one worker of a run."""

    worker: int  # counted from 0
    ended: int  # its evaluations that ended, whatever the result
    failed: int  # those without a value
    lost: int  # evaluations that were lost because it died or vanished
    busy: float  # seconds that its evaluations took
    pace: float  # how many times as long they take as on a typical worker; 1 unless workers clearly differ


def team_of(record: Record) -> tuple[Colleague, ...]:
    """All workers of a run that evaluated something, by number."""
    ended, failed, lost, busy = Counter[int](), Counter[int](), Counter[int](), defaultdict[int, float](float)
    for worker, seconds in _losses(record):
        lost[worker] += 1
        busy[worker] += seconds
    for trial in record.trials:
        if trial.worker is not None and trial.state in (*RESULTS, "stopped"):
            ended[trial.worker] += 1
            failed[trial.worker] += trial.state in FAILURES
            busy[trial.worker] += trial.seconds or 0.0
    paces = record.optimizer.paces
    return tuple(
        Colleague(worker, ended[worker], failed[worker], lost[worker], busy[worker], paces.get(worker, 1.0))
        for worker in sorted(ended.keys() | lost.keys())
    )


def _losses(record: Record) -> Iterator[tuple[int, float]]:
    """The worker of each evaluation that was lost, and the seconds that it took until then; of a copy its first one."""
    ledger = Ledger()
    for event in record.events:
        if isinstance(event, Lost) and not event.given_back:
            copy = ledger.copies.get(ledger.holders.get(event.number) or -1)
            worker = event.outcome.worker if copy is None or event.outcome.worker is not None else copy.lane
            if worker is not None:
                yield worker, event.outcome.seconds or 0.0
        ledger.apply(event)


def by_share(count: int, events: int, mine: float, whole: float) -> float:
    """The chance that so many of all events or more fall into one's share of the time (binomial)."""
    if not 0.0 < mine < whole:
        return 1.0
    yes, no = log(mine / whole), log(1.0 - mine / whole)
    return sum(exp(_log_ways(events, k) + k * yes + (events - k) * no) for k in range(count, events + 1))


def by_draw(count: int, events: int, mine: int, whole: int) -> float:
    """The chance that so many of all events or more are among one's own of all evaluations (hypergeometric)."""
    most = range(max(count, mine + events - whole), min(events, mine) + 1)
    ways = (_log_ways(events, k) + _log_ways(whole - events, mine - k) - _log_ways(whole, mine) for k in most)
    return sum(map(exp, ways))


def _log_ways(n: int, k: int) -> float:
    """The log of the number of ways to choose k of n."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
