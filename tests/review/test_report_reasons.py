from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from review.made_studies import Script, make_study

from aegisbo.review.convergence import convergence
from aegisbo.review.failure_groups import failure_groups
from aegisbo.review.reasons import CheckedPrediction, calibration, predictions, yields
from aegisbo.review.record import Record
from aegisbo.study.reading import read_events


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study(tmp_path_factory.mktemp("reasons") / "run.db")


def test_the_best_so_far_is_the_best_of_all_that_had_ended(study: Path) -> None:
    ended = [event for event in read_events(study) if event.kind in ("told", "failed")]
    values: list[float] = []
    for event, step in zip(ended, convergence(Record.of_study(study)), strict=True):
        before = min(values, default=None)
        values += [event.body["value"]] if event.kind == "told" else []
        assert (step.number, step.best) == (event.number, min(values, default=None))
        assert step.improved == (min(values, default=None) != before)


@pytest.mark.parametrize(("maximize", "best"), [(False, [3.0, 1.0, 1.0]), (True, [3.0, 3.0, 5.0])])
def test_better_means_what_the_user_wants(maximize: bool, best: list[float]) -> None:
    script = Script(maximize=maximize)
    script.opened(0.0)
    for number, value in enumerate([3.0, 1.0, 5.0]):
        script.asked(number, number)
        script.told(number, number, number + 1.0, worker=0, value=value)
    assert [step.best for step in convergence(script.record())] == best
    assert [step.elapsed for step in convergence(script.record())] == [1.0, 2.0, 3.0]


def test_a_choice_knew_what_its_event_names() -> None:
    script = Script()
    script.opened(0.0)
    script.asked(0, 1.0)
    script.asked(1, 1.0)
    known = script.told(0, 1.0, 2.0, worker=0)
    script.told(1, 1.0, 3.0, worker=1)  # comes in while the next point is being chosen
    script.asked(2, 3.5, seen=known)
    script.asked(3, 3.6)
    found = {number: (each.known, each.behind, each.pending) for number, each in script.record().decisions.items()}
    assert found == {0: (0, 0, ()), 1: (0, 0, (0,)), 2: (1, 1, (1,)), 3: (2, 0, (2,))}


def test_forgotten_and_retried_trials_are_pending_or_not() -> None:
    script = Script()
    script.opened(0.0)
    script.asked(0, 1.0)
    script.asked(1, 1.0)
    script.failed(0, 1.0, 2.0, worker=0)
    script.add("retried", None, 3.0, numbers=[0])
    script.add("forgotten", None, 3.0, numbers=[1])
    script.opened(4.0)
    script.asked(2, 5.0)
    assert script.record().decisions[2].pending == (0,)


def test_gains_add_up_to_the_way_that_the_best_value_came(study: Path) -> None:
    record = Record.of_study(study)
    found = yields(record)
    steps = convergence(record)
    first = next(step.best for step in steps if step.best is not None)
    assert sum(each.gain for each in found) == pytest.approx(first - steps[-1].best)
    assert sum(each.chosen for each in found) == len(record.trials)
    assert sum(each.failed for each in found) == sum(record.result.failures.values()) > 0
    assert sum(each.improved for each in found) == sum(step.improved for step in steps)


def test_predictions_are_those_of_the_notes(study: Path) -> None:
    record = Record.of_study(study)
    noted = {t.number: (t.note["mean"], t.value) for t in record.trials if t.state == "done" and "mean" in t.note}
    assert {each.number: (each.mean, each.value) for each in predictions(record)} == noted


@pytest.mark.parametrize(("width", "within"), [(1.0, 0.95), (0.5, 0.674)])
def test_calibration_of_a_normal_law(width: float, within: float) -> None:
    from statistics import NormalDist

    inverse: Callable[[float], float] = NormalDist().inv_cdf
    found = calibration([CheckedPrediction(k, 0.0, width, inverse((k + 0.5) / 2000)) for k in range(2000)])
    assert found is not None
    assert found.within == pytest.approx(within, abs=0.002)
    assert found.spread == pytest.approx(0.6745, abs=0.01)  # the median of |z|
    assert calibration([]) is None


def test_a_prediction_without_any_width_holds_if_it_is_the_value() -> None:
    found = calibration([CheckedPrediction(0, 2.0, 0.0, value) for value in (2.0, 2.5, 1.5, 2.0)])
    assert found is not None
    assert found.within == 0.5


def test_failures_are_grouped_as_the_result_counts_them(study: Path) -> None:
    record = Record.of_study(study)
    groups = failure_groups(record)
    assert {group.reason: len(group.numbers) for group in groups} == record.result.failures


def test_where_failures_lie_is_said_if_one_parameter_tells_it() -> None:
    def record_of(failing: list[float]) -> Record:
        script = Script()
        script.opened(0.0)
        for number in range(20):
            script.asked(number, number, x=number / 20)
            end = script.failed if number / 20 in failing else script.told
            end(number, number, number + 1.0, 0)
        return script.record()

    (group,) = failure_groups(record_of([0.8, 0.85, 0.9, 0.95]))
    assert group.region is not None
    assert (group.region.text, group.region.failed, group.region.inside) == ("x ≥ 0.8", 4, 4)
    (group,) = failure_groups(record_of([0.1, 0.4, 0.6, 0.95]))
    assert group.region is None
