from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from review.made_studies import Script, make_study
from scipy.stats import spearmanr

import aegisbo
from aegisbo.review.health import Finding, health
from aegisbo.review.landscape import models_of
from aegisbo.review.record import Record
from aegisbo.stopping.expected_end import ExpectedEnd


def run(function: Callable[[float], float | None], count: int = 20) -> Record:
    """A worker that evaluates without a pause; None fails."""
    script = Script()
    script.opened(0.0)
    for number in range(count):
        x = (7 * number % count) / count
        script.asked(number, number, x=x)
        value = function(x)
        if value is None:
            script.failed(number, number, number + 1.0, 0, reason=f"no value at {x}")
        else:
            script.told(number, number, number + 1.0, 0, value=value)
    return script.record()


def findings(record: Record) -> dict[str, Finding]:
    return {finding.topic: finding for finding in health(record, models_of(record.optimizer))}


def test_a_study_without_a_result() -> None:
    assert findings(Script().record())["progress"].text == "No evaluation has ended yet."


def test_a_study_of_failures_only() -> None:
    found = findings(run(lambda x: None))
    assert (found["progress"].level, found["progress"].text) == ("bad", "None of 20 evaluations gave a value.")
    assert found["failures"].text.startswith("20 of 20 evaluations gave no value and took 20 s")


@pytest.mark.parametrize(
    ("values", "level", "words"),
    [
        (range(30, 10, -1), "good", "still improving, by 1 per evaluation over the last 5"),
        ([9.0, 1.0, *[2.0] * 18], "note", "None of the 18 evaluations since then was better"),
        ([9.0, 1.0, *[2.0] * 17, 0.99], "note", "hardly improving any more: 0.002 per evaluation"),
    ],
)
def test_whether_it_still_improves(values: list[float], level: str, words: str) -> None:
    queue = iter(values)
    found = findings(run(lambda x: float(next(queue))))["progress"]
    assert found.level == level
    assert words in found.text


def test_idle_workers_and_what_they_waited_for() -> None:
    script = Script()
    script.opened(0.0)
    for number in range(10):
        script.asked(number, 4.0 * number + 3.0)
        script.told(number, 4.0 * number + 3.0, 4.0 * number + 4.0, worker=0)
    found = findings(script.record())["workers"]
    assert found.level == "warning"
    assert "spent 25% of the time evaluating, 75% waiting for a suggestion" in found.text
    assert "short compared with choices: try preset='modern'" in found.remedy
    assert findings(run(lambda x: x))["workers"].level == "good"


def test_starting_a_process_is_told_from_sending_a_point() -> None:
    script = Script()
    for sitting, at in enumerate((0.0, 100.0)):  # killed in between: 5 s of imports, then 0.5 s for each of ten
        script.opened(at)
        for k in range(10):
            number, began = 10 * sitting + k, at + 5.0 + 0.5 * k
            script.asked(number, at if k == 0 else began)
            script.told(number, began, began + 0.5, worker=0)
    found = findings(script.record())["workers"]
    assert found.text == "The worker spent 50% of the time evaluating, 50% starting up."
    assert "Processes started 2 times and took up to 5 s each" in found.remedy
    assert "threads" not in found.remedy


def test_a_process_that_follows_one_that_was_killed_starts_too() -> None:
    script = Script()
    script.opened(0.0)
    for number in range(3):
        script.asked(number, 10.0 * number)
        script.failed(number, 10.0 * number + 6.0, 10.0 * number + 10.0, worker=0, state="timed_out")
    found = findings(script.record())["workers"]
    assert "60% starting up" in found.text
    assert "Processes started 3 times" in found.remedy


def test_sending_points_is_what_short_evaluations_wait_for() -> None:
    script = Script()
    script.opened(0.0)
    for number in range(20):
        script.asked(number, number)
        script.told(number, number + 0.75, number + 1.0, worker=0)
    found = findings(script.record())["workers"]
    assert "spent 25% of the time evaluating, 71% sending points, 4% starting up" in found.text
    assert "short compared with sending them" in found.remedy


def test_failures_and_where_they_lie() -> None:
    found = findings(run(lambda x: None if x >= 0.8 else x))["failures"]
    assert "Where x ≥ 0.8, 4 of 4 evaluations failed like this" in found.text
    assert "x ≥ 0.8 cannot work, exclude it" in found.remedy


def test_a_reason_that_is_cut_shows_that_there_was_more() -> None:
    script = Script()
    script.opened(0.0)
    script.asked(0, 0.0)
    script.failed(0, 0.0, 1.0, worker=0, reason=f"{'so long ' * 20}.")
    quoted = re.search("“(.*)”", findings(script.record())["failures"].text)
    assert quoted is not None
    assert quoted[1] == f"{('so long ' * 20)[:77]}..."


def test_a_best_point_at_the_edge() -> None:
    found = findings(run(lambda x: x))
    assert "lies at the lower end of its range (0)" in found["range"].text
    assert "range" not in findings(run(lambda x: (x - 0.5) ** 2))


def test_a_parameter_that_does_not_matter_is_named_and_no_edge_is_reported_for_it() -> None:
    points = [*np.random.default_rng(0).random((30, 2)), [0.4, 0.0]]  # the best one at the edge of what does not matter
    optimizer = aegisbo.Optimizer([(0.0, 1.0)] * 2, seed=0, initial=points)
    for x in points:
        optimizer.tell(optimizer.ask(), (x[0] - 0.4) ** 2)
    found = health(Record.of_optimizer(optimizer), models_of(optimizer))
    assert any(finding.text.endswith("due to x1.") for finding in found)
    assert not any(finding.topic == "range" for finding in found)


def test_without_a_study_idle_workers_are_idle() -> None:
    script = Script()
    script.opened(0.0)
    for number, began in enumerate((0.0, 7.0)):
        script.asked(number, began)
        script.told(number, began, began + 3.0, worker=0)
    found = findings(Record.of_optimizer(script.record().optimizer))["workers"]
    assert found.text == "The worker spent 60% of the time evaluating, 40% idle."
    assert "Record the next run in a study" in found.remedy


def test_wasted_evaluations_are_counted() -> None:
    script = Script()
    script.opened(0.0)
    script.asked(0, 0.0)
    script.failed(0, 0.0, 2.0, worker=0, state="lost")
    script.add("lost", 0, 5.0, reason="", seconds=0.0)
    script.opened(10.0)
    found = findings(script.record())["wasted"]
    assert "ended without a result" in found.text
    assert found.remedy == "The same call evaluates pending trials again."
    script.told(0, 11.0, 12.0, worker=0)
    found = findings(script.record())["wasted"]
    assert "ended without a result" in found.text
    assert found.remedy == ""  # nothing is pending any more


def test_the_most_urgent_comes_first(tmp_path: Path) -> None:
    record = Record.of_study(make_study(tmp_path / "run.db"))
    order = ["bad", "warning", "note", "good"]
    levels = [order.index(finding.level) for finding in health(record, models_of(record.optimizer))]
    assert levels == sorted(levels)
    assert len(levels) >= 4


def of_curves(foretold: bool = True, chances: dict[int, float] | None = None) -> dict[str, Finding]:
    """What is said of evaluations that report, half of them stopped after a second of ten."""
    script = Script(stop_early=True, steps=9.0)
    script.opened(0.0)
    for number in range(24):
        at, start = 20.0 * number, float((5 * number) % 12)
        script.asked(number, at, x=number / 24)
        script.reported(number, at + 0.5, 1, start)
        if number >= 12:
            script.stopped(number, at, at + 1.0, 0)
            continue
        script.reported(number, at + 9.5, 9, 3.0)
        script.told(number, at, at + 10.0, 0, value=start if foretold else float((7 * start) % 12))
    record = script.record()
    if chances is not None:
        vars(record)["expected_ends"] = {number: ExpectedEnd(0.0, 1.0, chance) for number, chance in chances.items()}
    return findings(record)


def test_what_stopping_has_spared() -> None:
    found = of_curves(chances={12: 0.1, 13: 0.15})["stopping"]
    assert found.level == "good"
    assert found.text.startswith(
        "12 of 24 evaluations were stopped early, which spared about 1 min 48 s of the workers' time."
    )
    assert found.text.endswith("By their curves, 0.25 of 2 can be expected to have ended better than the best.")
    assert of_curves(chances={})["stopping"].text.endswith("of the workers' time.")


def test_stops_that_were_probably_wrong_are_told() -> None:
    found = of_curves(chances={12: 0.7, 13: 0.49, 14: 0.9})["stopping"]
    assert found.level == "warning"
    assert "2 would probably have ended better than the best (trial 14, 12)." in found.text
    assert of_curves(chances={12: 0.4, 13: 0.4})["stopping"].level == "note"


def test_reports_that_do_not_foretell_the_end() -> None:
    assert "reports" not in of_curves()
    found = of_curves(foretold=False)["reports"]
    ends = [(7 * start) % 12 for start in range(12)]
    assert f"a rank correlation of {spearmanr(range(12), ends)[0]:.2f}." in found.text
    assert "for the 12 evaluations with a value, values at step 1 and at the end" in found.text


def test_stopping_early_without_reports() -> None:
    script = Script(stop_early=True)
    script.opened(0.0)
    for number in range(3):
        script.asked(number, float(number))
        script.told(number, number, number + 1.0, 0)
    assert findings(script.record())["reports"].text.startswith("stop_early is on, but none of 3 evaluations has")
    assert {"reports", "stopping"}.isdisjoint(findings(run(lambda x: x)))
