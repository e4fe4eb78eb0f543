"""One evaluation: whatever the function does, there is an outcome, with its reason and its time."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from pool_jobs import Impolite, Unspeakable, behave

from aegisbo.runners.evaluation import evaluate
from aegisbo.runners.protocol import StopRun


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (2, 2.0),
        (Fraction(1, 4), 0.25),
        (np.float32(0.5), 0.5),
        (np.int64(-3), -3.0),
        (np.array([[1.5]]), 1.5),
        (np.array(7), 7.0),
    ],
)
def test_every_kind_of_real_number_is_a_value(answer: object, value: float) -> None:
    outcome = evaluate(lambda x: answer, 0.0)
    assert (outcome.state, outcome.value, outcome.reason) == ("done", value, "")
    assert type(outcome.value) is float


@pytest.mark.parametrize("behavior", ["nan", "infinite", "huge", "none", "text", "complex", "list", "bool"])
def test_anything_else_is_invalid(behavior: str) -> None:
    outcome = evaluate(behave, behavior)
    assert outcome.state == "invalid"
    assert math.isnan(outcome.value)
    assert "it must return" in outcome.reason


@pytest.mark.parametrize(
    "answer", [np.ma.masked, np.ma.array([7.0], mask=[True]), np.ma.mean(np.ma.array([1.0], mask=[True]))]
)
def test_what_is_masked_is_no_value(answer: object) -> None:
    outcome = evaluate(lambda x: answer, 0.0)
    assert outcome.state == "invalid"
    assert evaluate(lambda x: np.ma.array([7.0]), 0.0).value == 7.0


def test_a_span_of_time_is_no_value() -> None:
    assert evaluate(lambda x: np.timedelta64(5, "s"), 0.0).state == "invalid"


def test_words_that_end_the_process_do_not_end_the_evaluation() -> None:
    class Last(Exception):
        def __str__(self) -> str:
            raise SystemExit

    def fail(x: float) -> float:
        raise Last

    assert evaluate(fail, 0.0).reason == "Last"


def test_a_large_answer_is_shortened() -> None:
    assert len(evaluate(lambda x: "x" * 10_000, 0.0).reason) < 200


@pytest.mark.parametrize(
    ("behavior", "reason"),
    [
        ("raises", "ValueError: diverged"),
        ("exits", "SystemExit: bye"),
        ("exits with 0", "SystemExit: 0"),
        ("impolite", f"{Impolite.__name__}: out of line"),
        ("raises without words", Unspeakable.__name__),
        ("bad number", "RuntimeError: not today"),
    ],
)
def test_an_exception_of_any_kind_is_a_failure(behavior: str, reason: str) -> None:
    outcome = evaluate(behave, behavior)
    assert outcome.state == "failed"
    assert reason in outcome.reason
    assert "Traceback" in outcome.traceback
    assert reason.partition(":")[0] in outcome.traceback


def test_a_module_that_is_missing_is_no_fault_of_the_point() -> None:
    outcome = evaluate(lambda x: import_module("no_such_module"), 0.0)
    assert (outcome.state, outcome.unusable) == ("lost", True)
    assert outcome.reason == "ModuleNotFoundError: No module named 'no_such_module'"
    assert "Traceback" in outcome.traceback
    assert not evaluate(behave, "raises").unusable


def test_an_interrupted_evaluation_is_to_be_done_again() -> None:
    """Ctrl-C in a terminal reaches processes that others started: that is no fault of the point."""
    assert evaluate(behave, "interrupts").state == "lost"


def test_the_end_of_the_run_is_no_failure_of_the_evaluation_in_progress() -> None:
    def stopped(x: float) -> float:
        raise StopRun("Stopped by Ctrl-C.")

    with pytest.raises(StopRun):
        evaluate(stopped, 0.0)


@pytest.mark.parametrize("behavior", ["value", "raises", "none"])
def test_the_seconds_are_those_of_the_function(behavior: str) -> None:
    def slow(x: float) -> object:
        time.sleep(0.05)
        return behave(behavior)

    begin = time.perf_counter()
    seconds = evaluate(slow, 0.0).seconds
    assert seconds is not None
    assert 0.05 <= seconds <= time.perf_counter() - begin
