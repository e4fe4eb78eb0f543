from __future__ import annotations

import numpy as np
import pytest

from aegisbo.space import Choice, Int, Real
from aegisbo.space.parameters import sweep


def test_real_values_are_evenly_spread_on_their_scale_ends_included() -> None:
    np.testing.assert_allclose(sweep(Real(-5, 10), 7), np.linspace(-5, 10, 7), atol=1e-14)
    np.testing.assert_allclose(sweep(Real(1e-6, 0.1, log=True), 11), np.geomspace(1e-6, 0.1, 11))


@pytest.mark.parametrize("log", [False, True])
def test_whole_numbers_are_all_there_or_evenly_spread_without_repetition(log: bool) -> None:
    assert sweep(Int(3, 9, log=log), 7) == [3, 4, 5, 6, 7, 8, 9]
    many = sweep(Int(1, 1000, log=log), 21)
    assert (many[0], many[-1]) == (1, 1000)
    assert many == sorted(set(many))
    assert all(type(value) is int for value in many)
    middle = many[len(many) // 2]
    assert (middle < 100) == log


def test_choices_are_all_there_in_their_order() -> None:
    assert sweep(Choice(["b", "a", None]), 65) == ["b", "a", None]
    assert sweep(Choice(list(range(9))), 3) == list(range(9))
