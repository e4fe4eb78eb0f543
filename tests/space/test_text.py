"""Values as people type them."""

from __future__ import annotations

import pytest

from aegisbo.errors import InvalidInput
from aegisbo.space import Choice, Int, Real, Space
from aegisbo.space.text import value_from, values_from

MIXED = Choice(["relu", "none", "7", 7, 0.1, True, None])


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (Real(1e-5, 1.0), "1e-3", 1e-3),
        (Int(1, 9), "3", 3),
        (MIXED, "relu", "relu"),
        (MIXED, "none", "none"),  # as written, before what it could mean
        (MIXED, "7", "7"),
        (MIXED, "7.0", 7),
        (MIXED, "0.10", 0.1),
        (MIXED, "true", True),
        (MIXED, "", None),
        (Choice([1, 2]), "1", 1),
        (Choice([None, "a"]), "None", None),
        (Choice(["", None]), "", ""),
    ],
)
def test_a_text_stands_for_a_value(parameter: Real | Int | Choice, text: str, value: object) -> None:
    found = value_from(parameter, text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("parameter", "text", "message"),
    [
        (Real(0.0, 1.0), "much", r"'much' is no number: Real\(0.0, 1.0\) needs one"),
        (Real(0.0, 1.0), "true", "'true' is no number"),
        (Choice(["a", "b"]), "c", r"'c' is not among the choices: use one of \['a', 'b'\]"),
        (Choice([True, False]), "1", "'1' is not among the choices"),
    ],
)
def test_another_text_is_refused(parameter: Real | Choice, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        value_from(parameter, text)


def test_the_parameter_is_named() -> None:
    space = Space({"lr": (0.0, 1.0)})
    assert values_from(space, {"lr": "0.5", "other": "0.5"}) == {"lr": 0.5, "other": "0.5"}
    with pytest.raises(InvalidInput, match="Parameter 'lr': 'x' is no number"):
        values_from(space, {"lr": "x"})
