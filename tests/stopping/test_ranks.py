"""Which evaluations successive halving stops: by the definition, and never the first nor the best."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegisbo.errors import UnknownName
from aegisbo.stopping.curve import Curve
from aegisbo.stopping.curves import Curves
from aegisbo.stopping.ranks import Ranks
from aegisbo.stopping.rule import objection, rule_named


def curve(*values: float, end: float | None = None, first: float = 1.0) -> Curve:
    return Curve(first + np.arange(len(values)), np.array(values), end)


VALUES = st.lists(st.floats(-3, 3), min_size=1, max_size=30)


@given(st.lists(VALUES, min_size=1, max_size=8), st.sampled_from([27.0, 10.0, 1000.0]), st.integers(0, 7))
def test_the_best_third_of_those_that_got_there_goes_on(reports: list[list[float]], last: float, which: int) -> None:
    which %= len(reports)
    curves = Curves({k: curve(*values) for k, values in enumerate(reports)}, first=99, last_step=last)
    mine = reports[which]
    step = len(mine)
    reached = [last / 3**k for k in (1, 2, 3, 4) if (step - 1 if step > 1 else -1) < last / 3**k <= step]
    expected = False
    if reached:
        place = math.ceil(max(reached)) or 1  # the first whole step there
        there = [values[place - 1] for values in reports if len(values) >= place]
        better = sum(value < mine[-1] for value in there)
        expected = len(there) >= 3 and better + 1 > len(there) // 3
    assert bool(Ranks().objection(which, curves)) == expected


def test_nobody_is_stopped_while_the_end_is_unknown() -> None:
    of = {k: curve(float(k)) for k in range(9)}
    assert Ranks().objection(8, Curves(of, 0, None)) == ""
    assert Ranks().objection(8, Curves(of, 0, 3.0)) == "At step 1 it was number 9 of 9."


def test_one_that_diverges_is_behind_all_others() -> None:
    of = {0: curve(2.0), 1: curve(1.0), 2: curve(3.0), 3: curve(math.inf)}
    assert objection("ranks", 3, Curves(of, 0, 3.0)) == "At step 1 it was number 4 of 4."


def test_the_first_of_a_run_and_the_best_so_far_are_never_stopped() -> None:
    of = {k: curve(float(k)) for k in range(9)}
    assert objection("ranks", 8, Curves(of, first=8, last_step=3.0)) == ""
    # It is far behind where the others were at its step, but they have become worse since.
    worse = {k: curve(0.0, 5.0, 6.0) for k in range(9)}
    assert objection("ranks", 9, Curves({**worse, 9: curve(1.0)}, first=0, last_step=3.0)) == ""
    assert objection("ranks", 9, Curves({**worse, 9: curve(1.0), 10: curve(0.5)}, first=0, last_step=3.0)) != ""


def test_a_value_at_the_end_counts_more_than_what_was_reported_last() -> None:
    of = {k: curve(0.0, 5.0, 6.0, end=0.5) for k in range(9)} | {9: curve(1.0)}
    assert objection("ranks", 9, Curves(of, first=0, last_step=3.0)) != ""


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UnknownName, match="ranks"):
        rule_named("rank")
