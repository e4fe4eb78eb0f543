"""Idle seconds, split by their cause."""

from __future__ import annotations

import pytest

from aegisbo.runners.idle import Idle, JobTimes, idle_of


def test_who_is_free_waits_for_a_suggestion_until_the_last_point_is_handed_out_and_then_has_nothing_to_do() -> None:
    jobs = [JobTimes(0, 11.0, 14.0, 2.5), JobTimes(0, 15.0, 18.0, 3.0), JobTimes(1, 12.0, 19.0, 6.0)]
    first, second, third = idle_of(jobs, [(10.0, 3)], ended=20.0)
    assert first == Idle(busy=5.5, suggestion=2.0, pool=0.5, nothing=2.0)
    assert second == Idle(busy=6.0, suggestion=2.0, pool=1.0, nothing=1.0)
    assert third == Idle(busy=0.0, suggestion=5.0, pool=0.0, nothing=5.0)
    assert [worker.total for worker in (first, second, third)] == [pytest.approx(10.0)] * 3


def test_the_order_in_which_jobs_are_reported_does_not_matter() -> None:
    jobs = [JobTimes(0, 3.0, 4.0, 1.0), JobTimes(0, 1.0, 2.0, 1.0)]
    assert idle_of(jobs, [(0.0, 1)], 4.0) == (Idle(2.0, 2.0, 0.0, 0.0),)
