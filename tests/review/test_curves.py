"""What is said of reports: numbers of a study that is written by hand."""

from __future__ import annotations

import json
from itertools import pairwise
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review.made_studies import Script, script_of_curves
from scipy.stats import spearmanr

from aegisbo import Optimizer, Stopped
from aegisbo.outcome import Outcome
from aegisbo.review.curves import ALL, FEWEST, curve_facts, doubtful_stops, foretelling, spared, thinned
from aegisbo.review.html import report
from aegisbo.review.payload import facts_of
from aegisbo.review.record import Record
from aegisbo.review.timeline import timeline
from aegisbo.stopping.expected_end import ExpectedEnd


@pytest.fixture(scope="module")
def record() -> Record:
    return script_of_curves().record(now=130.0)


@given(st.lists(st.integers(), min_size=1), st.integers(1, 20))
def test_thinning_keeps_the_first_and_the_last(items: list[int], most: int) -> None:
    kept = thinned(list(enumerate(items)), most)
    assert len(kept) <= most + 1
    places = [place for place, _ in kept]
    assert places == sorted(set(places))
    assert (places[0], places[-1]) == (0, len(items) - 1)
    gaps = {b - a for a, b in pairwise(places[:-1])}
    assert len(gaps) <= 1  # even, but for the last
    assert kept == list(enumerate(items)) or len(kept) > most / 2


@given(st.integers(1, 300), st.integers(1, 20))
def test_one_more_changes_little(count: int, most: int) -> None:
    before, after = thinned(range(count), most), thinned(range(count + 1), most)
    assert set(after[:-1]) <= set(before) or set(before[:-1]) <= set(after)


def test_curves_are_what_was_reported(record: Record) -> None:
    facts = curve_facts(record)
    assert facts is not None
    assert facts["number"] == list(range(12))
    assert facts["reports"] == [9, 9, 9, 9, 9, 9, 3, 3, 1, 5, 2, 9]
    assert facts["steps"][7] == [1.0, 2.0, 3.0]
    assert facts["values"][7] == pytest.approx([2.0, 1.9, 1.8])  # 2.1 less 0.1 a step
    assert facts["last_step"] == 9.0
    json.dumps(facts_of(record, {}), allow_nan=False)


def test_the_time_that_was_spared_is_that_of_the_median_full_evaluation() -> None:
    script = Script(stop_early=True, steps=9.0)
    script.opened(0.0)
    for number, seconds in enumerate((4.0, 10.0, 30.0)):
        script.asked(number, 0.0)
        script.told(number, 0.0, seconds, number)
    for number, seconds in ((3, 1.0), (4, 25.0)):
        script.asked(number, 40.0)
        script.stopped(number, 40.0, 40.0 + seconds, 0)
    found = spared(script.record())
    assert found is not None
    assert (found.stopped, found.took, found.full) == (2, 26.0, median([4.0, 10.0, 30.0]))
    assert found.seconds == 10.0 - 1.0  # the other took longer than that
    assert spared(Script().record()) is None


def test_doubtful_stops_are_those_that_might_have_been_the_best() -> None:
    record = script_of_curves().record(now=130.0)
    chances = {6: 0.3, 7: 0.005, 8: 0.6, 9: 0.9}  # of which 9 is running
    vars(record)["expected_ends"] = {number: ExpectedEnd(1.0, 0.1, chance) for number, chance in chances.items()}
    assert [trial.number for trial in doubtful_stops(record)] == [8, 6]
    facts = curve_facts(record)
    assert facts is not None
    assert facts["doubtful"] == [8, 6]
    assert facts["ends"]["7"] == [1.0, 0.1, 0.005]


def test_what_a_decision_to_stop_knew() -> None:
    script = Script(stop_early=True, steps=9.0)
    script.opened(0.0)
    for number in range(4):
        script.asked(number, 0.0)
    script.reported(0, 1.0, 1, 0.5)
    script.told(0, 0.0, 2.0, 0)
    script.reported(1, 2.0, 1, 0.7)
    seen = script.reported(3, 2.5, 1, 0.9)
    script.reported(2, 3.0, 1, 0.4)  # this and what follows had not been applied
    script.reported(3, 3.5, 2, 0.8)
    script.told(1, 0.0, 4.0, 1)
    script.stopped(3, 0.0, 5.0, 3, seen=seen)
    facts = curve_facts(script.record())
    assert facts is not None
    assert facts["stops"] == {"3": {"known": 1, "others": 2, "step": 1.0, "value": 0.9, "seconds": None}}


def test_how_well_reports_foretell_the_end(record: Record) -> None:
    found = foretelling(record)
    assert found is not None
    done = [trial for trial in record.trials if trial.state == "done"]
    assert (found.count, found.step) == (len(done), 3.0)  # the median of 3, 3 and 1
    there = [trial.reports[2].value for trial in done]
    assert found.correlation == pytest.approx(spearmanr(there, [trial.value for trial in done])[0])
    assert foretelling(Script().record()) is None


def test_without_reports_the_data_of_a_page_say_nothing_of_them() -> None:
    script = Script()
    script.opened(0.0)
    script.asked(0, 0.0)
    script.told(0, 0.0, 1.0, 0)
    assert "curves" not in facts_of(script.record(), {})


def test_many_reports_make_no_large_page() -> None:
    script = Script(stop_early=True, steps=40.0)
    script.opened(0.0)
    for number in range(600):
        script.asked(number, float(number))
        for step in range(1, 41):
            script.reported(number, number + step / 41, step, 1.0 / step + number)
        script.told(number, float(number), number + 1.0, 0, value=float(number))
    facts = curve_facts(script.record())
    assert facts is not None
    points = sum(map(len, facts["steps"]))
    assert ALL / 4 <= points <= ALL + len(facts["steps"])
    assert all(len(steps) > FEWEST and (steps[0], steps[-1]) == (1, 40) for steps in facts["steps"])
    assert [value[-1] for value in facts["values"]] == [1.0 / 40 + number for number in range(600)]


def test_a_run_without_a_study_has_bars_and_curves_of_stopped_evaluations() -> None:
    optimizer = Optimizer({"x": (0.0, 1.0)}, seed=0, stop_early="ranks", steps=9, strategy="random")
    for number in range(6):
        trial = optimizer.ask()
        try:
            for step in range(1, 10):
                optimizer.report(trial, float(number), step)
        except Stopped:
            continue
        optimizer.tell(trial, float(number))
    record = Record.of_optimizer(optimizer)
    stopped = [trial.number for trial in record.trials if trial.state == "stopped"]
    assert stopped
    facts = curve_facts(record)
    assert facts is not None
    assert facts["stops"] == {}  # nobody wrote down what was known
    assert facts["number"] == list(range(6))
    assert "curves" in report(record)


def test_evaluations_that_end_at_that_step_do_not_count() -> None:
    script = Script(steps=9.0)
    script.opened(0.0)
    for number, last in enumerate((9, 9, 9, 9, 3, 2)):
        script.asked(number, float(number))
        for step in range(1, last + 1):
            script.reported(number, number + step / 10, step, float(number * step))
        script.told(number, float(number), number + 1.0, 0, value=float(number))
    found = foretelling(script.record())
    assert found is not None
    assert (found.count, found.step, found.correlation) == (4, 3.0, pytest.approx(1.0))


def test_stopped_evaluations_of_a_run_without_a_study_have_bars() -> None:
    optimizer = Optimizer({"x": (0.0, 1.0)}, seed=0, strategy="random")
    optimizer.end(optimizer.ask(), Outcome("stopped", reason="It diverges.", began=1000.0, seconds=3.0, worker=0))
    (bar,) = timeline(Record.of_optimizer(optimizer)).bars
    assert (bar.state, bar.seconds) == ("stopped", 3.0)


def test_a_stopped_evaluation_has_a_bar(record: Record) -> None:
    bars = {bar.number: bar for bar in timeline(record).bars}
    assert [bars[number].state for number in (5, 6, 9)] == ["done", "stopped", "running"]
    assert bars[6].seconds == pytest.approx(3.0)


def test_a_stopped_evaluation_that_goes_on_is_running_again() -> None:
    script = script_of_curves()
    script.add("resumed", 7, 130.0, seen=len(script.events))
    record = script.record(now=131.0)
    assert record.trials[7].state == "pending"
    assert sorted(record.stops) == [6, 8]
    assert [bar.state for bar in timeline(record).bars if bar.number == 7] == ["stopped", "running"]
    found = spared(record)
    assert found is not None
    assert found.stopped == 2
