"""The loop: no worker waits, nothing is asked twice or too often, every outcome reaches the optimizer."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegisbo import Optimizer
from aegisbo.errors import NoTime, SpaceExhausted
from aegisbo.events import Asked, Ended, Event, Lost, ended
from aegisbo.options import Options
from aegisbo.outcome import Outcome
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.runners.run import Run
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import Law, constant, exponential, half_normal, measured, pareto
from aegisbo.study import Study
from aegisbo.study.study import InMemory


@dataclass(frozen=True)
class Trial:
    number: int
    x: float
    halted: str = ""


@dataclass
class Recorder:
    """A book that suggests 10 * number and writes down all that it is asked and told."""

    size: float = math.inf  # how many points the space holds
    seconds: float = 0.0  # that a job takes, as far as is known
    events: list[tuple[Any, ...]] = field(default_factory=list)
    issued: int = 0
    occupied: int = 0
    pending: tuple[Trial, ...] = ()
    spent: bool = False
    resumable: bool = False
    rest: float = 1.0
    paces: Mapping[int, float] = field(default_factory=dict)

    def stirred(self) -> bool:
        return False

    def ask(self, within: float | None = None, choosing: Any = None) -> Trial:
        if within is not None and within < self.seconds:
            raise NoTime("Nothing ends in time.")
        if self.occupied >= self.size:
            raise SpaceExhausted("no point left")
        self.events.append(("ask", self.issued))
        self.issued += 1
        self.occupied += 1
        return Trial(self.issued - 1, 10.0 * (self.issued - 1))

    def ended(self, number: int, outcome: Outcome, seconds: float | None = None) -> Ended | Lost:
        return ended(number, outcome, seconds)

    def take_in(self, event: Ended | Lost) -> None:
        if isinstance(event, Ended):
            self.end(event.number, event.outcome)

    def end(self, number: int, outcome: Outcome) -> None:
        if outcome.state == "done":
            self.events.append(("tell", number, outcome.value))
        else:
            self.events.append(("fail", number, outcome.state, outcome.reason))

    def expire(self, number: int) -> None:
        self.events.append(("expire", number))
        self.occupied -= 1

    def of(self, kind: str) -> list[int]:
        return [event[1] for event in self.events if event[0] == kind]


def plus_one(x: float) -> float:
    return x + 1


def simulate(
    q: int, law: Law, budget: int, free: int = 0, seed: int = 1, size: float = math.inf
) -> tuple[Recorder, Run]:
    optimizer = Recorder(size)
    return optimizer, run(optimizer, VirtualWorkers(plus_one, q, law, seed, free), budget)


def order_of(record: Run) -> list[int]:
    return [job.number for job in record.finished]


@given(
    q=st.integers(1, 6),
    budget=st.integers(1, 40),
    free=st.integers(0, 8),
    seed=st.integers(0, 2**32 - 1),
    law=st.sampled_from([half_normal, pareto, exponential, constant, measured((1.0, 2.0, 0.0))]),
)
def test_completions_are_those_of_a_queue_served_by_the_first_free_worker(
    q: int, budget: int, free: int, seed: int, law: Law
) -> None:
    """The classical picture of the same thing: trials stand in line, and each goes to the worker free earliest."""
    workers = VirtualWorkers(plus_one, q, law, seed, free)
    free_at = [0.0] * q
    jobs = []
    for number in range(budget):
        start = heapq.heappop(free_at)
        heapq.heappush(free_at, start + workers.seconds(number))
        jobs.append((start + workers.seconds(number), number, start))
    _, record = simulate(q, law, budget, free, seed)
    assert sorted((job.finished, job.number, job.started) for job in record.finished) == sorted(jobs)
    ends = [job.finished for job in record.finished]
    assert ends == sorted(ends)
    assert record.makespan == max(free_at)
    total = sum(workers.seconds(number) for number in range(budget))
    assert record.utilization == pytest.approx(total / (q * max(free_at)) if max(free_at) else 1, rel=1e-12)


@given(q=st.integers(1, 6), budget=st.integers(1, 30), seed=st.integers(0, 1000))
def test_exactly_the_budget_is_asked_and_told(q: int, budget: int, seed: int) -> None:
    optimizer, record = simulate(q, half_normal, budget, seed=seed)
    assert optimizer.of("ask") == list(range(budget))
    assert optimizer.of("tell") == order_of(record)
    assert sorted(order_of(record)) == list(range(budget))
    assert list(record.suggestion_seconds) == list(range(budget))
    assert all(seconds >= 0 for seconds in record.suggestion_seconds.values())


@given(q=st.integers(1, 6), budget=st.integers(1, 30), seed=st.integers(0, 1000))
def test_no_worker_waits_while_there_is_budget(q: int, budget: int, seed: int) -> None:
    optimizer, _ = simulate(q, pareto, budget, seed=seed)
    running = told = 0
    for event, following in zip(optimizer.events, [*optimizer.events[1:], ("end",)], strict=True):
        running += 1 if event[0] == "ask" else -1
        told += event[0] == "tell"
        assert running <= q
        if following[0] == "tell":  # only when every worker is busy, or nothing is left to ask for, may the loop wait
            assert running == min(q, budget - told)


def test_the_function_receives_x_and_its_value_is_told() -> None:
    optimizer, record = simulate(3, half_normal, 8)
    assert {event[1:] for event in optimizer.events if event[0] == "tell"} == {(i, 10.0 * i + 1) for i in range(8)}
    assert [job.outcome.value for job in record.finished] == [10.0 * number + 1 for number in order_of(record)]


def test_one_worker_asks_and_tells_in_turn() -> None:
    optimizer, record = simulate(1, half_normal, 5)
    assert [event[0] for event in optimizer.events] == ["ask", "tell"] * 5
    assert record.utilization == pytest.approx(1)


def test_constant_times_make_batches() -> None:
    optimizer, record = simulate(4, constant, 10)
    assert [event[0] for event in optimizer.events] == [*["ask"] * 4, *["tell"] * 4] * 2 + ["ask"] * 2 + ["tell"] * 2
    assert [job.finished for job in record.finished] == [1.0] * 4 + [2.0] * 4 + [3.0] * 2
    assert record.utilization == pytest.approx(10 / 12)


def test_free_trials_are_all_told_before_anything_else_is_asked() -> None:
    optimizer, record = simulate(8, half_normal, 20, free=6)
    initial, rest = optimizer.events[:12], optimizer.events[12:]
    assert [event[:2] for event in initial] == [event for i in range(6) for event in (("ask", i), ("tell", i))]
    assert [event[:2] for event in rest[:8]] == [("ask", i) for i in range(6, 14)]
    assert [job.finished == 0 for job in record.finished] == [True] * 6 + [False] * 14


def test_a_run_of_free_trials_only_takes_no_time() -> None:
    _, record = simulate(2, half_normal, 4, free=4)
    assert (record.makespan, record.utilization) == (0, 1)


def test_every_strategy_meets_the_same_times() -> None:
    alone, together = (simulate(q, half_normal, 30)[1] for q in (1, 7))
    seconds = [{job.number: job.seconds for job in record.finished} for record in (alone, together)]
    assert order_of(alone) != order_of(together)
    assert seconds[0] == pytest.approx(seconds[1], rel=1e-12)


def run_function(function: Callable[[float], Any], budget: int) -> tuple[Recorder, Run]:
    optimizer = Recorder()
    return optimizer, run(optimizer, VirtualWorkers(function, 2, constant, seed=0), budget)


def test_failures_and_invalid_values_count_and_the_run_goes_on() -> None:
    def moody(x: float) -> float:
        if x == 10:
            raise RuntimeError("diverged")
        return math.nan if x == 20 else x

    optimizer, record = run_function(moody, 5)
    assert [job.outcome.state for job in record.finished] == ["done", "failed", "invalid", "done", "done"]
    assert optimizer.of("tell") == [0, 3, 4]
    assert [event[1:3] for event in optimizer.events if event[0] == "fail"] == [(1, "failed"), (2, "invalid")]
    reasons = [event[3] for event in optimizer.events if event[0] == "fail"]
    assert reasons[0] == "RuntimeError: diverged"
    assert "nan" in reasons[1]


def test_the_function_is_called_once_a_trial() -> None:
    calls: list[float] = []
    run_function(calls.append, 7)
    assert sorted(calls) == [10.0 * i for i in range(7)]


@dataclass
class Unreliable:
    """Virtual workers that lose every third trial as often as told."""

    workers: VirtualWorkers
    times: int
    lost: list[int] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.workers, name)

    def collect(self, timeout: float | None = None) -> list[Finished]:
        return [self._maybe_lost(job) for job in self.workers.collect(timeout)]

    def _maybe_lost(self, job: Finished) -> Finished:
        if job.number % 3 or self.lost.count(job.number) >= self.times:
            return job
        self.lost.append(job.number)
        return Finished(job.number, Outcome("lost", reason="worker died"), job.started, job.finished)


def unreliable(times: int) -> Unreliable:
    return Unreliable(VirtualWorkers(plus_one, 2, half_normal, seed=2), times)


def test_a_lost_trial_is_run_again_with_the_same_number_and_does_not_count() -> None:
    optimizer, workers = Recorder(), unreliable(times=2)
    record = run(optimizer, workers, budget=6)
    assert optimizer.of("ask") == list(range(6))  # nothing new is asked for in its place
    assert sorted(optimizer.of("tell")) == list(range(6))
    assert sorted(workers.lost) == [0, 0, 3, 3]
    assert [job.outcome.state for job in record.finished].count("lost") == 4
    assert optimizer.of("fail") == []


@pytest.mark.parametrize(("retries", "often"), [(0, "once"), (1, "2 times")])
def test_a_trial_that_is_lost_too_often_fails_and_counts(retries: int, often: str) -> None:
    optimizer, workers = Recorder(), unreliable(times=99)
    run(optimizer, workers, budget=6, options=Options(retries=retries))
    assert sorted(optimizer.of("tell")) == [1, 2, 4, 5]
    assert sorted(optimizer.of("fail")) == [0, 3]
    assert sorted(workers.lost) == sorted([0, 3] * (retries + 1))
    reasons = [event[3] for event in optimizer.events if event[0] == "fail"]
    assert reasons == [f"Its worker died {often}: worker died"] * 2


class Fragile:
    """Workers that all die when one of them has trial 2; else the oldest job ends."""

    can_stop = False

    def __init__(self, capacity: int, deaths: float) -> None:
        self.capacity, self.deaths = capacity, deaths
        self.running: dict[int, float] = {}
        self.beside_the_culprit: list[int] = []  # how many others died, each time
        self.clock = 0.0

    def submit(self, number: int, x: float) -> int:
        self.running[number] = x
        return min(set(range(self.capacity)) - set(range(len(self.running) - 1)))

    def called(self, number: int) -> float:
        return self.clock

    def collect(self, timeout: float | None = None) -> list[Finished]:
        if timeout == 0.0 or not self.running:
            return []
        self.clock += 1.0
        if 2 in self.running and len(self.beside_the_culprit) < self.deaths:
            dead, self.running = list(self.running), {}
            self.beside_the_culprit.append(len(dead) - 1)
            lost = Outcome("lost", reason="broken", shared=len(dead) > 1)
            return [Finished(number, lost, 0.0, self.clock) for number in dead]
        number = next(iter(self.running))
        return [Finished(number, Outcome("done", self.running.pop(number)), 0.0, self.clock)]

    def stop(self, number: int, reason: str = "") -> None: ...

    def close(self) -> None: ...

    def now(self) -> float:
        return self.clock


@pytest.mark.parametrize("retries", [0, 1, 2])
@pytest.mark.parametrize("q", [1, 2, 4])
def test_who_dies_with_the_culprit_is_never_taken_for_it(q: int, retries: int) -> None:
    optimizer, workers = Recorder(), Fragile(q, math.inf)
    run(optimizer, workers, 8, options=Options(retries=retries))
    assert sorted(optimizer.of("tell")) == [0, 1, 3, 4, 5, 6, 7]
    assert [event[1:3] for event in optimizer.events if event[0] == "fail"] == [(2, "failed")]
    assert workers.beside_the_culprit[-1] == 0  # it was seen alone before it counted as failed
    assert len(workers.beside_the_culprit) <= retries + 2


def test_one_death_of_many_costs_nobody_the_company_of_others() -> None:
    optimizer, workers = Recorder(), Fragile(4, 1)
    run(optimizer, workers, 8)
    assert sorted(optimizer.of("tell")) == list(range(8))
    assert workers.beside_the_culprit == [3]


def test_a_job_that_is_lost_while_the_run_is_being_ended_is_left_to_the_next_run() -> None:
    class Doomed(VirtualWorkers):
        def collect(self, timeout: float | None = None) -> list[Finished]:
            return [replace(job, outcome=Outcome("lost", reason="worker died")) for job in super().collect(timeout)]

    def watch(job: Finished) -> None:
        raise StopRun("enough")

    optimizer, options = Recorder(), Options(retries=0)
    record = run(optimizer, Doomed(plus_one, 2, constant, seed=0), budget=6, options=options, watch=watch)
    assert len(record.finished) == 2
    assert [event[0] for event in optimizer.events] == ["ask", "ask"]


def test_a_lost_trial_is_run_again_in_an_exhausted_space() -> None:
    optimizer = Recorder(size=4)
    record = run(optimizer, unreliable(times=2), budget=20)
    assert sorted(optimizer.of("tell")) == [0, 1, 2, 3]
    assert record.message == "no point left"


def test_pending_trials_of_an_earlier_run_come_first() -> None:
    optimizer = Recorder(issued=2, pending=(Trial(0, 0.0), Trial(1, 10.0)))
    run(optimizer, VirtualWorkers(plus_one, 1, constant, seed=0), budget=3)
    assert [event[:2] for event in optimizer.events] == [("tell", 0), ("tell", 1), ("ask", 2), ("tell", 2)]


@dataclass
class Unstoppable:
    """Virtual workers that cannot stop a job."""

    workers: VirtualWorkers
    can_stop: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.workers, name)


def test_a_job_that_is_too_slow_is_stopped_where_that_is_possible() -> None:
    optimizer = Recorder()
    workers = VirtualWorkers(plus_one, 2, measured((1.0, 5.0)), seed=3)
    slow = [number for number in range(8) if workers.seconds(number) == 5.0]
    assert 0 < len(slow) < 8
    record = run(optimizer, workers, budget=8, options=Options(trial_timeout=2.0))
    assert sorted(optimizer.of("fail")) == slow
    assert {event[2:] for event in optimizer.events if event[0] == "fail"} == {
        ("timed_out", "Stopped after 2.0 seconds (trial_timeout=2).")
    }
    assert all(job.seconds == 2.0 for job in record.finished if job.number in slow)


class SlowToStart(VirtualWorkers):
    """Each job waits 6 seconds until its function is called, which then takes 3."""

    def __init__(self) -> None:
        super().__init__(plus_one, 2, lambda u: 9.0, seed=0)

    def called(self, number: int) -> float | None:
        started = super().called(number)
        return None if started is None or self.now() < started + 6.0 else started + 6.0


@pytest.mark.parametrize(("limit", "state"), [(4.0, "done"), (2.0, "timed_out")])
def test_the_limit_counts_from_the_call_of_the_function(limit: float, state: str) -> None:
    record = run(Recorder(), SlowToStart(), budget=4, options=Options(trial_timeout=limit))
    assert [job.outcome.state for job in record.finished] == [state] * 4
    assert {job.outcome.reason for job in record.finished} == (
        {""} if state == "done" else {"Stopped after 2.0 seconds (trial_timeout=2)."}
    )


@pytest.mark.parametrize(("timeout", "busy"), [(5.0, 0.0), (8.0, 2.0)])
def test_the_time_before_the_function_is_called_is_waiting_for_the_pool(timeout: float, busy: float) -> None:
    record = run(Recorder(), SlowToStart(), budget=4, options=Options(timeout=timeout))
    assert record.finished == ()
    assert [(worker.busy, worker.pool) for worker in record.idle] == [(busy, timeout - busy)] * 2


def test_where_it_is_not_its_worker_stays_busy_and_the_late_value_counts_for_nothing() -> None:
    optimizer = Recorder()
    workers = VirtualWorkers(plus_one, 1, lambda u: 5.0, seed=3)
    record = run(optimizer, Unstoppable(workers), budget=2, options=Options(trial_timeout=2.0))
    kinds = [event[:2] for event in optimizer.events]
    assert kinds == [("ask", 0), ("fail", 0), ("ask", 1), ("fail", 1)]  # the run does not wait for 1
    assert [job.finished for job in record.finished] == [5.0]
    assert workers.now() == 7.0


def test_nothing_is_started_that_would_not_finish_and_the_end_is_punctual() -> None:
    optimizer = Recorder(seconds=2.0)
    workers = VirtualWorkers(plus_one, 1, lambda u: 2.0, seed=3)
    record = run(optimizer, workers, budget=99, options=Options(timeout=7.0))
    assert optimizer.of("tell") == [0, 1, 2]
    assert record.message == "The time is up: nothing ends in time."
    assert workers.now() == 6.0  # a fourth would have been cut off at 7
    long = VirtualWorkers(plus_one, 1, lambda u: 20.0, seed=3)
    assert run(Recorder(), long, budget=99, options=Options(timeout=7.0)).finished == ()
    assert long.now() == 7.0


def test_whoever_watches_may_end_the_run() -> None:
    def watch(job: Finished) -> None:
        if job.number == 3:
            raise StopRun("enough")

    optimizer = Recorder()
    record = run(optimizer, VirtualWorkers(plus_one, 2, constant, seed=0), budget=99, watch=watch)
    assert optimizer.of("tell") == [0, 1, 2, 3]
    assert (record.message, record.interrupted) == ("enough", False)


def test_what_ended_together_with_the_last_one_watched_is_told_too() -> None:
    seen: list[int] = []

    def watch(job: Finished) -> None:
        seen.append(job.number)
        if job.number == 2:
            raise StopRun("enough")

    optimizer = Recorder()
    record = run(optimizer, VirtualWorkers(plus_one, 2, constant, seed=0), budget=99, watch=watch)
    assert optimizer.of("tell") == order_of(record) == [0, 1, 2, 3]  # 2 and 3 end at the same instant
    assert seen == [0, 1, 2]


@dataclass
class EndsWhileClosing(Unstoppable):
    """A job that nobody waits for any more ends between the loop's last look and the end of the workers."""

    closed: bool = False

    def close(self) -> None:
        self.closed = True

    def collect(self, timeout: float | None = None) -> list[Finished]:
        return self.workers.collect(math.inf if self.closed else timeout)


def test_a_value_that_comes_while_the_run_is_being_stopped_is_told() -> None:
    """The journal holds it, so whoever reads the study later finds it: the result must hold it as well."""
    optimizer = Recorder()
    workers = EndsWhileClosing(VirtualWorkers(plus_one, 1, lambda u: 5.0, seed=3))
    record = run(optimizer, workers, budget=1, options=Options(timeout=2.0))
    assert [event[:2] for event in optimizer.events] == [("ask", 0), ("tell", 0)]
    assert workers.closed
    assert record.message == "The time is up."


def test_a_job_that_ends_at_the_very_moment_when_it_is_given_up_keeps_its_value() -> None:
    class JustInTime(Unstoppable):
        def give_up(self, number: int) -> bool:
            return False

    optimizer = Recorder()
    workers = JustInTime(VirtualWorkers(plus_one, 1, lambda u: 5.0, seed=3))
    run(optimizer, workers, budget=1, options=Options(trial_timeout=2.0))
    assert [event[:2] for event in optimizer.events] == [("ask", 0), ("tell", 0)]


def test_a_run_that_may_not_ask_any_more_ends_with_what_is_running() -> None:
    optimizer = Recorder()
    record = run(
        optimizer,
        VirtualWorkers(plus_one, 3, half_normal, seed=0),
        budget=99,
        more=lambda: len(optimizer.of("tell")) < 3,
    )
    assert sorted(optimizer.of("tell")) == list(range(5))  # two had been handed out before the third result was told
    assert (record.message, record.interrupted) == ("Stopped by Ctrl-C.", True)


@dataclass
class Written(InMemory):
    """The log of a run, to be read."""

    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def append(self, event: Event) -> Event:
        self.events.append(super().append(event))
        return self.events[-1]


def test_every_point_is_written_down_before_it_runs_with_all_results_known_then() -> None:
    log, optimizer = Written(), Optimizer([(0.0, 1.0)], strategy="random", seed=0)

    class Looking(VirtualWorkers):
        def submit(self, number: int, x: Any) -> int:
            assert (log.events[-1].kind, log.events[-1].number) == ("asked", number)
            return super().submit(number, x)

    run(Study(optimizer, log, seen=0), Looking(lambda x: 1.0, 1, constant, seed=0), budget=3)
    assert [event.kind for event in log.events] == ["asked", "told"] * 3
    assert [event.seen for event in log.events[::2]] == [0, 2, 4]


def test_a_decision_knows_every_event_up_to_the_last_one_it_claims_to_know() -> None:
    """Trial 0 is given up just after the value of trial 1 was written down, which nobody has collected yet."""
    optimizer = Optimizer([(0.0, 1.0)], strategy="random", seed=0)

    class Unlucky(VirtualWorkers):
        can_stop, news = False, []

        def collect(self, timeout: float | None = None) -> list[Finished]:
            news, self.news = self.news, []
            for job in news:
                self._running.pop(job.number)
            return news or super().collect(timeout)

    class Crowded(Written):
        def append(self, event: Event) -> Event:
            if isinstance(event, Ended) and len(self.events) == 2:
                first = super().append(Ended(1 - event.number, Outcome("done", 7.0)))
                workers.news = [Finished(first.number, first.outcome, 0.0, 2.0, event=first)]
            if isinstance(event, Asked) and event.number == 2:
                assert [trial.state for trial in optimizer.trials] == ["timed_out", "done"]
            return super().append(event)

    workers, log = Unlucky(lambda x: 1.0, 2, lambda u: 5.0, seed=0), Crowded()
    run(Study(optimizer, log), workers, budget=3, options=Options(trial_timeout=2.0))
    assert [event.kind for event in log.events[:5]] == ["asked", "asked", "told", "failed", "asked"]
    assert [event.seen for event in log.events if isinstance(event, Asked)][:3] == [0, 0, 4]


def test_a_run_that_spends_its_budget_after_all_says_so() -> None:
    """After 6 s two long jobs make another look hopeless, but at 6.01 s a short one shows that it is not."""

    class Planned(VirtualWorkers):
        def seconds(self, number: int) -> float:
            return (6.0, 5.5, 0.51, 0.5, 0.5)[number]

    class Learning(Recorder):
        def end(self, number: int, outcome: Outcome) -> None:
            super().end(number, outcome)
            self.seconds = {0: 5.75, 2: 5.5}.get(number, self.seconds)  # the median

    optimizer = Learning()
    record = run(optimizer, Planned(plus_one, 2, constant, seed=0), budget=5, options=Options(timeout=11.6))
    assert optimizer.of("tell") == [1, 0, 2, 3, 4]
    assert record.finished[2].finished < record.finished[3].started + 1e-9
    assert record.message == "The budget is spent."


def test_the_time_of_every_worker_is_accounted_for() -> None:
    _, record = simulate(3, constant, 7)
    assert [(worker.busy, worker.nothing) for worker in record.idle] == [(3.0, 0.0), (2.0, 1.0), (2.0, 1.0)]
    assert sum(worker.total for worker in record.idle) == pytest.approx(3 * record.makespan)
    assert record.idle_shares == {"suggestion": 0.0, "pool": 0.0, "nothing": pytest.approx(2 / 9)}


@pytest.mark.parametrize("q", [1, 3, 8])
def test_an_exhausted_space_ends_the_run_with_all_results_in(q: int) -> None:
    optimizer, record = simulate(q, half_normal, 20, size=5)
    assert sorted(optimizer.of("tell")) == list(range(5))
    assert len(record.finished) == 5


def test_timed_out_jobs_are_failures_of_their_own_kind() -> None:
    class Impatient(VirtualWorkers):
        def collect(self, timeout: float | None = None) -> list[Finished]:
            if timeout is None:
                self.stop(1)
            return super().collect(timeout)

    optimizer = Recorder()
    record = run(optimizer, Impatient(plus_one, 2, constant, seed=0), budget=3)
    assert [event[1:3] for event in optimizer.events if event[0] == "fail"] == [(1, "timed_out")]
    assert order_of(record) == [1, 0, 2]


def test_results_that_arrive_between_two_suggestions_are_told_at_once() -> None:
    """A job may end while the optimizer thinks: its value belongs into the very next suggestion."""
    workers = VirtualWorkers(plus_one, 3, constant, seed=0)

    class Slow(Recorder):
        def ask(self, *limit: Any) -> Trial:
            trial = super().ask()
            if trial.number > 0:
                workers._clock += 1  # thinking takes as long as a job
            return trial

    optimizer = Slow()
    run(optimizer, workers, budget=3)
    assert [event[:2] for event in optimizer.events[:4]] == [("ask", 0), ("ask", 1), ("tell", 0), ("ask", 2)]


def test_a_run_starts_when_the_clock_says_so() -> None:
    workers = VirtualWorkers(plus_one, 2, constant, seed=0)
    workers.collect(100.0)
    record = run(Recorder(), workers, budget=4)
    assert (record.started, record.makespan, record.utilization) == (100, 2, 1)


def test_the_papers_workers_are_used_as_theory_says() -> None:
    """With half-normal times of mean 1 the makespan of many trials approaches budget / q."""
    _, record = simulate(8, half_normal, 4000)
    spread = math.sqrt((math.pi / 2 - 1) / 4000)  # standard error of the mean time
    assert record.makespan == pytest.approx(500, rel=4 * spread + 8 / 500)
    assert np.mean([job.seconds for job in record.finished]) == pytest.approx(1, abs=4 * spread)


def test_a_free_worker_asks_again_when_there_was_no_point() -> None:
    """Others may leave some: the loop rests, meanwhile takes in what ends, and ends only when it is told to."""
    rests: list[float] = []
    workers = VirtualWorkers(plus_one, 2, lambda u: 0.4, seed=1)

    def rest(seconds: float) -> None:
        rests.append(seconds)
        workers._clock += seconds

    answers = iter([True, False, False, True, False])

    class Shared(Recorder):
        def ask(self, *limit: Any) -> Trial | None:
            try:
                return super().ask() if next(answers) else None
            except StopIteration:
                raise StopRun("All is done.") from None

        def wait(self, seconds: float) -> None:
            rest(seconds)

    optimizer = Shared()
    record = run(optimizer, workers, 100)
    assert record.message == "All is done."
    assert optimizer.of("tell") == [0, 1]
    # A rest of one second after each of three empty answers; while a job is running, the workers are waited for.
    assert rests == pytest.approx([0.6, 1.0, 0.6])
