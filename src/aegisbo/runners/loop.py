"""The one loop between a study and its workers: a worker that becomes free gets its next point at once."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from statistics import median
from time import perf_counter
from typing import Any

from aegisbo.errors import NoTime, SpaceExhausted
from aegisbo.number import as_number
from aegisbo.optimizer import Trial
from aegisbo.options import Options
from aegisbo.outcome import Outcome
from aegisbo.runners.idle import JobTimes, idle_of
from aegisbo.runners.interrupt import STOPPED, interruptible
from aegisbo.runners.protocol import Finished, Heard, Interrupted, News, StopRun, Workers
from aegisbo.runners.run import Run
from aegisbo.runners.time_limit import Running, stop_if_overdue
from aegisbo.study import Study

SPENT = "The budget is spent."
LOOK = 0.5  # seconds between two looks for requests from outside, while nothing else happens

Watch = Callable[[Finished], None]  # called with each job that has ended; raises StopRun to end the run now
Heed = Callable[[], Options | None]  # the options from now on, if there were requests since the last call
Place = Callable[[Trial], Any]  # what a worker gets of a trial: its point, and the folder if it has one


def run(
    study: Study,  # hands out trials and takes in how they end
    workers: Workers,
    budget: int,  # evaluations to finish from now on
    *,
    options: Options | None = None,  # time limits and retries; the budget above is the one that counts
    watch: Watch = lambda job: None,
    more: Callable[[], bool] = lambda: True,  # whether to ask for further points; Ctrl-C may end this
    heed: Heed | None = None,  # called before each step and twice a second; None if there can be no requests
    place: Place = lambda trial: trial.x,
    ponder: Callable[[], None] = lambda: None,  # called while all workers are busy, or none is; may raise StopRun, too
) -> Run:
    """Evaluate `budget` suggestions, or as many as the space holds; a failed one counts, a lost one does not.

    Pending trials are evaluated first. Results that arrive during a suggestion are taken in before the next one, so
    that every suggestion knows all results so far. At the end the workers are closed, and jobs that ended meanwhile
    are taken in too. The study holds the results; the returned record says what happened.
    """
    loop = _Loop(study, workers, budget, options or Options(), watch, more, heed, place, ponder)
    try:
        while loop.step():
            pass
    except StopRun as stop:
        loop.message, loop.interrupted = str(stop), isinstance(stop, Interrupted)
    loop.settle()
    return loop.record()


@dataclass
class _Loop:
    study: Study
    workers: Workers
    left: int  # evaluations still to finish
    options: Options
    watch: Watch
    more: Callable[[], bool]
    heed: Heed | None = None
    place: Place = lambda trial: trial.x
    ponder: Callable[[], None] = lambda: None
    message: str = SPENT
    interrupted: bool = False
    exhausted: bool = False
    over: bool = False
    running: dict[int, Running] = field(default_factory=dict)  # by trial number
    news: deque[News] = field(default_factory=deque)  # not yet taken in
    finished: list[Finished] = field(default_factory=list)
    job_times: list[JobTimes] = field(default_factory=list)
    suggestion_seconds: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.started = self.workers.now()
        self.sizes = [(self.started, self.workers.capacity)]  # how many workers there were since when
        self.waiting = list(self.study.pending)  # from an earlier run, or lost: to run (again)
        self.attempts: Counter[int] = Counter()  # by trial number
        self.unasked = 0  # trials begun since it was last asked whether going on is worth it
        self.preferred: Mapping[int, float] = {}  # paces that the workers have been told
        self.rests_until: float | None = None  # when to ask again after there was no point
        self.suspects: set[int] = set()  # trials that may have broken shared workers, and run alone from now on

    def step(self) -> bool:
        """Submit a point or wait for results; False when there is nothing left to do."""
        self._heed()
        if not self.running or self.unasked > self.workers.capacity:
            self._reflect()
        trial = self._next() if self._may_start() else None
        if trial is not None:
            self._begin(trial)
        elif not self._worth_waiting():
            if self.left <= 0:
                self.message, self.interrupted = SPENT, False
            return False
        else:
            self._reflect()
        timeout = 0.0 if trial is not None else self._until_next_deadline()
        if not self.running and timeout:
            with interruptible():
                self.study.wait(timeout)  # the workers have nothing to wait for
        self._collect(timeout)
        self._stop_overdue()
        return True

    def _reflect(self) -> None:
        """See whether going on is worth it: as a rule while all workers are busy, so that none waits for the answer."""
        self.unasked = 0
        with interruptible():
            self.ponder()

    def settle(self) -> None:
        """Close the workers and take in what ended meanwhile; `watch` is not called for it."""
        for job in self.running.values():
            job.called_at(self.workers)  # closed workers no longer know
        self.workers.close()
        self.over, self.watch = True, lambda job: None
        self._collect(0.0)

    def record(self) -> Run:
        """What has happened so far."""
        now = self.workers.now()
        running = [JobTimes(job.slot, job.submitted, now, job.seconds(self.workers)) for job in self.running.values()]
        return Run(
            self.workers.capacity,
            self.started,
            tuple(self.finished),
            self.suggestion_seconds,
            idle_of([*self.job_times, *running], self.sizes, now),
            self.message,
            self.interrupted,
        )

    def _may_start(self) -> bool:
        if len(self.running) >= self.workers.capacity or self._suspicious() or self._spared():
            return False
        if not self._may_begin_another() and not self.study.resumable:
            return False
        if not self.more():
            self.message, self.interrupted = f"{STOPPED} Ctrl-C.", True
            return False
        return True

    def _spared(self) -> bool:
        """Whether faster workers will have done all that is left before the next one has done one evaluation."""
        paces = self._paces()
        if not paces:
            return False
        pace = paces.get(self.workers.next_worker, 1.0)
        stuck = {job.slot for job in self.running.values() if job.given_up}
        others = [paces.get(worker, 1.0) for worker in range(self.workers.capacity) if worker not in stuck]
        return 0 < self.left - self._active() <= sum(max(int(pace / other) - 1, 0) for other in others)

    def _may_begin_another(self) -> bool:
        """Whether the budget has room for a trial that is waiting, or for another one to ask for."""
        return self._active() < self.left and (bool(self.waiting) or (not self.exhausted and self._rest_is_over()))

    def _suspicious(self) -> bool:
        """Whether a suspect is running, or is the next to run while others are running."""
        following = {self.waiting[0].number} if self.waiting else set()
        active = {number for number, job in self.running.items() if not job.given_up}
        return bool(active and self.suspects & (active | following))

    def _next(self) -> Trial | None:
        limit = self._limit()
        for k, earlier in enumerate(self.waiting if self._active() < self.left else ()):
            if limit is None or self._expected_seconds(earlier.note) <= limit:
                return self.waiting.pop(k)
        if (resumed := self._resumed(limit)) is not None or not self._may_begin_another():
            return resumed
        begin = perf_counter()
        try:
            trial = self.study.ask(limit, interruptible)
        except SpaceExhausted as error:
            self.exhausted, self.message = True, str(error)
            return None
        except NoTime as error:
            text = str(error)
            self.message = f"The time is up: {text[:1].lower()}{text[1:]}"
            return None
        if trial is None and self.study.spent:
            raise StopRun(SPENT)
        if trial is None:
            self.rests_until = self.workers.now() + self.study.rest
            return None
        self.suggestion_seconds[trial.number] = perf_counter() - begin
        return trial

    def _resumed(self, limit: float | None) -> Trial | None:
        """An evaluation that was stopped and goes on before another begins."""
        late = limit is not None and self._expected_seconds({}) > limit
        trial = None if late or not self.study.resumable else self.study.resume()
        if trial is not None:
            self.left += 1  # it had counted
            self.attempts[trial.number] = 0
        return trial

    def _begin(self, trial: Trial) -> None:
        """Submit a trial; one whose worker died before it heard that it is to stop has ended instead."""
        self.unasked += 1
        if trial.halted:
            now = self.workers.now()
            self._end_here(Finished(trial.number, Outcome("stopped", reason=trial.halted), now, now))
        else:
            self._submit(trial)

    def _submit(self, trial: Trial) -> None:
        self.attempts[trial.number] += 1
        now = self.workers.now()
        slot = self.workers.submit(trial.number, self.place(trial))
        self.running[trial.number] = Running(trial, slot, now)

    def _worth_waiting(self) -> bool:
        # Wait for a job that was given up only if another needs its worker.
        another = self.left > 0 and self.more() and (bool(self.waiting) or not self.exhausted)
        return self._active() > 0 or (another and (bool(self.running) or self.rests_until is not None))

    def _rest_is_over(self) -> bool:
        if self.rests_until is not None and (self.workers.now() >= self.rests_until or self.study.stirred()):
            self.rests_until = None
        return self.rests_until is None

    def _until_next_deadline(self) -> float | None:
        """Seconds until a job or the whole run must be stopped; None if there is no limit."""
        limit = self.options.trial_timeout
        dues = (job.due(self.workers, limit) for job in self.running.values())
        deadlines = [due for due in dues if due is not None]
        if self.options.timeout is not None:
            deadlines.append(self.started + self.options.timeout)
        if self.rests_until is not None:
            deadlines.append(self.rests_until)
        return max(min(deadlines) - self.workers.now(), 0.0) if deadlines else None

    def _collect(self, timeout: float | None) -> None:
        """Take in the news of jobs, waiting for the first up to `timeout` seconds."""
        self.news.extend(self._news_within(timeout))
        while self.news:  # one at a time: if `watch` ends the run, `settle` takes the others
            news = self.news.popleft()
            if isinstance(news, Finished):
                self._end(news)
            else:
                self._hear(news)

    def _news_within(self, timeout: float | None) -> Sequence[News]:
        """Wait for news of jobs, and look for requests from outside now and then."""
        if self.heed is None or self.over:
            return self.workers.collect(timeout)
        deadline = inf if timeout is None else self.workers.now() + timeout
        while True:
            rest = max(deadline - self.workers.now(), 0.0)
            news = self.workers.collect(min(rest, LOOK))
            if news or rest <= LOOK or not self.running or self._heed() or self._stirred():
                return news

    def _stirred(self) -> bool:
        """Whether a rest has ended before its time."""
        return self.rests_until is not None and self._rest_is_over()

    def _heed(self) -> bool:
        """Carry out requests from outside; whether there were any."""
        options = None if self.heed is None else self.heed()
        if options is None:
            return False
        self.left += options.budget - self.options.budget
        self.options = options
        self.rests_until, self.exhausted = None, False  # they were decided without knowing it
        self.sizes.append((self.workers.now(), self.workers.capacity))
        return True

    def _hear(self, heard: Heard) -> None:
        """Let the study know of a report, and the job whether it may go on."""
        event = heard.event or self.study.reported(heard.number, heard.report)
        reason = self.study.answer(event, heard.number)
        if heard.number in self.running:
            self.running[heard.number].trial = self.study.optimizer.trial(heard.number)
            self.running[heard.number].heard = True
        if self.study.optimizer.settings.stop_early:  # else nobody waits for an answer
            self.workers.tell(heard.number, reason)

    def _end(self, job: Finished) -> None:
        """Let the study know how a job ended."""
        ended = self.running.pop(job.number)
        self.job_times.append(JobTimes(ended.slot, job.started, job.finished, job.seconds))
        self.finished.append(job)
        if ended.given_up:  # it counts as ended already; only its worker matters
            return
        self.study.take_in(job.event or self.study.ended(job.number, job.outcome))
        if job.outcome.state == "lost":
            self._show(job)  # first, so that it can end the run before anything counts as failed
            self._lost(ended.trial, job)
            return
        self.left -= 1
        self._reconsider()
        self._show(job)

    def _reconsider(self) -> None:
        """Tell those that are not worth their worker any more, after what another one has shown."""
        reporting = [number for number, job in self.running.items() if job.heard and not job.given_up]
        for number, reason in self.study.reconsider(reporting).items() if reporting else ():
            self.running[number].trial = self.study.optimizer.trial(number)
            self.workers.tell(number, reason)

    def _show(self, job: Finished) -> None:
        with interruptible():  # it may call the user's code
            self.watch(job)

    def _lost(self, trial: Trial, job: Finished) -> None:
        """Run it again, or give up after the last retry; if the run is over, the trial stays pending."""
        if self.over:
            return
        attempts = self.attempts[trial.number]
        if attempts <= self.options.retries:
            self.waiting.append(trial)
        elif job.outcome.shared:  # it may not be the cause
            self.suspects.add(trial.number)
            self.waiting.append(trial)
        else:
            what = "It could not be run" if job.outcome.unusable else "Its worker died"
            often = f"{attempts} times" if attempts > 1 else "once"
            reason = f"{what} {often}: {job.outcome.reason}"
            self._end_here(replace(job, outcome=replace(job.outcome, state="failed", reason=reason)))

    def _end_here(self, job: Finished) -> None:
        """Record and take in an end that no worker reports."""
        event = self.study.ended(job.number, job.outcome, job.seconds)
        self.left -= 1
        self._collect(0.0)  # take in earlier events first
        self.study.take_in(event)
        self._show(job)

    def _stop_overdue(self) -> None:
        for number, job in tuple(self.running.items()):
            if number in self.running:  # else it ended while another one was given up
                given_up = stop_if_overdue(job, self.workers, self.options.trial_timeout)
                if given_up is not None:
                    self._end_here(given_up)
        if self.options.timeout is not None and self.workers.now() >= self.started + self.options.timeout:
            raise StopRun("The time is up.")

    def _active(self) -> int:
        """Jobs that still count."""
        return sum(not job.given_up for job in self.running.values())

    def _limit(self) -> float | None:
        """Seconds that a job started now may take on a typical worker; None if there is no limit."""
        if self.options.timeout is None:
            return None
        remaining = max(self.started + self.options.timeout - self.workers.now(), 0.0)
        longest = self.options.trial_timeout
        if longest is not None and longest <= remaining:
            return None
        paces = self._paces()
        return remaining / paces.get(self.workers.next_worker, 1.0) if paces else remaining

    def _paces(self) -> Mapping[int, float]:
        """How many times as long evaluations take on each worker, as far as that differs; the fastest goes first."""
        paces = self.study.paces
        if paces != self.preferred:
            self.workers.prefer(paces)
            self.preferred = paces
        return paces

    def _expected_seconds(self, note: Mapping[str, Any]) -> float:
        """The probable duration of a job asked for earlier: as expected then, or the median so far."""
        expected = as_number(note.get("expected_seconds"))
        if expected is not None:
            return expected
        return median(job.seconds for job in self.finished) if self.finished else 0.0
