"""Arguments by the names that other libraries have for them."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import aegisbo
from aegisbo.errors import AegisError
from aegisbo.keywords import OURS


@pytest.mark.parametrize(("other", "ours"), [("n_trials", "budget"), ("n_calls", "budget"), ("n_jobs", "workers")])
def test_a_name_of_another_library_is_translated(other: str, ours: str) -> None:
    with pytest.raises(AegisError) as caught:
        aegisbo.minimize(lambda x: x[0], [(0, 1)], **{other: 5})  # type: ignore[call-arg]
    assert str(caught.value) == f"Unknown argument '{other}': it is called {ours}= here."
    assert isinstance(caught.value, TypeError)  # as Python has it


def test_a_typing_error_gets_the_nearest_name() -> None:
    with pytest.raises(TypeError, match=r"Unknown argument 'trial_timout': did you mean 'trial_timeout'\?"):
        aegisbo.minimize(lambda x: x[0], [(0, 1)], budget=5, trial_timout=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(("options", "words"), [
    ({"random_state": 3}, "Unknown argument 'random_state': it is called seed= here."),
    ({"n_trials": 3}, "Unknown argument 'n_trials': `minimize` takes it, as budget=."),
])  # fmt: skip
def test_an_optimizer_offers_only_what_it_takes(options: dict[str, Any], words: str) -> None:
    with pytest.raises(AegisError) as caught:
        aegisbo.Optimizer([(0, 1)], **options)
    assert str(caught.value) == words


def test_what_is_offered_exists_and_no_name_of_ours_is_taken_for_anothers() -> None:
    names = inspect.signature(aegisbo.minimize).parameters  # which is written out, as it was
    assert {"fun", "space", "budget"} <= set(names)
    assert set(OURS.values()) <= set(names)
    assert not set(OURS) & set(names)
