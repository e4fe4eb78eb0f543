from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from review.made_studies import Script, make_study, spans

from aegisbo.review.health import health
from aegisbo.review.record import Record
from aegisbo.review.timeline import timeline
from aegisbo.study.reading import read_events


def two_workers() -> Script:
    script = Script()
    script.opened(0.0)
    script.asked(0, 1.0)
    script.asked(1, 1.5)
    script.told(0, 2.0, 4.0, worker=0)
    script.asked(2, 4.5)
    script.failed(1, 2.0, 6.0, worker=1)
    script.told(2, 5.0, 8.0, worker=0)
    script.add("closed", None, 9.0, message="Done.", idle=[{"busy": 5.0}, {"busy": 4.0}])
    return script


def test_every_second_of_every_worker_is_accounted_for() -> None:
    time = timeline(two_workers().record())
    assert [(bar.number, bar.state, bar.worker) for bar in time.bars] == [
        (0, "done", 0),
        (1, "failed", 1),
        (2, "done", 0),
    ]
    for worker in (0, 1):
        mine = [
            *(bar for bar in time.bars if bar.worker == worker),
            *(gap for gap in time.gaps if gap.worker == worker),
        ]
        ordered = sorted(spans(mine))
        assert ordered[0][0] == 0.0
        assert ordered[-1][1] == 9.0
        assert all(before[1] == after[0] for before, after in pairwise(ordered))
        assert time.workers[worker].total == pytest.approx(9.0)


def test_a_worker_that_evaluated_nothing_waited_all_the_time() -> None:
    script = Script()
    script.add("opened", None, 0.0, pid=1, host="here", call={"workers": 2})
    script.asked(0, 1.0)
    script.told(0, 1.0, 4.0, worker=0)
    script.asked(1, 6.0)
    script.told(1, 6.0, 8.0, worker=0)
    script.add("closed", None, 10.0, message="Done.", idle=[{"busy": 5.0}, {"busy": 0.0}])
    time = timeline(script.record())
    assert [(worker.busy, round(worker.total, 6)) for worker in time.workers] == [(5.0, 10.0), (0.0, 10.0)]
    assert (time.workers[1].suggestion, time.workers[1].nothing) == pytest.approx((6.0, 4.0))
    assert time.utilization == pytest.approx(5.0 / 20.0)
    (finding,) = [each for each in health(script.record(), {}) if each.topic == "workers"]
    assert finding.text.startswith("The 2 workers spent 25% of the time evaluating")


def test_workers_of_a_driver_that_evaluated_nothing_at_all_are_not_counted() -> None:
    script = Script()
    script.add("opened", None, 0.0, pid=1, host="here", call={"workers": 2})
    assert timeline(script.record()).workers == ()


def test_gaps_have_their_cause() -> None:
    time = timeline(two_workers().record())
    found = [(gap.worker, gap.cause, span) for gap, span in zip(time.gaps, spans(time.gaps), strict=True)]
    assert found == [
        (0, "suggestion", (0.0, 1.0)),  # until its point was chosen
        (0, "pool", (1.0, 2.0)),  # until it was being evaluated
        (0, "suggestion", (4.0, 4.5)),
        (0, "pool", (4.5, 5.0)),
        (0, "nothing", (8.0, 9.0)),
        (1, "suggestion", (0.0, 1.5)),
        (1, "pool", (1.5, 2.0)),
        (1, "nothing", (6.0, 9.0)),  # after the last point was handed out
    ]
    assert time.utilization == pytest.approx((5.0 + 4.0) / 18.0)
    assert time.shares()["suggestion"] == pytest.approx(3.0 / 18.0)


def test_what_runs_and_what_was_cut_short() -> None:
    script = Script()
    script.opened(0.0)
    script.asked(0, 1.0)
    script.asked(1, 1.0)
    script.told(0, 1.0, 3.0, worker=1)
    script.asked(2, 3.0)  # its driver is killed after this
    script.opened(100.0)
    script.told(1, 101.0, 102.0, worker=0)
    bars = {(bar.number, bar.state): bar for bar in timeline(script.record(now=105.0)).bars}
    assert set(bars) == {(0, "done"), (1, "interrupted"), (1, "done"), (2, "running")}
    assert spans([bars[1, "interrupted"], bars[2, "running"]]) == [(1.0, 3.0), (100.0, 105.0)]
    # Where no record says which worker it was, it is one that was free.
    assert bars[1, "interrupted"].worker == 0
    assert bars[2, "running"].worker == 1
    at_rest = {bar.state for bar in timeline(script.record()).bars}
    assert "running" not in at_rest


def test_time_between_drivers_does_not_count() -> None:
    script = Script()
    script.opened(0.0)
    script.asked(0, 1.0)
    script.told(0, 1.0, 3.0, worker=0)
    script.opened(100.0)
    script.asked(1, 101.0)
    script.told(1, 101.0, 105.0, worker=0)
    record = script.record()
    assert [record.elapsed(1000.0 + at) for at in (0.0, 3.0, 50.0, 100.0, 105.0)] == [0.0, 3.0, 3.0, 3.0, 8.0]


def test_a_lost_evaluation_and_the_failure_after_it_are_one() -> None:
    script = Script()
    script.opened(0.0)
    script.asked(0, 1.0)
    script.failed(0, 1.0, 2.0, worker=0, state="lost")
    script.failed(0, 2.5, 3.5, worker=0, state="lost")
    script.failed(0, 2.5, 3.5, worker=0, reason="Its worker died 2 times")
    assert [bar.state for bar in timeline(script.record()).bars] == ["lost", "failed"]


def test_a_retried_trial_has_two_evaluations() -> None:
    script = Script()
    script.opened(0.0)
    script.asked(0, 1.0)
    script.failed(0, 1.0, 2.0, worker=0)
    script.add("retried", None, 5.0, numbers=[0])
    script.opened(6.0)
    script.told(0, 7.0, 8.0, worker=0)
    assert [bar.state for bar in timeline(script.record()).bars] == ["failed", "done"]


def test_workers_are_busy_as_long_as_their_evaluations_took(tmp_path: Path) -> None:
    record = Record.of_study(make_study(tmp_path / "run.db", 12))
    busy: Counter[int] = Counter()
    for event in read_events(tmp_path / "run.db"):
        if event.kind in ("told", "failed"):
            busy[event.body["worker"]] += event.body["seconds"]
    time = timeline(record)
    assert {worker.worker: worker.busy for worker in time.workers if worker.busy} == pytest.approx(dict(busy), abs=1e-5)
    assert len(time.bars) == 12


def test_without_a_study_nobody_knows_why_a_worker_was_idle() -> None:
    time = timeline(Record.of_optimizer(two_workers().record().optimizer))
    assert [(gap.worker, gap.cause, *spans([gap])) for gap in time.gaps] == [
        (0, "idle", (4.0, 5.0)),
        (1, "idle", (6.0, 8.0)),
    ]
    assert time.shares() == pytest.approx({"idle": 3.0 / 12.0})
    assert [worker.total for worker in time.workers] == pytest.approx([6.0, 6.0])


def test_without_times_there_is_nothing_to_show() -> None:
    record = Script().record()
    assert timeline(record).bars == ()
    assert Record.of_optimizer(record.optimizer).sittings == ()
