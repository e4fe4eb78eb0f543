"""The one loop between an optimizer and its workers: a worker that becomes free has its next point at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from time import perf_counter
from typing import Any, Protocol

from aegisbo.errors import InvalidInput, SpaceExhausted
from aegisbo.outcome import Failure, Outcome
from aegisbo.runners.idle import CAUSES, Idle, Stay, idle_of
from aegisbo.runners.journal import Asked, Journal, Unrecorded
from aegisbo.runners.workers import Finished, StopRun, Workers

SPENT = "The budget is spent."


class AsksAndTells(Protocol):
    """All that the loop needs from an optimizer."""

    @property
    def pending(self) -> Iterable[Asked]: ...

    @property
    def memory(self) -> Mapping[str, Any]: ...

    def ask(self) -> Asked: ...

    def tell(self, number: int, value: float, /) -> object: ...

    def fail(self, number: int, reason: str, /, *, state: Failure) -> object: ...


@dataclass(frozen=True)
class Rules:
    """How patient a run is."""

    timeout: float | None = None  # seconds for the whole run
    trial_timeout: float | None = None  # seconds for one evaluation
    retries: int = 2  # of an evaluation whose worker died


@dataclass(frozen=True)
class Run:
    """What happened, when, and how well the workers were used."""

    capacity: int  # workers
    started: float  # on the workers' clock
    finished: tuple[Finished, ...]  # in order of completion, lost jobs included
    suggestion_seconds: Mapping[int, float]  # by trial number, in order of asking; real seconds, whatever the clock
    idle: tuple[Idle, ...] = ()  # of each worker
    message: str = ""  # why it ended

    @property
    def makespan(self) -> float:
        """Seconds from the start of the run to its last completion."""
        return max((job.finished for job in self.finished), default=self.started) - self.started

    @property
    def busy(self) -> float:
        """Seconds that all workers together spent evaluating."""
        return sum(job.seconds for job in self.finished)

    @property
    def utilization(self) -> float:
        """The share of the workers' time that was spent evaluating; 1 if the run took no time at all."""
        return self.busy / (self.capacity * self.makespan) if self.makespan > 0 else 1.0

    @property
    def idle_shares(self) -> dict[str, float]:
        """The share of the workers' time spent waiting for a suggestion, for the pool, and with nothing left to do."""
        total = sum(worker.total for worker in self.idle) or 1.0
        return {cause: sum(getattr(worker, cause) for worker in self.idle) / total for cause in CAUSES}


Watch = Callable[[Finished, Callable[[], Run]], None]  # a job that has ended, and the run so far if wanted


def run(
    optimizer: AsksAndTells,
    workers: Workers,
    budget: int,
    *,
    rules: Rules | None = None,
    journal: Journal | None = None,
    watch: Watch = lambda job, record: None,
    more: Callable[[], bool] = lambda: True,
) -> Run:
    """Evaluate `budget` suggestions, or as many as the space holds; a failed one counts, a lost one does not.

    Trials that are pending already are evaluated first. Results that arrive while a suggestion is being made are told
    before the next one is asked for, so that every suggestion knows all there is to know. At the end the workers are
    closed, and whatever had ended by then is told too, so that the optimizer knows all that the journal holds.

    Args:
        optimizer: hands out points and takes in what became of them.
        workers: evaluate the points.
        budget: evaluations to finish from now on.
        rules: time limits and retries.
        journal: is told of every event before anybody acts on it.
        watch: is shown each finished job after the optimizer knows of it; raises StopRun to end the run now.
        more: whether further points may be asked for; False lets the run end with what is running.
    """
    if budget < 1:
        raise InvalidInput(f"budget is {budget}: ask for at least 1 evaluation.")
    loop = _Loop(optimizer, workers, budget, rules or Rules(), journal or Unrecorded(), watch, more)
    try:
        while loop.step():
            pass
    except StopRun as stop:
        loop.message = str(stop)
    workers.close()
    loop.settle()
    return loop.record()


@dataclass
class _Running:
    """A job at a worker."""

    trial: Asked
    slot: int  # which worker, counted from 0
    submitted: float
    attempt: int
    overdue: bool = False  # its time is up
    given_up: bool = False  # and its worker cannot be stopped: it counts as ended, but its worker stays busy


@dataclass
class _Loop:
    optimizer: AsksAndTells
    workers: Workers
    left: int  # evaluations still to be finished
    rules: Rules
    journal: Journal
    watch: Watch
    more: Callable[[], bool]
    message: str = SPENT
    exhausted: bool = False
    running: dict[int, _Running] = field(default_factory=dict)  # by trial number
    news: deque[Finished] = field(default_factory=deque)  # ended, not yet told
    finished: list[Finished] = field(default_factory=list)
    stays: list[Stay] = field(default_factory=list)
    seconds: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.started = self.workers.now()
        self.seen = self.journal.known  # the last event that the optimizer knows of
        self.waiting = list(self.optimizer.pending)  # asked for in an earlier life, or lost: to be run again
        self.attempts = dict.fromkeys((trial.number for trial in self.waiting), 0)

    def step(self) -> bool:
        """Hand out a point, or wait for news; False when neither makes sense any more."""
        trial = self._next() if self._may_start() else None
        if trial is not None:
            self._submit(trial)
        elif not self._worth_waiting():
            self.message = self.message if self.left > 0 else SPENT
            return False
        self._hear(self._patience(handed_out=trial is not None))
        self._stop_overdue()
        return True

    def settle(self) -> None:
        """Tell what ended while the run was being stopped; nobody watches any more."""
        self.watch = lambda job, record: None
        self._hear(0.0)

    def record(self) -> Run:
        """What has happened so far."""
        now = self.workers.now()
        still = [Stay(job.slot, job.submitted, now, now - job.submitted) for job in self.running.values()]
        idle = idle_of([*self.stays, *still], self.workers.capacity, self.started, now)
        return Run(self.workers.capacity, self.started, tuple(self.finished), self.seconds, idle, self.message)

    def _may_start(self) -> bool:
        if len(self.running) >= self.workers.capacity or self._active() >= self.left:
            return False
        if self.exhausted and not self.waiting:
            return False
        if not self.more():
            self.message = "Stopped on request."
            return False
        if self._no_time_for_another():
            self.message = "The time is up."
            return False
        return True

    def _next(self) -> Asked | None:
        if self.waiting:
            return self.waiting.pop(0)
        begin = perf_counter()
        try:
            trial = self.optimizer.ask()
        except SpaceExhausted as error:
            self.exhausted, self.message = True, str(error)
            return None
        self.seconds[trial.number] = perf_counter() - begin
        self.journal.asked(trial, self.optimizer.memory, self.seen, self.seconds[trial.number])
        return trial

    def _submit(self, trial: Asked) -> None:
        slot = min(set(range(self.workers.capacity)) - {job.slot for job in self.running.values()})
        self.attempts[trial.number] = self.attempts.get(trial.number, 0) + 1
        self.running[trial.number] = _Running(trial, slot, self.workers.now(), self.attempts[trial.number])
        self.workers.submit(trial.number, trial.x)

    def _worth_waiting(self) -> bool:
        # A job that was given up is waited for only if its worker is needed for another.
        another = self.left > 0 and self.more() and (bool(self.waiting) or not self.exhausted)
        return self._active() > 0 or (bool(self.running) and another)

    def _patience(self, *, handed_out: bool) -> float | None:
        """Seconds to wait for news: none while points can be handed out, else until the next deadline."""
        if handed_out:
            return 0.0
        deadlines = [job.submitted + limit for job in self.running.values() if (limit := self._limit(job))]
        if self.rules.timeout is not None:
            deadlines.append(self.started + self.rules.timeout)
        return max(min(deadlines) - self.workers.now(), 0.0) if deadlines else None

    def _hear(self, timeout: float | None) -> None:
        """Take in what has ended, waiting for the first up to `timeout` seconds."""
        self.news.extend(self.workers.collect(timeout))
        while self.news:  # one at a time: a watcher that ends the run leaves the others to be settled
            self._end(self.news.popleft())

    def _end(self, job: Finished) -> None:
        """Tell the optimizer what became of a job."""
        ended = self.running.pop(job.number)
        self.stays.append(Stay(ended.slot, job.started, job.finished, job.seconds))
        self.finished.append(job)
        self.seen = max(self.seen, job.event)
        if job.outcome.state == "lost":
            self._lost(ended, job)
        elif job.outcome.state == "done":
            self.optimizer.tell(job.number, job.outcome.value)
        elif not ended.given_up:
            self.optimizer.fail(job.number, job.outcome.reason, state=job.outcome.state)
        if job.outcome.state != "lost" and not ended.given_up:
            self.left -= 1
        self.watch(job, self.record)

    def _lost(self, ended: _Running, job: Finished) -> None:
        """Run it again, or give up after the last retry."""
        if ended.given_up:
            return
        if ended.attempt <= self.rules.retries:
            self.waiting.append(ended.trial)
            return
        reason = f"Its worker died {ended.attempt} times: {job.outcome.reason}"
        self._fail(replace(job, outcome=Outcome("failed", reason=reason)))

    def _fail(self, job: Finished) -> None:
        """Write down and tell a failure that no worker reports."""
        event = self.journal.ended(job)
        self.optimizer.fail(
            job.number, job.outcome.reason, state="timed_out" if job.outcome.state == "timed_out" else "failed"
        )
        self.left -= 1
        self._hear(0.0)  # whatever was written down before it must be known before it
        self.seen = max(self.seen, event)

    def _stop_overdue(self) -> None:
        now = self.workers.now()
        for number, job in tuple(self.running.items()):
            limit = self._limit(job)
            if limit is None or now < job.submitted + limit or number not in self.running:
                continue
            job.overdue = True
            if self.workers.can_stop:
                self.workers.stop(number)
            else:
                self._give_up(job, now)
        if self.rules.timeout is not None and now >= self.started + self.rules.timeout:
            raise StopRun("The time is up.")

    def _give_up(self, job: _Running, now: float) -> None:
        job.given_up = True
        reason = f"Still running after {now - job.submitted:.3g} seconds."
        late = Finished(job.trial.number, Outcome("timed_out", reason=reason), job.submitted, now)
        self._fail(late)
        self.watch(late, self.record)

    def _limit(self, job: _Running) -> float | None:
        return None if job.overdue else self.rules.trial_timeout

    def _active(self) -> int:
        """Jobs that still count."""
        return sum(not job.given_up for job in self.running.values())

    def _no_time_for_another(self) -> bool:
        """Whether a job that takes as long as most did would not be finished in time."""
        if self.rules.timeout is None or not self.finished:
            return False
        remaining = self.started + self.rules.timeout - self.workers.now()
        return remaining < median(job.seconds for job in self.finished)
