"""One fold over the log: whoever lives through events and whoever reads them later know the same."""

from __future__ import annotations

import json
from itertools import product

import pytest

from aegisbo.errors import StudyError
from aegisbo.events import Asked, Created, Event, Opened, Retried, Widened, ended, read_event
from aegisbo.optimizer import Core, Settings
from aegisbo.outcome import Outcome
from aegisbo.study.known_then import before, choices
from aegisbo.study.state import State

SETTINGS = Settings.checked([(-5, 10), (2, 3)], strategy="random", seed=3).decided()
ENDINGS = {
    "value": Outcome("done", 1.5),
    "another value": Outcome("done", 2.5),
    "failure": Outcome("failed", reason="no"),
    "invalid": Outcome("invalid", reason="nan"),
    "too slow": Outcome("timed_out", reason="slow"),
    "lost": Outcome("lost", reason="died"),
}


def log(*events: Event) -> list[Event]:
    """The events as they are read from a file: each has been through JSON."""
    begun = (Created(SETTINGS.describe(), {}), Opened(1))
    return [
        read_event(id, event.kind, event.number, float(id), json.loads(json.dumps(event.body)))
        for id, event in enumerate((*begun, *events), start=1)
    ]


def asked(number: int, seen: int = 0) -> Asked:
    return Asked(number, {"x0": float(number), "x1": 2.5}, {"move": "random"}, {}, seen, 0.0)


@pytest.mark.parametrize("names", list(product(ENDINGS, repeat=3)), ids=" then ".join)
def test_the_first_value_decides_and_without_one_being_too_slow_and_then_the_first_failure(names) -> None:
    """However often a trial ends: of two who write at the same moment, either may come first."""
    values = [name for name in names if "value" in name]
    slow = [name for name in names if name == "too slow"]
    failures = [name for name in names if name in ("failure", "invalid")]
    decides = next(iter([*values, *slow, *failures]), None)
    events = [asked(0), *(ended(0, ENDINGS[name], 1.0) for name in names)]
    living = Core(SETTINGS)
    for event in events:
        living.apply(event)
    (trial,) = State.after(log(*events)).optimizer.trials
    assert (trial, trial.seconds) == (living.trial(0), living.trial(0).seconds)
    assert trial.state == ("pending" if decides is None else ENDINGS[decides].state)
    assert trial.value == (ENDINGS[decides].value if decides in values else None)


def test_a_choice_knew_all_choices_before_it_and_the_results_that_it_names() -> None:
    events = log(
        asked(0), asked(1), ended(1, Outcome("done", 1.0), 1.0), asked(2, seen=2), asked(3, seen=5), Retried([1])
    )
    assert [(each.asked.number, each.known, each.behind) for each in choices(events)] == [
        (0, 0, 0), (1, 0, 0), (2, 0, 1), (3, 1, 0),
    ]  # fmt: skip
    pending = [[trial.number for trial in past.pending] for _, past in before(events)]
    assert pending == [[], [0], [0, 1], [0, 2]]


def test_wider_bounds_keep_the_trials_and_drop_what_was_learned() -> None:
    wide = Settings.checked([(-9, 10), (2, 3)]).space
    learned = Asked(0, {"x0": 1.0, "x1": 2.5}, {"move": "random"}, {"phi": [1.0]}, 0, 0.0)
    events = log(learned, ended(0, Outcome("done", 1.0), 1.0), Widened(wide.describe()))
    narrow, now = State.after(events[:-1]), State.after(events)
    assert (narrow.optimizer.memory, now.optimizer.memory) == ({"phi": [1.0]}, {})
    assert now.settings.space == wide
    assert now.optimizer.trials == narrow.optimizer.trials
    assert now.optimizer.evidence().X[0] == pytest.approx(wide.to_unit({"x0": 1.0, "x1": 2.5}))


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (asked(7), "trial 0 comes next"),
        (ended(3, Outcome("done", 1.0), 1.0), "Trial 3 was never asked for"),
    ],
)
def test_an_event_that_makes_no_sense_after_those_before_it_is_refused(event: Event, why: str) -> None:
    with pytest.raises(StudyError, match=rf"damaged .*{why}.*restore it from a copy"):
        State.after(log(event))


@pytest.mark.parametrize(
    "event", log(asked(0), ended(0, ENDINGS["lost"], 0.5), Retried([0])), ids=lambda each: each.kind
)
def test_an_event_is_read_as_it_was_written(event: Event) -> None:
    assert read_event(event.id, event.kind, event.number, event.at, json.loads(json.dumps(event.body))) == event
    for name in event.body:
        if name not in ("note", "copy", "traceback", "began", "worker", "output", "sd", "details"):
            with pytest.raises(StudyError, match="restore it from a copy"):
                read_event(event.id, event.kind, event.number, event.at, {**event.body, name: object()})
