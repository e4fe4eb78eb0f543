from __future__ import annotations

import math
import pickle
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from aegisbo import Optimizer, Result, load, minimize
from aegisbo.outcome import Outcome
from aegisbo.space import Int
from aegisbo.strategies.base import Suggestion


class Center:
    def suggest(self, evidence, memory, rng):
        return Suggestion(np.full(evidence.cube.width, 0.5), memory, {"move": "center"})


def test_a_result_speaks_as_scipy_does():
    optimizer = Optimizer(
        [(-5, 10), (2, 3)], strategy=Center(), initial=[[0, 2.5], [1.5, 2.25], [3, 3], [4, 3], [5, 3]]
    )
    for _ in range(5):
        optimizer.ask()
    optimizer.tell(0, 3.0)
    optimizer.tell(1, -1.5)
    optimizer.fail(2, "diverged")
    optimizer.expire(3)
    result = optimizer.result("Budget used.")
    np.testing.assert_array_equal(result.x, [1.5, 2.25])
    assert (result.fun, result.nfev, result.success, result.ending) == (-1.5, 3, True, "Budget used.")
    assert result.trials == optimizer.trials
    assert result.best == optimizer.trials[1]
    assert repr(result).splitlines() == [
        "       x: [1.5  2.25]",
        "     fun: -1.5",
        "    nfev: 3",
        " success: True",
        " message: Budget used. 1 of 3 evaluations gave no value: 1 x diverged.",
        "  trials: 5 (2 done, 1 failed, 1 lost, 1 pending)",
    ]


def test_a_result_says_where_the_workers_time_went_if_that_is_known():
    result = Optimizer([(-5, 10)], strategy=Center()).result()
    assert result.idle is None
    assert repr(replace(result, idle={"pool": 0.25, "nothing": 0})).endswith(
        "idle: 25.0% starting up, 0.0% out of work"
    )


def test_a_result_without_a_value():
    optimizer = Optimizer({"k": Int(1, 9)}, strategy=Center())
    result = optimizer.result()
    assert (result.x, result.nfev, result.success, result.trials) == (None, 0, False, ())
    assert math.isnan(result.fun)
    assert result.best is None
    assert result.message == "No trial has given a value."
    assert repr(result).endswith("trials: 0")


def test_a_named_space_gives_a_dict_and_observed_points_do_not_count_as_evaluations():
    optimizer = Optimizer({"k": Int(1, 9)}, strategy=Center())
    optimizer.observe({"k": 7}, 2.0)
    result = optimizer.result()
    assert (result.x, result.fun, result.nfev, result.success) == ({"k": 7}, 2.0, 0, True)
    assert result.message == "The best so far."


def after(reasons: list[str | None], **options: Any) -> Result:
    """A result in which one trial after the other failed for these reasons; None for a value."""
    optimizer = Optimizer([(-5, 10), (2, 3)], strategy="random", seed=1, **options)
    for reason in reasons:
        trial = optimizer.ask()
        _ = optimizer.tell(trial, 1.5) if reason is None else optimizer.fail(trial, reason)
    return optimizer.result("Over.")


class TestFailures:
    def test_reasons_are_counted_the_most_frequent_first(self) -> None:
        result = after(["b", "a", None, "a", "c", "a", "c"])
        assert list(result.failures.items()) == [("a", 3), ("c", 2), ("b", 1)]
        assert result.message == "Over. 6 of 7 evaluations gave no value: 3 x a; 2 x c; 1 x b."

    def test_those_that_differ_in_numbers_only_are_one(self) -> None:
        same = ["at -1.5e-3, 7 of 9 at 0xff", "at 22, 0 of 1. at 0x1A", "at +3., 1 of -2 at 0x0"]
        others = ["no x1", "no x2", "float32", "float64"]  # numbers in names say something
        assert after([*others, *same]).failures == {same[0]: 3, **dict.fromkeys(others, 1)}

    def test_time_outs_are_counted_by_the_time_they_had(self) -> None:
        late = [f"Stopped after {moment} (trial_timeout=1)." for moment in ("4.5 seconds", "1.01 seconds", "2 minutes")]
        still = "Still running after 1.5 seconds (trial_timeout=1)."
        assert after([*late, still]).failures == {
            "Stopped at trial_timeout=1.": 3,
            "Still running at trial_timeout=1.": 1,
        }

    def test_none_is_none(self) -> None:
        result = after([None, None])
        assert (result.failures, result.message) == ({}, "Over.")

    def test_a_message_names_three_and_counts_the_rest(self) -> None:
        result = after(["a", "a", "b", "b", "c", "c", "d", "e", None])
        assert result.message == "Over. 8 of 9 evaluations gave no value: 2 x a; 2 x b; 2 x c; 2 x something else."

    def test_a_reason_is_cut_to_one_line_that_a_terminal_cannot_be_hurt_by(self) -> None:
        reason = f"first\r\n\x1b[31m {'x' * 500}"
        result = after([reason, None])
        assert result.failures == {reason: 1}
        (shown,) = result.message.removeprefix("Over. 1 of 2 evaluations gave no value: 1 x ").splitlines()
        assert shown == "first [31m " + "x" * (120 - len("first [31m ...")) + "."  # the dots of the cut are the end

    def test_where_nothing_gave_a_value_it_says_how_to_see_the_traceback(self) -> None:
        optimizer = Optimizer([(-5, 10), (2, 3)], strategy="random", seed=1)
        optimizer.fail(optimizer.ask(), "no licence")
        assert optimizer.result("Over.").message == "Over. 1 of 1 evaluations gave no value: 1 x no licence."
        optimizer.end(optimizer.ask(), Outcome("failed", reason="KeyError: 'a'", traceback="Traceback ..."))
        remedy = ' To see where: executor="serial" raises the error, result.trials[1].traceback holds it'
        result = optimizer.result("Over.")
        assert result.message == f"{result.summary}{remedy}."
        shown = f"{remedy}, and `aegisbo show run.db --trial 1` shows it."
        assert replace(result, study=Path("run.db")).message == f"{result.summary}{shown}"
        optimizer.tell(optimizer.ask(), 1.0)
        assert remedy not in optimizer.result("Over.").message

    def test_trials_that_are_lost_or_observed_are_no_evaluations(self) -> None:
        optimizer = Optimizer([(-5, 10), (2, 3)], strategy="random", seed=1)
        optimizer.expire(optimizer.ask())
        optimizer.observe([0, 2.5], math.nan)
        assert optimizer.result("Over.").message == "Over."


def test_wherever_a_result_comes_from_it_and_its_optimizer_are_those_of_users(tmp_path: Path) -> None:
    seen: list[Any] = []
    study = tmp_path / "run.db"
    ended = minimize(
        lambda x: x[0] ** 2,
        [(-5, 10)],
        budget=3,
        executor="serial",
        study=study,
        callbacks=[lambda trial, result: seen.append(result)],
    )
    spent = minimize(lambda x: x[0] ** 2, [(-5, 10)], budget=3, executor="serial", study=study, anyway=True)
    copied = [
        pickle.loads(pickle.dumps(ended)),
        deepcopy(ended),
        ended.optimizer.result(),
        copy(ended).optimizer.result(),
    ]
    assert [result.nfev for result in seen] == [1, 2, 3]
    for result in (ended, spent, load(study), *seen, *copied):
        assert type(result) is Result
        assert type(result.optimizer) is Optimizer
        assert "by the move" in repr(result.explain(0))
        assert "<svg" in result._repr_html_()
        assert result.optimizer.tell(result.optimizer.ask(), 1.0).value == 1.0
        assert result.trials == ended.trials[: len(result.trials)], (
            "a result does not change when its optimizer goes on"
        )
