"""Which stopped evaluation goes on: by the definition of successive halving, and by any other rule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegisbo.stopping.curve import Curve
from aegisbo.stopping.curves import Curves
from aegisbo.stopping.resuming import to_resume
from aegisbo.stopping.rule import RULES


def curve(*values: float, end: float | None = None) -> Curve:
    return Curve(1.0 + np.arange(len(values)), np.array(values), end)


VALUES = st.lists(st.floats(-3, 3).map(lambda value: round(value, 1)), min_size=1, max_size=27)


@given(st.lists(VALUES, min_size=1, max_size=12), st.data())
def test_by_ranks_it_is_the_furthest_that_belongs_to_the_best_third_by_now(
    reports: list[list[float]], data: st.DataObject
) -> None:
    """Stopped at steps 1, 3 or 9 of 27, where successive halving looks; it may have reported more until it heard."""
    places = {number: [step for step in (1, 3, 9) if step <= len(each)] for number, each in enumerate(reports)}
    stopped = data.draw(st.sets(st.sampled_from(range(len(reports)))))
    paused = {number: data.draw(st.sampled_from(places[number])) for number in sorted(stopped)}
    curves = Curves({number: curve(*each) for number, each in enumerate(reports)}, first=99, last_step=27.0)
    able = []
    for number, step in paused.items():
        mine = reports[number][step - 1]
        there = [each[step - 1] for each in reports if len(each) >= step]
        leads = all(mine < each[-1] for other, each in enumerate(reports) if other != number)
        if leads or len(there) < 3 or sum(value < mine for value in there) + 1 <= len(there) // 3:
            able.append((-step, mine, number))
    assert to_resume("ranks", paused, curves) == (min(able)[2] if able else None)


def test_nobody_goes_on_where_nobody_was_stopped() -> None:
    assert to_resume("ranks", {}, Curves({0: curve(1.0)}, 0, 27.0)) is None


def test_any_rule_can_be_asked_about_the_best_of_those_that_came_as_far(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, list[float]]] = []

    class Patient:
        def gains(self, number: int, curves: Curves) -> bool:
            asked.append((number, curves.of[number].values.tolist()))
            assert len(curves.of[7].values) == 4, "the others are as they are now"
            return number == 3

    monkeypatch.setitem(RULES, "patient", Patient())
    of = {0: curve(5.0, 4.0), 1: curve(6.0, 3.0), 2: curve(2.0, 9.0, 9.0), 3: curve(1.5), 4: curve(1.6, 1.0)}
    curves = Curves({**of, 7: curve(0.0, 0.0, 0.0, math.inf), 8: curve(0.1, end=-1.0)}, first=8, last_step=None)
    assert to_resume("patient", {0: 2, 1: 2, 2: 1, 3: 1, 4: 1}, curves) == 3
    assert asked == [(1, [6.0, 3.0]), (3, [1.5])]
