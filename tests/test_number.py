"""Which values are whole numbers, and from where on."""

from __future__ import annotations

import numpy as np
import pytest

from aegisbo.number import as_whole


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_any_kind_are_ints(value: object) -> None:
    assert (as_whole(value), type(as_whole(value))) == (3, int)


@pytest.mark.parametrize(
    "value", [True, np.True_, 3.0, "3", None, np.array([3]), np.timedelta64(3), np.timedelta64(3, "s")]
)
def test_what_only_looks_like_one_is_none(value: object) -> None:
    assert as_whole(value) is None


@pytest.mark.parametrize(("value", "least", "expected"), [(-3, -np.inf, -3), (0, 0, 0), (-1, 0, None), (0, 1, None)])
def test_they_begin_with_the_least(value: int, least: float, expected: int | None) -> None:
    assert as_whole(value, least) == expected


def test_any_is_allowed_if_nobody_says_which_is_the_least() -> None:
    assert as_whole(-(10**400)) == -(10**400)
