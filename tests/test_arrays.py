from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegisbo.arrays import as_floats, as_vector, frozen
from aegisbo.errors import InvalidInput


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)))
def test_finite_numbers_arrive_unchanged_as_float64(values: list[float]) -> None:
    array = as_vector(values, "x")
    assert array.dtype == np.float64
    assert array.tolist() == values


def test_float64_is_not_copied_and_never_changed() -> None:
    given_array = np.array([[-5.0, 2.0], [10.0, 3.0]])
    assert as_floats(given_array, "X") is given_array


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
def test_other_numbers_are_converted(dtype: type) -> None:
    array = as_floats(np.ones((2, 3), dtype=dtype), "X")
    assert (array.dtype, array.shape) == (np.float64, (2, 3))


@pytest.mark.parametrize("value", ["five", ["a", "b"], [1.0, None, "c"], [[1.0], [1.0, 2.0]], object(), [1j]])
def test_what_is_no_number_is_refused_with_name_and_value(value: object) -> None:
    with pytest.raises(InvalidInput, match="bounds must hold numbers only") as caught:
        as_floats(value, "bounds")
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(("bad", "shown"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_what_is_not_finite_is_refused_with_the_first_bad_entry(bad: float, shown: str) -> None:
    with pytest.raises(InvalidInput, match=f"y holds {shown}: .* leave such entries out"):
        as_vector([0.0, bad, np.nan], "y")


@pytest.mark.parametrize(
    ("value", "length", "message"),
    [
        (3.0, None, r"x must have one dimension, got shape \(\)"),
        ([[1.0, 2.0]], None, r"x must have one dimension, got shape \(1, 2\)"),
        ([1.0, 2.0], 3, r"x must have shape \(3,\), got shape \(2,\)"),
    ],
)
def test_vector_of_another_shape_is_refused(value: object, length: int | None, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        as_vector(value, "x", length)


def test_frozen_marks_the_same_array_read_only() -> None:
    array = np.arange(3.0)
    assert frozen(array) is array
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1.0
