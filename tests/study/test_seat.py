"""Who caused an event is kept, and an adviser's seat can use up its share of the evaluations, and no more."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from driven import ask
from numpy.random import Generator

from aegisbo import Optimizer, load
from aegisbo.address import place_of
from aegisbo.errors import InvalidInput, TrialError
from aegisbo.events import Added, Changed, Forgotten, Retried, read_event
from aegisbo.integrations.mcp_rights import Rights
from aegisbo.integrations.mcp_tools import Desk
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.review.record import Record
from aegisbo.strategies.base import Evidence, Memory, Suggestion
from aegisbo.study import Study, add, change, forget, retry
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.seat import Seat
from aegisbo.study.store import Store

BOX = [(-5, 10), (2, 3)]
SETTINGS = Settings.checked(BOX, strategy="random", seed=7)
GUEST = Seat("guest", 0.2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A study of nine trials at rest; the last one failed."""
    with Study.open(tmp_path / "run.db", SETTINGS) as study:
        for number in range(9):
            ask(study, 0.0)
            study.take_in(study.ended(number, Outcome("done", 1.5 + number), 0.1))
        study.closed("Enough.", [])
    return tmp_path / "run.db"


def go_on(path: Path, count: int, outcome: Outcome | None = None) -> None:
    with Study.open(path, SETTINGS) as study:
        for _ in range(count):
            trial = ask(study, 0.0)
            study.take_in(study.ended(trial.number, outcome or Outcome("done", 9.0), 0.1))
        study.closed("Enough.", [])


def test_an_adviser_cannot_pass_for_the_user_or_a_move(path: Path) -> None:
    add(path, [1.0, 2.5], author=Seat("user", 0.5))
    add(path, [2.0, 2.5], author=Seat("added", 0.5))
    told = [event.body["author"] for event in read_events(path) if event.kind == "added"]
    assert told == ["adviser user", "adviser added"]


def test_an_adviser_cannot_forget_what_a_strategy_has_chosen_whatever_its_note_says(tmp_path: Path) -> None:
    class Mine:
        def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
            return Suggestion(rng.random(2), note={"move": "mine", "share": 0.3})

    mine = Settings.checked(BOX, strategy=Mine(), seed=7, n_initial=1)
    with Study.open(tmp_path / "mine.db", mine) as study:
        for number in range(8):
            ask(study, 0.0)
            study.take_in(study.ended(number, Outcome("done", 1.5 + number), 0.1))
        study.closed("Enough.", [])
    assert load(tmp_path / "mine.db").trials[-1].note["share"] == 0.3
    with pytest.raises(InvalidInput, match="Trial 7: an adviser can forget only trials that advisers have added"):
        forget(tmp_path / "mine.db", [7], author=Seat("guest", 0.5))


def test_an_event_without_an_author_is_written_as_it_always_was() -> None:
    assert Added({"x0": 1.0}).body == {"params": {"x0": 1.0}}
    assert Changed({"budget": 3.0}).body == {"changes": {"budget": 3.0}}
    assert Retried([3]).body == Forgotten([3]).body == {"numbers": [3]}


def test_an_author_is_written_read_and_told_everywhere(path: Path) -> None:
    add(path, [1.0, 2.5], author="ann")
    add(path, [2.0, 2.5])
    change(path, budget=30, author="ann")
    go_on(path, 3)
    retry(path, [9], author="bob")
    forget(path, [0], author="bob")
    told = [event.body.get("author") for event in read_events(path) if event.kind in ("added", "set", "retried")]
    assert told == ["ann", None, "ann", "bob"]
    trials = load(path).trials
    assert [trial.author for trial in trials[8:]] == ["random", "ann", "user", "random"]
    assert [row.get("author") for row in Record.of_study(path).table[8:]] == [None, "ann", "user", None]
    authors = load(path).to_pandas()["author"]
    assert list(authors[8:].astype(object).where(authors[8:].notna(), None)) == [None, "ann", "user", None]
    assert replay(path).faithful
    assert "added by ann" in repr(load(path).explain(9))


def test_an_optimizer_keeps_the_author_of_a_point_that_waits() -> None:
    optimizer = Optimizer(BOX, seed=0, n_initial=0)
    optimizer.add([1.0, 2.5], author="ann")
    optimizer.add([2.0, 2.5])
    again = Optimizer.from_state(json.loads(json.dumps(optimizer.state())))
    for one in (optimizer, again):
        assert [one.ask().author for _ in range(2)] == ["ann", "user"]
        assert one.trial(0).note == {"move": "added", "author": "ann"}
    assert "added_by" not in again.state()


@pytest.mark.parametrize("name", ["", " ", "a" * 61, "two\nlines", 3, "\x1b[31m"])
def test_a_name_that_cannot_be_one_is_refused(path: Path, name: Any) -> None:
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=r"author is .*: give a name of 1 to 60 printable characters"):
        add(path, [1.0, 2.5], author=name)
    assert path.read_bytes() == before


@pytest.mark.parametrize("body", [{"author": 3}, {"share": "all"}, {"share": float("inf")}])
def test_a_damaged_author_is_noticed(body: dict[str, Any]) -> None:
    with pytest.raises(Exception, match="The study is damaged"):
        read_event(1, "added", None, 0.0, {"params": {}, **body})


def test_a_seat_has_its_share_and_no_more(path: Path) -> None:
    for x in (1.0, 2.0):  # of 9 and these, 2.2 may be its
        add(path, [x, 2.5], author=GUEST)
    with pytest.raises(InvalidInput) as refused:
        add(path, [3.0, 2.5], author=GUEST)
    assert str(refused.value) == (
        "The share of advisers is used up: they may use up 20% of the evaluations. 11 have begun or wait, 2 of these "
        "are used up, and this takes 1 more, so wait until 15 have begun."
    )
    with pytest.raises(InvalidInput, match="used up"):  # under whatever name
        add(path, [3.0, 2.5], author=Seat("another", 0.2))
    with pytest.raises(InvalidInput, match="used up"):
        change(path, budget=50, author=GUEST)
    add(path, [3.0, 2.5], author="ann")  # who has no seat, and no bound
    assert load(path).optimizer.waiting[-1] == {"x0": 3.0, "x1": 2.5}
    go_on(path, 5)
    assert load(path).trials[9].note == {"move": "added", "author": "guest", "share": 0.2}
    change(path, budget=50, author=Seat("guest", 0.3))
    assert [event.share for event in read_events(path) if isinstance(event, Changed)] == [0.3]


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "half", None])
def test_a_share_is_a_part(share: Any) -> None:
    with pytest.raises(InvalidInput, match=r"share is .*: give a part of the evaluations, from 0 to 1"):
        Seat("guest", share)


def test_no_share_is_for_looking_only(path: Path) -> None:
    with pytest.raises(InvalidInput, match="this takes 1 more, so an adviser may only look"):
        add(path, [1.0, 2.5], author=Seat("guest", 0.0))


def test_a_seat_takes_no_result_away_from_others(path: Path) -> None:
    go_on(path, 2, Outcome("failed", reason="ValueError: no"))
    generous = Seat("guest", 1.0)
    refused: list[tuple[Callable[..., Any], str]] = [
        (forget, "an adviser can forget only trials that advisers have added"),
        (retry, "an adviser can retry only trials that have ended without a value"),
    ]
    for deed, rule in refused:
        with pytest.raises(InvalidInput, match=f"Trial 3, 4: {rule}. Leave them out."):
            deed(path, [3, 4], author=generous)
    assert retry(path, author=GUEST) == (9, 10)  # which are two of the eleven
    with pytest.raises(InvalidInput, match="used up"):
        add(path, [1.0, 2.5], author=GUEST)
    with pytest.raises(TrialError):
        retry(path, [99], author=generous)


def test_a_seat_may_forget_what_it_added_and_does_not_get_it_back(path: Path) -> None:
    add(path, [1.0, 2.5], author=GUEST)
    go_on(path, 1)
    assert forget(path, [9], author=GUEST) == (9,)
    with pytest.raises(InvalidInput, match="10 have begun or wait, 2 of these are used up"):
        add(path, [2.0, 2.5], author=GUEST)


def test_what_is_refused_leaves_no_event(path: Path) -> None:
    with closing(Store(path, print, beside=True)) as store:
        before = len(list(store.events()))
        for x0, x1 in ((1.0, 99.0), (float("nan"), 2.5)):
            with pytest.raises(InvalidInput):
                add(path, [x0, x1], author=GUEST)
        assert len(list(store.events())) == before


def test_clients_that_ask_at_the_same_moment_share_what_is_left_also_on_a_server(place: str) -> None:
    with Study.open(place, SETTINGS) as study:
        for number in range(9):
            ask(study, 0.0)
            study.take_in(study.ended(number, Outcome("done", 1.5), 0.1))
        study.closed("Enough.", [])

    def taken(x: float) -> bool:
        try:
            add(place, [x, 2.5], author=Seat(f"guest {x}", 0.3))
        except InvalidInput:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(taken, range(8))) == 3  # of nine and these, 3.6 are three tenths
    told = Desk(place_of(place), Rights.of(["add"]), 0.3).call("status", "guest", {})["share"]
    assert told == {"of_all_evaluations": 0.3, "used_up_by_advisers": 3, "left_now": 0}
