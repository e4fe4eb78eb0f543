"""A copy that was suspended: in the middle of a write it holds the file, in its turn the choices of all others."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from shared_copies import Hall
from some_events import told

from aegisbo.errors import StudyError
from aegisbo.study import lock as lock_module
from aegisbo.study import store as store_module
from aegisbo.study.lock import PATIENCE, DriverLock
from aegisbo.study.store import HASTE, LONG, NOTICE, Store


@dataclass
class Clock:
    """Time that passes in sleep only, at least a step each time."""

    now: float = 0.0
    step: float = 1.0
    tick: Callable[[float], None] = lambda now: None  # is told what time it is

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, self.step)
        self.tick(self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    module = SimpleNamespace(monotonic=clock.monotonic, sleep=clock.sleep, time=time.time, strftime=time.strftime)
    monkeypatch.setattr(store_module, "time", module)
    monkeypatch.setattr(store_module, "monotonic", clock.monotonic)
    monkeypatch.setattr(store_module, "ATTEMPT", 0.0)
    monkeypatch.setattr(lock_module, "time", module)
    return clock


class TestDuringAWrite:
    @pytest.fixture
    def said(self) -> list[str]:
        return []

    @pytest.fixture
    def store(self, tmp_path: Path, clock: Clock, said: list[str]) -> Iterator[Store]:
        with closing(Store(tmp_path / "run.db", said.append, shared=True)) as store:
            yield store

    @pytest.fixture
    def holder(self, store: Store) -> Iterator[sqlite3.Connection]:
        """Another connection that has begun to write, and does not go on."""
        with closing(sqlite3.connect(store.path, 0.0, isolation_level=None)) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            yield holder

    def test_others_wait_say_so_once_and_go_on(
        self, store: Store, holder: sqlite3.Connection, clock: Clock, said: list[str]
    ) -> None:
        clock.tick = lambda now: holder.execute("COMMIT") if now == 3600.0 else None  # type: ignore[assignment]
        with store.transaction():
            store.append(told(0))
        assert [event.kind for event in store.events()] == ["told"]
        assert clock.now == store.waited == 3600.0
        (sentence,) = said
        assert sentence.startswith(f"{store.path}: process ")
        assert f" on this machine has held it for {NOTICE + 1:g} seconds and may be suspended: " in sentence
        assert sentence.endswith("This copy waits for it, 24 hours at most.")

    def test_what_takes_its_time_is_not_worth_a_word(
        self, store: Store, holder: sqlite3.Connection, clock: Clock, said: list[str]
    ) -> None:
        clock.tick = lambda now: holder.execute("COMMIT") if now == NOTICE - 1 else None  # type: ignore[assignment]
        assert store.events() == []
        assert said == []

    def test_nobody_waits_for_ever(self, store: Store, holder: sqlite3.Connection, clock: Clock) -> None:
        clock.step = 600.0
        with pytest.raises(StudyError, match="What this copy has not written yet is lost"), store.transaction():
            pass
        assert clock.now == LONG + clock.step

    def test_who_has_been_told_to_end_waits_for_a_moment_only(
        self, store: Store, holder: sqlite3.Connection, clock: Clock
    ) -> None:
        clock.tick = lambda now: store.hurry() if now == 100.0 else None
        for seconds in (100.0 + HASTE + 1.0, 100.0 + HASTE + 2.0):  # one who waits, and what is still to be written
            with pytest.raises(StudyError, match="may be suspended"):
                store.beats()
            assert clock.now == seconds

    def test_the_time_in_which_nobody_could_beat_counts_against_nobody(self, tmp_path: Path) -> None:
        with closing(Hall(tmp_path / "hall.db")) as hall:
            one, other = hall.copy(), hall.copy()
            trial = one.ask()
            assert trial is not None
            assert other.ask() is not None  # and has seen that the first one is there
            hall.now += 100 * hall.lease
            other._store.waited += 99.5 * hall.lease
            following = other.ask()
            assert following is not None
            assert following.number == 2  # a new one
            hall.now += hall.lease
            taken = other.ask()
            assert taken is not None
            assert taken.number == trial.number  # now it has been silent for too long


class TestInItsTurn:
    @pytest.fixture
    def holder(self, monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
        """Which process has the turn, if any."""
        holder: list[int | None] = [None]
        real = lock_module._holder_of
        monkeypatch.setattr(
            lock_module, "_holder_of", lambda file, byte=None: real(file) if byte is None else holder[0]
        )
        return holder

    def test_it_costs_others_their_patience_once(
        self, tmp_path: Path, clock: Clock, holder: list[int | None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said: list[str] = []
        with DriverLock(tmp_path / "run.db", shared=True, say=said.append) as lock:
            monkeypatch.setattr(lock_module, "_locked", lambda *place, **options: holder[0] is None)

            def seconds_for_a_turn() -> float:
                before = clock.now
                with lock.turn():
                    return clock.now - before

            assert seconds_for_a_turn() == 0.0
            holder[0] = 77
            assert [seconds_for_a_turn() for _ in range(4)] == [PATIENCE, 0.0, 0.0, 0.0]
            holder[0] = 78  # the first one went on, and now another one is suspended
            assert [seconds_for_a_turn() for _ in range(2)] == [PATIENCE, 0.0]
            holder[0] = None
            assert seconds_for_a_turn() == 0.0
            holder[0] = 78  # the same one again, after its turn was over
            assert seconds_for_a_turn() == PATIENCE
            holder[0] = None
            monkeypatch.undo()
        assert [f"process {pid} on this machine has been choosing for 60 seconds" in text
                for pid, text in zip((77, 78, 78), said, strict=True)] == [True] * 3  # fmt: skip
