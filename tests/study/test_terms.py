"""What was changed from outside holds until a call asks for something else than the one before it."""

from __future__ import annotations

from typing import Any

import pytest

from aegisbo.events import read_event
from aegisbo.study.ledger import Terms


def call(**given: Any) -> tuple[str, dict[str, Any]]:
    return "opened", {"pid": 1, "call": given}


def joined(**given: Any) -> tuple[str, dict[str, Any]]:
    return "joined", {"lease": 60.0, "lane": 0, "call": given}


def changed(**changes: Any) -> tuple[str, dict[str, Any]]:
    return "set", {"changes": changes}


@pytest.mark.parametrize(
    ("happened", "budget", "holds"),
    [
        ([call(budget=100)], 100, {}),
        ([call(budget=100), changed(budget=400)], 400, {"budget": 400}),
        ([call(budget=100), changed(budget=400), call(budget=100)], 400, {"budget": 400}),  # the same call again
        ([call(budget=100), changed(budget=400), call(budget=200)], 200, {}),  # which says otherwise
        ([call(budget=100), changed(budget=400), call(budget=400), call(budget=100)], 100, {}),
        ([call(budget=100), changed(budget=400), changed(budget=50)], 50, {"budget": 50}),
        ([call(budget=9, workers=2), changed(budget=7, workers=5), call(budget=9, workers=3)], 7, {"budget": 7}),
        ([joined(budget=20), changed(budget=40), joined(budget=20), joined(budget=None)], 40, {"budget": 40}),
        ([joined(budget=20), changed(budget=40), joined(budget=30)], 30, {}),
        ([joined(budget=20), joined(budget=30), ("joined", joined(budget=20)[1] | {"copy": 1})], 30, {}),  # comes back
        (
            [call(budget=5), changed(timeout=None), call(budget=5, timeout=60.0)],
            5,
            {"timeout": None},
        ),  # unknown before
        ([changed(target=0.5)], None, {"target": 0.5}),
        ([call(budget=5, ahead=1), changed(ahead=2)], 5, {}),  # a setting that there was once
    ],
)
def test_the_last_word(happened: list[tuple[str, dict[str, Any]]], budget: int | None, holds: dict[str, Any]) -> None:
    terms = Terms()
    for number, (kind, body) in enumerate(happened, start=1):
        terms.apply(read_event(number, kind, None, 0.0, body))
    assert (terms.budget, terms.changed) == (budget, holds)
