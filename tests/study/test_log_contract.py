"""What a log promises wherever it lies: each test runs on a file and, among the long ones, on a server."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import aegisbo
from aegisbo.address import Place, place_of
from aegisbo.errors import StudyError
from aegisbo.events import Added, Asked, Changed, Created, Ended, Event
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.study import Study, add, change, forget, retry
from aegisbo.study.copying import copy
from aegisbo.study.lock import is_driven
from aegisbo.study.opening import Lock, Log, beside, driving
from aegisbo.study.reading import exists, read_events, read_rows
from aegisbo.study.replay import replay

BOX = {"u": (-5.0, 10.0), "v": (2.0, 3.0)}
CREATED = Created(Settings.checked(BOX, seed=1).decided().describe(), {"aegisbo": "0"})
FULL = Outcome(
    "done", 0.1 + 0.2, seconds=1e-9, began=1.7e9 + 1 / 3, output="Zeile: \u20ac \N{SNOWMAN} \0 \x1b[1m\n" * 3
)


@pytest.fixture
def where(place: str) -> Place:
    return place_of(place)


@pytest.fixture
def driven(where: Place) -> Iterator[tuple[Log, Lock]]:
    with driving(where, print) as both:
        yield both


def asked(number: int) -> Asked:
    return Asked(number, {"u": number / 3, "v": 2.5}, {"move": "initial"}, {}, 1, 0.1)


def fun(u: float, v: float) -> float:
    return (u - 2.0) ** 2 + 3.0 * v


def test_events_come_back_as_they_were_written(driven: tuple[Log, Lock], where: Place) -> None:
    log, _ = driven
    given: list[Event] = [CREATED, asked(0), Ended(0, FULL), Changed({"budget": 9}), Added({"u": 1e-300, "v": 2.0})]
    written = [log.append(event) for event in given]
    assert [event.id for event in written] == [1, 2, 3, 4, 5]
    assert log.events() == written == read_events(where)
    assert log.events(3) == written[3:]
    assert [event.body for event in written] == [event.body for event in given]
    assert all(abs(event.at - time.time()) < 3600 for event in written)


def test_what_a_transaction_did_is_there_whole_or_not_at_all(driven: tuple[Log, Lock], where: Place) -> None:
    log, _ = driven
    log.append(CREATED)
    with pytest.raises(ZeroDivisionError), log.transaction():
        log.append(asked(0)), log.append(asked(1)).number / 0
    assert [event.kind for event in read_events(where)] == ["created"]
    with log.transaction():
        assert [log.append(asked(number)).id for number in range(3)] == [2, 3, 4]
    assert [event.number for event in log.events(1)] == [0, 1, 2]


def test_many_threads_append_one_after_the_other(driven: tuple[Log, Lock], where: Place) -> None:
    log, _ = driven
    log.append(CREATED)
    threads = [
        threading.Thread(target=lambda k=k: [log.append(asked(10 * k + i)) for i in range(10)]) for k in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = read_events(where)
    assert [event.id for event in events] == [*range(1, 52)]
    assert sorted(event.number for event in events[1:]) == [*range(50)]


def test_news_are_what_others_write(driven: tuple[Log, Lock], where: Place) -> None:
    log, _ = driven
    last = log.append(CREATED).id
    log.news(last)
    assert log.news(last) == []
    with closing(beside(where)) as other, other.transaction():
        other.append(Changed({"budget": 7}))
    assert eventually(lambda: [event.body for event in log.news(last)]) == [{"changes": {"budget": 7}}]
    assert log.news(last + 1) == []


def eventually(look):
    while not (found := look()):
        time.sleep(0.01)
    return found


def test_who_drives_keeps_others_out(where: Place) -> None:
    with driving(where, print) as (log, _):
        log.append(CREATED)
        assert is_driven(where)
        for shared in (False, True):
            with pytest.raises(StudyError, match="being driven by"), driving(where, print, shared=shared):
                pass
    assert not is_driven(where)
    with (
        driving(where, print, shared=True),
        driving(where, print, shared=True) if where_is_server(where) else closing(beside(where)),
    ):
        assert is_driven(where)
        if where_is_server(where):
            with pytest.raises(StudyError, match="being driven by copies"), driving(where, print):
                pass
    assert not is_driven(where)


def where_is_server(where: Place) -> bool:
    return not isinstance(where, Path)


def test_signs_of_life(where: Place) -> None:
    with driving(where, print, shared=True) as (log, _):
        assert log.silences() == {}
        log.beat(7)
        log.beat(8)
        assert log.silences().keys() == {7, 8}
        assert all(0.0 <= seconds < 3600.0 for seconds in log.silences().values())
        log.stop_beating(7)
        assert log.silences().keys() == {8}


def test_a_missing_study(where: Place) -> None:
    assert not exists(where)
    assert not is_driven(where)
    for look in (read_events, aegisbo.load, lambda place: add(place, [1, 2]), lambda place: retry(place)):
        with pytest.raises(StudyError, match="There is no study"):
            look(where)
    assert not exists(where)


def test_a_run_is_the_same_wherever_it_is_written_down(where: Place, tmp_path: Path) -> None:
    plain = aegisbo.minimize(fun, BOX, budget=12, workers=1, executor="serial", seed=4)
    named = aegisbo.minimize(fun, BOX, budget=9, workers=1, executor="serial", seed=4, study=where)
    named = aegisbo.minimize(fun, BOX, budget=12, workers=1, executor="serial", seed=4, study=where)
    assert [trial.params for trial in named.trials] == [trial.params for trial in plain.trials]
    assert (named.x, named.fun, named.study) == (plain.x, plain.fun, where)
    assert replay(where).faithful
    loaded = aegisbo.load(where)
    assert (loaded.x, loaded.nfev, loaded.message) == (plain.x, 12, "The budget is spent.")


def test_changes_from_outside(where: Place) -> None:
    aegisbo.minimize(fun, BOX, budget=4, executor="serial", seed=4, study=where)
    assert add(where, {"u": 1.5, "v": 2.25}) == {"u": 1.5, "v": 2.25}
    assert change(where, budget=6) == {"budget": 6}
    assert retry(where, [1]) == (1,)
    assert forget(where, [2]) == (2,)
    result = aegisbo.minimize(fun, BOX, budget=4, executor="serial", seed=4, study=where)
    assert result.nfev == 6
    assert [trial.state for trial in result.trials] == ["done", "done", "forgotten", *["done"] * 4]
    assert {"u": 1.5, "v": 2.25} in [trial.params for trial in result.trials]
    assert replay(where).faithful


def test_results_of_an_earlier_run(where: Place) -> None:
    aegisbo.minimize(fun, BOX, budget=4, executor="serial", seed=4, study=where)
    later = aegisbo.minimize(fun, BOX, budget=1, executor="serial", seed=5, observed=where)
    assert [trial.value for trial in later.optimizer.observed] == [trial.value for trial in aegisbo.load(where).trials]
    with pytest.raises(aegisbo.errors.InvalidInput, match="is the study itself"):
        aegisbo.minimize(fun, BOX, budget=9, executor="serial", seed=4, study=where, observed=where)


def test_a_copy_there_and_back_is_the_same_to_the_last_byte(where: Place, tmp_path: Path) -> None:
    aegisbo.minimize(fun, BOX, budget=8, executor="serial", seed=4, study=where)
    first, second = tmp_path / "there.db", tmp_path / "again.db"
    assert copy(where, first) == len(read_rows(where))
    assert read_rows(first) == read_rows(where)
    if where_is_server(where):
        back = place_of(str(where) + "-back")
        copy(first, back)
        assert read_rows(back) == read_rows(where)
    copy(first, second)
    assert read_rows(second) == read_rows(where)
    assert replay(second).faithful
    assert aegisbo.minimize(fun, BOX, budget=9, executor="serial", seed=4, study=second).nfev == 9
    for target in (first, where):
        with pytest.raises(StudyError, match="exists already"):
            copy(second, target)


def test_another_run_is_refused(where: Place) -> None:
    aegisbo.minimize(fun, BOX, budget=2, executor="serial", seed=4, study=where)
    with pytest.raises(StudyError, match="holds another run: "):
        Study.open(where, Settings.checked({"u": (-5.0, 10.0)}, seed=4))
