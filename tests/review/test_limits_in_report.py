"""The report and the figures of a run with limits: what breaks one is no best value, and says so."""

from __future__ import annotations

import pytest

from aegisbo import Optimizer, plot
from aegisbo.review.convergence import convergence
from aegisbo.review.health import health
from aegisbo.review.payload import facts_of
from aegisbo.review.record import Record, record_of

TOLD = [(5.0, 3.0), (1.0, 9.0), (4.0, 2.0), (0.5, 8.0), (4.5, 4.9)]  # value, latency


def told(*results: tuple[float, float]) -> Optimizer:
    optimizer = Optimizer([(0, 1)], limits=["latency <= 5"], seed=0)
    for value, latency in results:
        optimizer.tell(optimizer.ask().number, value, measured={"latency": latency})
    return optimizer


@pytest.fixture
def record() -> Record:
    return record_of(told(*TOLD))


def test_a_value_that_breaks_a_limit_is_never_the_best(record: Record) -> None:
    steps = convergence(record)
    assert [step.best for step in steps] == [5.0, 5.0, 4.0, 4.0, 4.0]
    assert [step.counts for step in steps] == [True, False, True, False, True]
    assert [step.improved for step in steps] == [True, False, True, False, False]


def test_the_page_is_told_what_was_measured_and_which_limits_are_broken(record: Record) -> None:
    facts = facts_of(record, {})
    assert facts["measured"] == ["latency"]
    assert facts["trials"]["measured"] == [[latency for _, latency in TOLD]]
    assert facts["trials"]["broken"] == [None, "latency <= 5", None, "latency <= 5", None]


def test_without_limits_nothing_is_said_of_them() -> None:
    optimizer = Optimizer([(0, 1)], seed=0)
    optimizer.tell(optimizer.ask().number, 1.0)
    facts = facts_of(record_of(optimizer), {})
    assert (facts["measured"], facts["trials"]["measured"], facts["trials"]["broken"]) == ([], [], [None])
    assert "limits" not in {finding.topic for finding in health(record_of(optimizer), {})}


def test_health_says_which_limit_was_broken_and_binds(record: Record) -> None:
    (found,) = [finding for finding in health(record, {}) if finding.topic == "limits"]
    assert found.text.startswith("2 of 5 evaluations broke a limit: latency <= 5 in 2. latency <= 5 binds")


def test_health_says_when_no_evaluation_keeps_the_limits() -> None:
    (found,) = [each for each in health(record_of(told((1.0, 9.0), (2.0, 8.0))), {}) if each.topic == "progress"]
    assert (found.level, found.text.partition(".")[0]) == ("bad", "None of 2 evaluations has kept all limits")


def test_a_figure_draws_what_breaks_a_limit_hollow(record: Record) -> None:
    (axis, *_) = plot.convergence(record.optimizer).axes
    lines = {line.get_label(): line for line in axis.get_lines()}
    broken = lines["breaks a limit (2)"]
    assert list(zip(broken.get_xdata(), broken.get_ydata(), strict=True)) == [(2.0, 1.0), (4.0, 0.5)]
    assert (broken.get_markerfacecolor(), lines["evaluation"].get_markerfacecolor() == "none") == ("none", False)


def test_a_figure_without_a_best_value_has_the_others() -> None:
    figure = plot.convergence(told((5.0, 7.0), (1.0, 9.0)))
    lines = {line.get_label(): len(line.get_xdata()) for line in figure.axes[0].lines}
    assert (lines["breaks a limit (2)"], lines["best so far"]) == (2, 0)
