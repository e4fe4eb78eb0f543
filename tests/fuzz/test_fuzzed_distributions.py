"""Any distributions that Optuna takes: every value lies in its distribution, or the error is one sentence."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pytest
from fuzz.examples import tries
from hypothesis import assume, example, given
from hypothesis import strategies as st

optuna = pytest.importorskip("optuna")

from optuna.distributions import (  # noqa: E402
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from aegisbo import AegisSampler  # noqa: E402
from aegisbo.errors import AegisError  # noqa: E402

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SIZES = st.sampled_from([5e-324, 1e-300, 1e-9, 1e-3, 0.1, 1.0, 3.0, 1e9, 1e300, 1.7e308]) | FINITE.map(abs)


def made(kind: type[BaseDistribution], *arguments: Any, **options: Any) -> BaseDistribution | None:
    """The distribution; None if Optuna itself refuses it, or denies that it contains its own ends.

    Optuna does that where a step has no more digits than the rounding of its multiples.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna's, of a step that does not divide the range
        try:
            found: Any = kind(*arguments, **options)
        except (ValueError, OverflowError, ArithmeticError):
            return None
    ends = () if isinstance(found, CategoricalDistribution) else (found.low, found.high)
    return found if all(found._contains(found.to_internal_repr(end)) for end in ends) else None


FLOATS = st.builds(
    lambda low, width, step, log: made(FloatDistribution, low, low + width, step=None if log else step, log=log),
    FINITE | SIZES,
    SIZES,
    st.none() | SIZES,
    st.booleans(),
)
INTS = st.builds(
    lambda low, width, step, log: made(IntDistribution, low, low + width, step=1 if log else step, log=log),
    st.integers(-(2**51), 2**51) | st.integers(-3, 3),  # beyond, Optuna itself rounds
    st.integers(0, 2**51) | st.integers(0, 9),
    st.integers(1, 2**50) | st.integers(1, 4),
    st.booleans(),
)
CHOICES = st.builds(
    lambda choices: made(CategoricalDistribution, choices),
    st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), min_size=1, max_size=5),
)


@tries(15)
@given(st.dictionaries(st.text(max_size=4), FLOATS | INTS | CHOICES, min_size=1, max_size=3))
@example({"a": CategoricalDistribution([math.nan, 1.0])})
@example({"a": FloatDistribution(-1.7e308, 1.7e308)})
@example({"a": IntDistribution(0, 2**52)})
@example({"a": FloatDistribution(0.0, 5e-324)})
@example({"\x1b[2J": CategoricalDistribution([True, 1, 1.0])})
def test_every_value_lies_in_its_distribution(distributions: dict[str, BaseDistribution | None]) -> None:
    assume(None not in distributions.values())
    study = optuna.create_study(sampler=AegisSampler(seed=1, n_initial=2))
    for value in (1.0, 0.5, 2.0, 0.25):
        try:
            trial = study.ask(dict(distributions))
        except AegisError:
            return
        for name, kind in distributions.items():
            assert kind is not None
            assert kind._contains(kind.to_internal_repr(trial.params[name]))
        study.tell(trial, value)
