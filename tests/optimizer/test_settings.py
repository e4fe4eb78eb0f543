"""Settings are checked once, survive storage, and tell in words how two runs differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aegisbo import Optimizer, strategies
from aegisbo.errors import InvalidInput
from aegisbo.optimizer import Core, Settings
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.policy import default_initial
from aegisbo.space import Choice, Int, Real
from aegisbo.strategies.base import Suggestion

BOX = [(-5, 10), (2, 3)]
MIXED = {"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512), "act": Choice(["relu", None, 3])}


class Foreign:
    """A strategy that no registry knows."""

    def __init__(self, share: float) -> None:
        self.share = share

    def __repr__(self) -> str:
        return f"Foreign({self.share})"

    def suggest(self, evidence: Any, memory: Any, rng: Any) -> Suggestion:
        return Suggestion(rng.random(evidence.cube.width), memory, {"move": "foreign"})


@pytest.mark.parametrize(
    ("space", "given"),
    [
        (BOX, {}),
        (BOX, {"strategy": "aegis:gamma=0.2", "preset": "paper", "seed": 3, "n_initial": 5, "initial": [[0, 2.5]]}),
        (MIXED, {"strategy": strategies.Thompson(preset="paper"), "maximize": True, "noisy": True}),
        (BOX, {"strategy": strategies.Random(n=30)}),
    ],
)
def test_decided_settings_survive_storage(space: Any, given: dict[str, Any]) -> None:
    settings = Settings.checked(space, **given).decided()
    again = Settings.from_description(json.loads(json.dumps(settings.describe())))
    assert again == settings
    assert again.strategy == settings.strategy
    assert again.differences_from(settings) == []


def test_open_choices_are_made_as_the_paper_makes_them() -> None:
    settings = Settings.checked(MIXED).decided()
    assert settings.n_initial == default_initial(3) == 6
    assert settings.preset == "adaptive"
    assert settings.seed != Settings.checked(MIXED).decided().seed


def test_an_object_and_its_text_are_the_same_run() -> None:
    text = Settings.checked(BOX, strategy="aegis:gamma=0.2", seed=1)
    made = Settings.checked(BOX, strategy=strategies.Aegis(gamma=0.2), seed=1)
    assert made.differences_from(text.decided()) == []
    one, other = (Optimizer.over(Core(settings)) for settings in (text, made))
    for optimizer in (one, other):
        for _ in range(7):
            trial = optimizer.ask()
            optimizer.tell(trial, float(trial.x.sum()))
    assert [trial.params for trial in one.trials] == [trial.params for trial in other.trials]


def test_what_is_left_open_contradicts_nothing_and_the_rest_is_named() -> None:
    recorded = Settings.checked(BOX, strategy="aegis:gamma=0.2", preset="paper", seed=3).decided()
    assert Settings.checked(BOX, strategy="aegis:gamma=0.20").differences_from(recorded) == []
    assert Settings.checked(BOX, strategy="aegis", seed=4).differences_from(recorded) == [
        "strategy is 'aegis:gamma=0.2' in the study and 'aegis' in this call",
        "seed is 3 in the study and 4 in this call",
    ]


def test_a_foreign_strategy_is_stored_by_its_looks_and_must_be_passed_again() -> None:
    settings = Settings.checked(BOX, strategy=Foreign(0.5)).decided()
    described = settings.describe()
    assert (described["strategy"], described["strategy_object"]) == (None, "Foreign(0.5)")
    with pytest.raises(InvalidInput, match="pass the object that the run had"):
        Settings.from_description(described)
    again = Settings.from_description(described, Foreign(0.5))
    assert again.differences_from(settings) == []
    other = Settings.checked(BOX, strategy=Foreign(0.25))
    assert other.differences_from(settings) == [
        "strategy_object is 'Foreign(0.5)' in the study and 'Foreign(0.25)' in this call"
    ]


def test_there_is_one_sign() -> None:
    up, down = Direction(maximize=True), Direction(maximize=False)
    assert (up.turned(3.0), down.turned(3.0)) == (-3.0, 3.0)
    assert up.turned_note({"mean": 2.0, "std": 1.0}) == {"mean": -2.0, "std": 1.0}
    assert (up.reaches(5.0, 4.0), up.reaches(3.0, 4.0), down.reaches(3.0, 4.0)) == (True, False, True)
    assert not up.reaches(float("nan"), 4.0)
    assert not down.reaches(float("nan"), 4.0)
