"""Spaces of scikit-learn's users as ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from aegisbo import Choice, Int, Real, Space
from aegisbo.errors import InvalidInput
from aegisbo.integrations.sklearn_space import converted


@pytest.mark.parametrize(
    ("entry", "parameter"),
    [
        (stats.uniform(-5.0, 15.0), Real(-5.0, 10.0)),
        (stats.uniform(loc=2.0, scale=3.0), Real(2.0, 5.0)),
        (stats.loguniform(1e-3, 1e2), Real(1e-3, 1e2, log=True)),
        (stats.reciprocal(1e-3, 1e2), Real(1e-3, 1e2, log=True)),
        (stats.randint(3, 9), Int(3, 8)),
        ((2.0, 3.0), Real(2.0, 3.0)),
        ([2.0, 3.0], Choice([2.0, 3.0])),
        (np.array([1, 10, 100]), Choice([1, 10, 100])),
        (["a", None, True], Choice(["a", None, True])),
        (Int(1, 64, log=True), Int(1, 64, log=True)),
    ],
)
def test_an_entry_is_this_parameter(entry: Any, parameter: Any) -> None:
    assert converted({"p": entry}).space == Space({"p": parameter})


@pytest.mark.parametrize("distribution", [stats.uniform(-5.0, 15.0), stats.loguniform(1e-3, 1e2), stats.randint(3, 9)])
def test_the_bounds_hold_what_the_distribution_draws(distribution: Any) -> None:
    space = converted({"p": distribution}).space
    drawn = distribution.rvs(2000, random_state=0)
    units = np.array([space.to_unit({"p": value})[0] for value in drawn])
    assert stats.kstest(units, "uniform").statistic < 0.2  # evenly spread on our scale, as far as there are levels
    assert units.min() < 0.2
    assert units.max() > 0.8


def test_values_find_back_to_objects_and_constants() -> None:
    sizes = [(50,), (100, 50)]
    found = converted({"sizes": sizes, "rate": [0.1], "C": (0.0, 1.0)})
    assert found.space.parameters["sizes"] == Choice(["(50,)", "(100, 50)"])
    assert found.values({"sizes": "(50,)", "C": 0.5}) == {"rate": 0.1, "sizes": (50,), "C": 0.5}
    assert found.values({"C": 0.5}) == {"rate": 0.1, "C": 0.5}


def test_objects_have_the_same_labels_in_every_process() -> None:
    def one() -> int:
        return 1

    choices = [one, lambda: 2, lambda: 3, "one"]
    labels = converted({"p": choices}).space.parameters["p"].values
    assert not any("0x" in label for label in labels)
    assert [converted({"p": choices}).values({"p": label})["p"] for label in labels] == choices


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"p": stats.norm()}, "Parameter 'p': aegisbo cannot search the distribution norm: use scipy.stats.uniform"),
        ({"p": stats.uniform}, "Parameter 'p': aegisbo cannot search the distribution uniform_gen"),
        ([{"p": [1, 2]}, {"q": [1, 2]}], "give a dict by parameter"),
        ({"p": [1]}, "leaves nothing to search"),
        ({}, "leaves nothing to search"),
        ({"p": [1, 1]}, "Parameter 'p': Choice"),
        ({"p": [(1,), (1,)]}, "holds equal values"),
        ({"p": "rbf"}, "Parameter 'p' must be"),
    ],
)
def test_what_cannot_be_searched_is_refused(space: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        converted(space)
