"""The event table: what was appended stays, readers never disturb, and no foreign or damaged file is touched."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from some_events import told

from aegisbo.errors import StudyError
from aegisbo.events import Asked, Event, Opened
from aegisbo.study import reading as events_module
from aegisbo.study import store as store_module
from aegisbo.study.file import APPLICATION, SCHEMA
from aegisbo.study.reading import read_events
from aegisbo.study.rows import Row
from aegisbo.study.store import Store


def quiet(text: str) -> None:
    raise AssertionError(f"nothing needs to be said here: {text}")


def filled(path: Path, events: int = 300) -> Path:
    """A closed study file of several pages."""
    with closing(Store(path, quiet)) as store:
        for number in range(events):
            store.append(told(number, "x" * 100))
    return path


def snapshot(folder: Path) -> dict[str, bytes]:
    """Which files there are and what they hold; the index that readers share holds nothing of its own."""
    return {file.name: b"" if file.name.endswith("-shm") else file.read_bytes() for file in folder.iterdir()}


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    before = snapshot(folder)
    yield
    assert snapshot(folder) == before


def drive(path: Path) -> None:
    """What every driver does first."""
    with closing(Store(path, quiet)) as store:
        store.events()
        store.append(Opened(1))


def assert_refused(path: Path, message: str) -> None:
    """Neither a driver nor a reader takes the file, and both leave everything as it was."""
    for attempt in (lambda: drive(path), lambda: read_events(path)):
        with unchanged(path.parent), pytest.raises(StudyError, match=message) as caught:
            attempt()
        assert str(path) in str(caught.value)


def test_events_come_back_in_order_with_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    note = {"ü": [1, 2.5, None, True], "tiny": 5e-324, "third": 1 / 3}
    written = [Opened(1), Asked(0, {}, note, {}, 0, 0.25), told(7)]
    with closing(Store(path, quiet)) as store:
        logged = [store.append(event) for event in written]
        assert [event.id for event in logged] == [1, 2, 3]
        assert store.events() == read_events(path) == logged
    with closing(Store(path, quiet)) as store:
        assert store.append(told(8)).id == 4
    events = read_events(path)
    assert [event.id for event in events] == [1, 2, 3, 4]
    assert [event.body for event in events] == [event.body for event in (*written, told(8))]
    assert [event.number for event in events[1:]] == [0, 7, 8]
    assert [event.at for event in events] == sorted(event.at for event in events)


def test_each_event_is_committed_when_append_returns(tmp_path: Path) -> None:
    """Seen through a connection of SQLite's own, which knows nothing of ours."""
    path = tmp_path / "run.db"
    with closing(Store(path, quiet)) as store, closing(sqlite3.connect(path)) as other:
        for number in range(5):
            store.append(told(number))
            assert other.execute("SELECT count(*) FROM events").fetchone() == (number + 1,)


def test_the_file_has_a_write_ahead_log_and_every_event_is_synced(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with closing(Store(path, quiet)) as store:
        store.append(told(0))
        assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert path.with_name("run.db-wal").stat().st_size > 0
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert other.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
        assert other.execute("PRAGMA user_version").fetchone() == (SCHEMA,)


def without_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SQLite lock by files, as it must on some network file systems: no shared memory, no write-ahead log."""
    connect = sqlite3.connect

    def by_dotfile(target: Any, *args: Any, uri: bool = False, **rest: Any) -> sqlite3.Connection:
        name = target if uri else Path(target).absolute().as_uri()
        return connect(f"{name}{'&' if '?' in name else '?'}vfs=unix-dotfile", *args, uri=True, **rest)

    monkeypatch.setattr(sqlite3, "connect", by_dotfile)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for a network file system is of SQLite on Unix")
def test_without_a_write_ahead_log_a_journal_is_synced_instead_and_the_user_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_shared_memory(monkeypatch)
    path, said = tmp_path / "run.db", []
    with closing(Store(path, said.append)) as store:
        assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)
        for number in range(5):
            store.append(told(number))
            assert len(read_events(path)) == number + 1
    assert len(said) == 1
    assert "without SQLite's write-ahead log" in said[0]
    assert sorted(snapshot(tmp_path)) == ["run.db"]


def test_several_threads_may_append(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    ids: dict[tuple[int, int], int] = {}
    with closing(Store(path, quiet)) as store:

        def work(thread: int) -> None:
            for k in range(25):
                ids[thread, k] = store.append(told(1000 * thread + k)).id

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    stored = {event.id: event.number for event in read_events(path)}
    assert stored == {id: 1000 * thread + k for (thread, k), id in ids.items()}
    assert sorted(stored) == list(range(1, 151))


@pytest.mark.long
def test_a_reader_sees_whole_events_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    writer = (
        "import sys; from pathlib import Path; from some_events import told; from aegisbo.study.store import Store\n"
        "store = Store(Path(sys.argv[1]), print)\n"
        "for number in range(300): store.append(told(number, 'x' * number))\n"
        "store.close()"
    )
    process = subprocess.Popen([sys.executable, "-c", writer, str(path)], cwd=Path(__file__).parent)
    lengths = []
    while process.poll() is None:
        if path.exists():
            events = read_if_begun(path)
            assert [event.number for event in events] == list(range(len(events)))
            assert all(len(event.outcome.output) == event.number for event in events)
            lengths.append(len(events))
    assert process.returncode == 0
    assert lengths == sorted(lengths)
    assert len(read_events(path)) == 300


def read_if_begun(path: Path) -> list[Event]:
    try:
        return read_events(path)
    except StudyError as error:
        if "holds nothing yet" in str(error):
            return []
        raise


def test_a_truncated_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    whole = filled(tmp_path / "whole.db").read_bytes()
    size = len(whole)
    for length in (
        1,
        15,
        16,
        17,
        99,
        100,
        101,
        512,
        4095,
        4096,
        4097,
        8192,
        size // 2,
        size - 4097,
        size - 4096,
        size - 1,
    ):
        folder = tmp_path / str(length)
        folder.mkdir()
        (folder / "run.db").write_bytes(whole[:length])
        assert_refused(folder / "run.db", "is not a study|damaged")


def test_a_truncated_write_ahead_log_costs_its_last_events_only(tmp_path: Path) -> None:
    """Whatever a crash of the machine leaves of the log, SQLite goes back to the last whole event."""
    original = tmp_path / "original"
    original.mkdir()
    with closing(Store(original / "run.db", quiet)) as store:
        for number in range(12):
            store.append(told(number, "x" * 500))
        size = (original / "run.db-wal").stat().st_size
        lengths = []
        for k, length in enumerate(range(size, 0, -size // 17)):
            copy = Path(shutil.copytree(original, tmp_path / str(k), ignore=shutil.ignore_patterns("*-shm")))
            os.truncate(copy / "run.db-wal", length)
            with closing(Store(copy / "run.db", quiet)) as after:
                numbers = [event.number for event in after.events()]
                assert numbers == list(range(len(numbers)))
                assert after.append(told(99)).id == len(numbers) + 1
            lengths.append(len(numbers))
    assert lengths[0] == 12
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == 0


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 1000)
    assert_refused(path, "is not a study")
    path.write_bytes(b"SQLite format 3\x00" + b"\x07" * 8192)
    assert_refused(path, "damaged|not a study")
    path.write_bytes(b"")
    assert_refused(path, "is empty: name another file, or delete it")


@pytest.mark.parametrize("content", [b"Dear diary, ", b"Dear diary, " * 1000, b"SQLite format 3\x00" + b"\x07" * 8192])
def test_nobody_is_told_to_delete_what_is_no_study(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StudyError) as caught:
        read_events(path)
    assert "delete it" not in str(caught.value)
    assert "name another file" in str(caught.value) or "restore it" in str(caught.value)


def test_a_log_of_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    """Not even an empty log or an index is made beside it."""
    path = tmp_path / "bookmarks.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE bookmarks (title TEXT)")
    assert_refused(path, "is not a study: name another file")


READ_AND_TEST = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("SELECT count(*) FROM events").fetchone()
connection.close()
"""

ADD = """
import sys
from pathlib import Path
from aegisbo.events import Added
from aegisbo.study.store import Store
store = Store(Path(sys.argv[1]), print, beside=True)
store.append(Added({}))
store.close()
"""


def test_a_reader_in_the_drivers_process_does_not_cost_the_driver_its_log(tmp_path: Path) -> None:
    """Closing any descriptor of a file drops the locks of its process, after which others may remove the log."""
    path = tmp_path / "run.db"
    with closing(Store(path, quiet)) as store:
        store.append(told(0))
        read_events(path)
        subprocess.run([sys.executable, "-c", READ_AND_TEST, str(path)], check=True)  # it would be the last to leave
        assert (tmp_path / "run.db-wal").exists()
        store.append(told(1))
    assert [event.number for event in read_events(path)] == [0, 1]


def test_a_log_that_is_removed_under_the_driver_costs_nothing(tmp_path: Path) -> None:
    """Because its own process has made a copy of the file, say: closing that drops SQLite's locks."""
    path = tmp_path / "run.db"
    with closing(Store(path, quiet)) as store:
        assert store.append(told(0)).id == 1
        store.news(0)
        path.read_bytes()
        subprocess.run([sys.executable, "-c", READ_AND_TEST, str(path)], check=True)
        assert not (tmp_path / "run.db-wal").exists()
        subprocess.run([sys.executable, "-c", ADD, str(path)], check=True)  # somebody writes meanwhile
        assert store.append(told(1)).id == 3
        assert [event.id for event in store.news(1)] == [2, 3]
        assert [event.number for event in read_events(path)] == [0, None, 1]  # as after a kill
        path.read_bytes()
        subprocess.run([sys.executable, "-c", READ_AND_TEST, str(path)], check=True)
        assert store.news(3) == []
        assert store.append(told(2)).id == 4
    assert [event.number for event in read_events(path)] == [0, None, 1, 2]


READ_SLOWLY = """
import sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM events").fetchone()
print(flush=True)
sys.stdin.readline()
"""


def test_a_reader_at_the_end_leaves_no_log_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else whoever copies the study file alone would miss its last events."""
    path = tmp_path / "run.db"
    store = Store(path, quiet)
    store.append(told(0))
    command = [sys.executable, "-c", READ_SLOWLY, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        monkeypatch.setattr(store_module.time, "sleep", lambda seconds: reader.communicate(b"\n"))
        store.close()
    assert [file.name for file in tmp_path.iterdir()] == ["run.db"]


def test_a_log_that_is_removed_at_the_moment_of_a_write_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.db"
    with closing(Store(path, quiet)) as store:
        insert = Store._insert

        def disturbed(self: Store, row: tuple[Any, ...]) -> int:
            event = insert(self, row)
            path.read_bytes()
            subprocess.run([sys.executable, "-c", READ_AND_TEST, str(path)], check=True)
            assert not (tmp_path / "run.db-wal").exists()
            return event

        monkeypatch.setattr(Store, "_insert", disturbed)
        assert [store.append(told(number)).id for number in range(2)] == [1, 2]
    assert [event.number for event in read_events(path)] == [0, 1]


def test_what_was_written_to_a_log_that_had_just_been_removed_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where another program reads the file meanwhile, SQLite cannot fold such a log into it."""
    path = tmp_path / "run.db"
    with closing(Store(path, quiet)) as store, ExitStack() as readers:
        insert = Store._insert

        def too_late(self: Store, row: tuple[Any, ...]) -> int:
            monkeypatch.setattr(Store, "_insert", insert)
            path.read_bytes()
            subprocess.run([sys.executable, "-c", READ_AND_TEST, str(path)], check=True)
            command = [sys.executable, "-c", READ_SLOWLY, str(path)]
            reader = readers.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            assert reader.stdout is not None
            reader.stdout.readline()
            return insert(self, row)

        assert store.append(told(0)).id == 1
        monkeypatch.setattr(Store, "_insert", too_late)
        assert store.append(told(1)).id == 2
    assert [event.number for event in read_events(path)] == [0, 1]


class Interrupted:
    """A connection at which Ctrl-C comes when a transaction is to be undone."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection, self._interrupted = connection, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, text: str, *values: Any) -> sqlite3.Cursor:
        if text == "ROLLBACK" and not self._interrupted:
            self._interrupted = True
            raise KeyboardInterrupt
        return self._connection.execute(text, *values)


def _write_and_fail(store: Store) -> None:
    store.append(told(0))
    raise StudyError("something went wrong")


def test_a_transaction_that_could_not_be_undone_is_undone_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with closing(Store(path, quiet)) as store:
        store._connection = Interrupted(store._connection)  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt), store.transaction():
            _write_and_fail(store)
        with store.transaction():
            store.append(told(1))
    assert [event.number for event in read_events(path)] == [1]


def test_a_driver_that_comes_while_the_file_is_read_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path / "run.db", 3)
    honest = events_module.events_in

    def slow(found: list[Row], file: Path) -> list[Event]:
        events = honest(found, file)
        monkeypatch.setattr(events_module, "events_in", honest)
        drive(path)
        return events

    monkeypatch.setattr(events_module, "events_in", slow)
    assert [event.kind for event in read_events(path)] == ["told"] * 3 + ["opened"]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.db").mkdir()
    for attempt in (lambda: Store(tmp_path / "run.db", quiet), lambda: read_events(tmp_path / "run.db")):
        with pytest.raises(StudyError, match="directory"):
            attempt()


def test_a_missing_file_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"There is no study file .*typo.db: check the name"):
        read_events(tmp_path / "typo.db")
    assert snapshot(tmp_path) == {}


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"nowhere/run.db: .*check that its folder exists"):
        Store(tmp_path / "nowhere" / "run.db", quiet)


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.db"
    with closing(sqlite3.connect(path)) as other:
        other.executescript(
            "CREATE TABLE events (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO events VALUES (1, 'a')"
        )
    assert_refused(path, "is not a study")


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = filled(tmp_path / "run.db", 3)
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    assert_refused(path, f"has schema {SCHEMA + 1}, this version knows {SCHEMA}: update aegisbo")


def test_a_study_of_version_0_1_is_refused_with_a_way_to_keep_its_results(tmp_path: Path) -> None:
    path = filled(tmp_path / "run.db", 3)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version = 1")
    assert_refused(path, "has schema 1, of aegisbo 0.1 or a preview of 0.2, which this version does not read: export")


@contextmanager
def protected(path: Path) -> Iterator[None]:
    """Nobody may write to the file or into the folder, not even root, for whom permissions mean nothing."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root and (
        shutil.which("chattr") is None or subprocess.run(["chattr", "+i", path], capture_output=True).returncode
    ):
        pytest.skip("root may write anywhere, and this file system has no immutable files")
    mode = path.stat().st_mode
    if not root:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        if root:
            subprocess.run(["chattr", "-i", path], check=True)
        else:
            path.chmod(mode)


def test_a_read_only_file_can_be_read_but_not_driven(tmp_path: Path) -> None:
    path = filled(tmp_path / "run.db", 3)
    with protected(path):
        with unchanged(tmp_path), pytest.raises(StudyError, match="check its permissions"):
            drive(path)
        with unchanged(tmp_path):
            assert len(read_events(path)) == 3


def test_a_read_only_folder_can_be_read_but_not_driven(tmp_path: Path) -> None:
    path = filled(tmp_path / "run.db", 3)
    with protected(tmp_path):
        with unchanged(tmp_path), pytest.raises(StudyError, match=r"permissions|can be written to"):
            drive(path)
        with unchanged(tmp_path), pytest.raises(StudyError, match="can be written to"):
            drive(tmp_path / "new.db")
        with unchanged(tmp_path):
            assert len(read_events(path)) == 3


def test_a_read_only_folder_with_an_unfinished_log_is_read_to_its_last_event(tmp_path: Path) -> None:
    live, copy = tmp_path / "live", tmp_path / "copy"
    live.mkdir()
    with closing(Store(live / "run.db", quiet)) as store:
        store.append(told(0))
        shutil.copytree(live, copy)  # what a killed driver leaves
    with protected(copy), unchanged(copy):
        assert len(read_events(copy / "run.db")) == 1


def test_a_read_only_folder_where_a_log_cannot_be_read_is_named_and_the_log_not_blamed(tmp_path: Path) -> None:
    live, copy = tmp_path / "live", tmp_path / "copy"
    live.mkdir()
    with closing(Store(live / "run.db", quiet)) as store:
        store.append(told(0))
        store.fold()
        store.append(told(1))
        shutil.copytree(live, copy, ignore=shutil.ignore_patterns("*-shm"))  # the index, which SQLite has to make again
    with protected(copy), unchanged(copy), pytest.raises(StudyError, match="can be written to"):
        read_events(copy / "run.db")


def test_a_full_disk_is_said_and_what_was_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with closing(Store(path, quiet)) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        written: list[int] = []
        with pytest.raises(StudyError, match="the disk is full: make room and run the same call again"):
            written.extend(append_many(store))
    assert [event.number for event in read_events(path)] == written
    with closing(Store(path, quiet)) as store:
        assert store.append(told(0)).id == len(written) + 1


def append_many(store: Store) -> Iterator[int]:
    for number in range(10_000):
        store.append(told(number, "x" * 400))
        yield number


@pytest.mark.skipif(os.name == "nt", reason="file-size limits are of Unix")
def test_a_file_size_limit_is_said_and_what_was_written_stays(tmp_path: Path) -> None:
    script = """
import resource, sys
from pathlib import Path
from aegisbo.errors import StudyError
from aegisbo.study.store import Store
from some_events import told
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
store = Store(Path(sys.argv[1]), print)
try:
    for number in range(10_000):
        store.append(told(number, "x" * 400))
except StudyError as error:
    print(number, error)
store.close()
"""
    path = tmp_path / "run.db"
    done = subprocess.run(
        [sys.executable, "-c", script, path],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=Path(__file__).parent,
    )
    written, _, message = done.stdout.partition(" ")
    assert int(written) > 0
    assert f"Study file {path}: " in message
    assert "make room" in message
    assert [event.number for event in read_events(path)] == list(range(int(written)))


KILLED_WHILE_MAKING = """
import os, signal, sys
from pathlib import Path
from aegisbo.events import Created
from aegisbo.study.store import Store

STEPS = {"connect", "execute", "executescript", "close", "unlink", "replace"}

def make(path, last):
    calls = 0
    def watch(frame, event, arg):
        nonlocal calls
        calls += event in ("c_call", "c_return") and arg.__name__ in STEPS
        if calls > last:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.setprofile(watch)
    Store(path, print)
    os._exit(0)

for last in range(1000):
    folder = Path(sys.argv[1], str(last))
    folder.mkdir()
    child = os.fork() or make(folder / "run.db", last)
    survived = os.waitpid(child, 0)[1] == 0
    store = Store(folder / "run.db", print)
    assert store.append(Created({}, {})).id == 1
    store.close()
    drafts = [file for file in folder.iterdir() if file.suffix == ".new"]  # whose names nobody else has
    assert [file.name for file in folder.iterdir() if file not in drafts] == ["run.db"], list(folder.iterdir())
    assert len(drafts) <= 1 - survived, drafts
    if survived:
        break
print(last)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the kills need fork")
def test_a_driver_killed_while_it_makes_the_file_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    """Killed before and after every call to SQLite or the file system."""
    command = [sys.executable, "-c", KILLED_WHILE_MAKING, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""
    assert int(done.stdout) >= 16


def test_a_new_study_touches_no_file_of_the_user(tmp_path: Path) -> None:
    theirs = {name: tmp_path / name for name in ("run.db.new", "run.db.draft", "run.new", "run.db~")}
    for name, file in theirs.items():
        file.write_text(f"the user's {name}")
    with closing(Store(tmp_path / "run.db", quiet)) as store:
        store.append(told(0))
    assert {file.name for file in tmp_path.iterdir()} == {"run.db", *theirs}
    assert [file.read_text() for file in theirs.values()] == [f"the user's {name}" for name in theirs]
