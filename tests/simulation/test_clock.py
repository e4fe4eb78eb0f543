"""The virtual clock: job times depend on the trial alone, and pass in the right order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegisbo.outcome import Report
from aegisbo.runners.protocol import Finished, Heard, News
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import constant, half_normal


def double(x: float) -> float:
    return 2 * x


def workers_taking(*seconds: float, count: int) -> VirtualWorkers:
    """Workers for which trial i takes seconds[i]."""

    class Scripted(VirtualWorkers):
        def seconds(self, number: int) -> float:
            return seconds[number]

    return Scripted(double, count, constant, seed=0)


def test_times_depend_on_the_trial_and_the_seed_alone() -> None:
    first, same, other = (VirtualWorkers(double, q, half_normal, seed=s) for q, s in ((1, 3), (9, 3), (1, 4)))
    forward = [first.seconds(number) for number in range(50)]
    backward = [same.seconds(number) for number in reversed(range(50))]
    assert forward == backward[::-1]
    assert not set(forward) & {other.seconds(number) for number in range(50)}
    assert len(set(forward)) == 50


def test_jobs_come_back_when_they_end() -> None:
    workers = workers_taking(5.0, 1.0, 3.0, count=3)
    for number in range(3):
        workers.submit(number, float(number))
    for number, end in ((1, 1.0), (2, 3.0), (0, 5.0)):
        (job,) = workers.collect()
        assert (job.number, job.started, job.finished, job.seconds) == (number, 0, end, end)
        assert (job.outcome.state, job.outcome.value, workers.now()) == ("done", 2.0 * number, end)


def test_ties_come_back_together_in_order_of_number() -> None:
    workers = workers_taking(2.0, 1.0, 2.0, 2.0, count=4)
    for number in (3, 1, 2, 0):
        workers.submit(number, 0.0)
    assert [[job.number for job in workers.collect()] for _ in range(3)] == [[1], [0, 2, 3], []]


def test_free_trials_take_no_time() -> None:
    workers = VirtualWorkers(double, 5, lambda u: 2.0, seed=0, free=3)
    for number in (4, 2, 0, 1, 3):
        workers.submit(number, 0.0)
    assert [job.number for job in workers.collect()] == [0, 1, 2]
    assert workers.now() == 0
    assert [job.number for job in workers.collect()] == [3, 4]
    assert workers.now() == 2


def test_collect_waits_no_longer_than_the_timeout() -> None:
    workers = workers_taking(3.0, count=1)
    workers.submit(0, 1.0)
    assert workers.collect(0.0) == []
    assert workers.now() == 0
    assert workers.collect(1.25) == []
    assert workers.now() == 1.25
    (job,) = workers.collect(1.75)
    assert job.finished == workers.now() == 3


def test_collect_returns_at_once_if_nothing_is_running() -> None:
    workers = workers_taking(count=1)
    assert workers.collect() == []
    assert workers.now() == 0


def test_a_stopped_job_frees_its_worker_at_once() -> None:
    calls: list[float] = []
    workers = VirtualWorkers(calls.append, 1, lambda u: 10.0, seed=0)
    workers.submit(0, 1.0)
    workers.collect(4.0)
    workers.stop(0, "Enough.")
    (job,) = workers.collect()
    assert (job.outcome.state, job.finished, workers.now()) == ("timed_out", 4, 4)
    assert (job.outcome.reason, job.outcome.seconds) == ("Enough.", 4)
    assert calls == []
    workers.submit(1, 1.0)


def test_a_job_that_has_ended_cannot_be_stopped() -> None:
    workers = VirtualWorkers(double, 1, constant, seed=0, free=1)
    workers.submit(0, 1.0)
    workers.stop(0)
    workers.stop(99)
    assert [job.outcome.state for job in workers.collect()] == ["done"]


def test_closing_abandons_what_is_running() -> None:
    calls: list[float] = []
    workers = VirtualWorkers(calls.append, 1, constant, seed=0)
    workers.submit(0, 1.0)
    workers.close()
    assert workers.collect() == []
    assert calls == []


def outcome_of(function: Any) -> Any:
    workers = VirtualWorkers(function, 1, constant, seed=0)
    workers.submit(0, 1.0)
    (job,) = workers.collect()
    assert job.seconds == 1
    return job.outcome


def test_an_exception_is_a_failed_outcome_with_its_text() -> None:
    def diverge(x: float) -> float:
        raise ArithmeticError("step too long")

    outcome = outcome_of(diverge)
    assert (outcome.state, outcome.reason) == ("failed", "ArithmeticError: step too long")
    assert math.isnan(outcome.value)


@pytest.mark.parametrize(
    "answer", [math.nan, -math.inf, np.float32("inf"), 10**400, None, "1.5", 1j, [1.0], np.zeros(2), {}, np.array("a")]
)
def test_what_is_no_finite_number_is_invalid(answer: Any) -> None:
    outcome = outcome_of(lambda x: answer)
    assert outcome.state == "invalid"
    assert "must return" in outcome.reason
    assert math.isnan(outcome.value)


@pytest.mark.parametrize("answer", [2, 2.0, np.float32(2), np.int64(2), Fraction(2), np.array(2.0), np.array([[2]])])
def test_every_kind_of_real_number_is_a_value(answer: Any) -> None:
    outcome = outcome_of(lambda x: answer)
    assert (outcome.state, outcome.value, type(outcome.value)) == ("done", 2, float)


@given(seconds=st.lists(st.integers(0, 6), min_size=1, max_size=30), count=st.integers(1, 5))
def test_jobs_come_back_as_in_a_walk_through_every_second(seconds: list[int], count: int) -> None:
    """Submit whenever a worker is free; a second simulation counts down the remaining seconds one by one."""
    workers = workers_taking(*seconds, count=count)
    queue, batches, running = list(range(len(seconds))), [], 0
    while queue or running:
        while queue and running < count:
            workers.submit(queue.pop(0), 0.0)
            running += 1
        batch = workers.collect()
        running -= len(batch)
        batches.append((workers.now(), [job.number for job in batch]))

    queue, walked, left, clock = list(range(len(seconds))), [], {}, 0
    while queue or left:
        while queue and len(left) < count:
            number = queue.pop(0)
            left[number] = seconds[number]
        ended = sorted(number for number, remaining in left.items() if remaining == 0)
        if ended:
            walked.append((clock, ended))
            left = {number: remaining for number, remaining in left.items() if remaining > 0}
        else:
            left = {number: remaining - 1 for number, remaining in left.items()}
            clock += 1
    assert batches == walked


def talking(*seconds: float, count: int = 2) -> VirtualWorkers:
    """Workers whose trials i take seconds[i], and report their number after each second."""

    class Talking(VirtualWorkers):
        def seconds(self, number: int) -> float:
            return seconds[number]

        def reports(self, number: int, x: Any) -> list[Report]:
            return [Report(k, x, k) for k in np.arange(1.0, 9.0)]

    return Talking(double, count, constant, seed=0)


def told(news: Sequence[News]) -> list[tuple[int, float | str]]:
    return [(each.number, each.report.step if isinstance(each, Heard) else each.outcome.state) for each in news]


def test_reports_come_on_the_way_and_before_the_end() -> None:
    workers = talking(2.5, 2.0)
    workers.submit(0, 0.0)
    workers.submit(1, 1.0)
    steps = [(workers.now(), told(workers.collect())) for _ in range(4)]
    assert [said for _, said in steps] == [[(0, 1), (1, 1)], [(0, 2), (1, 2), (1, "done")], [(0, "done")], []]
    assert workers.now() == 2.5


def test_what_was_missed_while_the_driver_was_busy_comes_in_order() -> None:
    workers = talking(2.5, 1.5)
    workers.submit(0, 0.0)
    workers.submit(1, 1.0)
    workers.spend(2.0)
    assert told(workers.collect()) == [(0, 1), (1, 1), (1, "done"), (0, 2)]


def test_a_job_ends_at_the_report_that_is_answered_or_at_its_next_one() -> None:
    workers = talking(8.0, 8.0)
    workers.submit(0, 0.0)
    workers.submit(1, 1.0)
    workers.collect()
    workers.tell(0, "It falls behind.")
    workers.tell(1)
    (job,) = workers.collect()
    assert isinstance(job, Finished)
    assert (job.outcome.state, job.outcome.reason, job.outcome.seconds) == ("stopped", "It falls behind.", 1.0)
    workers.spend(0.5)
    workers.tell(1, "Others are better.")
    (job,) = workers.collect()
    assert isinstance(job, Finished)
    assert (job.outcome.state, job.outcome.seconds) == ("stopped", 2.0)
    assert workers.collect() == []


def test_a_job_that_says_nothing_hears_nothing() -> None:
    workers = workers_taking(2.0, count=1)
    workers.submit(0, 1.0)
    workers.tell(0, "It falls behind.")
    (job,) = workers.collect()
    assert (job.outcome.state, job.finished) == ("done", 2.0)
