"""One driver at a time, named to the others; whatever kills it frees the study."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Barrier, Event, Thread
from time import sleep
from types import SimpleNamespace

import pytest

import aegisbo
from aegisbo import errors
from aegisbo.errors import AegisError, StudyError
from aegisbo.study import lock
from aegisbo.study.lock import DriverLock, is_driven

HOLDER = """
import os, sys, time
from pathlib import Path
from aegisbo.study.lock import DriverLock
with DriverLock(Path(sys.argv[1])):
    child = os.fork() if "fork" in sys.argv else -1
    if child == 0:
        time.sleep(600)
    print(child, flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_elsewhere(path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Another process that holds the lock until its input ends, and the pid of its child, if it made one."""
    command = [sys.executable, "-c", HOLDER, str(path), *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


def test_a_second_driver_is_told_who_the_first_is(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with held_elsewhere(path) as (holder, _):
        with pytest.raises(StudyError, match="is being driven by another process") as caught, DriverLock(path):
            pass
        message = str(caught.value)
        assert str(path) in message
        assert f"(process {holder.pid} on {socket.gethostname()}, since 20" in message
        assert "wait for it, or use another file" in message
        holder.communicate()  # it ends in good order
    assert list(tmp_path.iterdir()) == []
    with DriverLock(path):
        pass


def test_a_kill_frees_the_study_also_while_children_of_the_killed_live_on(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with held_elsewhere(path, "fork") as (holder, child):
        holder.kill()
        holder.wait()
        try:
            os.kill(child, 0)  # it is alive, and has the file open
            with DriverLock(path):
                assert f'"pid": {os.getpid()}' in (tmp_path / "run.db.driver").read_text()
        finally:
            os.kill(child, signal.SIGKILL)
    assert list(tmp_path.iterdir()) == []


def test_the_same_process_cannot_drive_a_study_twice(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with DriverLock(path):
        with pytest.raises(StudyError, match="already being driven by this process"), DriverLock(path):
            pass
        alias = tmp_path / "alias.db"
        alias.symlink_to(path)
        with pytest.raises(StudyError, match="already being driven by this process"), DriverLock(alias):
            pass
        command = [sys.executable, "-c", HOLDER, str(path)]  # the refusals did not let go of the lock
        refused = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert f"driven by another process (process {os.getpid()} on" in refused.stderr
    with DriverLock(path):
        pass


def test_a_lock_is_free_after_an_error_under_it(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), DriverLock(tmp_path / "run.db"):
        raise ZeroDivisionError
    with DriverLock(tmp_path / "run.db"):
        pass


def test_a_lock_file_without_a_name_in_it_is_still_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with held_elsewhere(path):
        os.truncate(tmp_path / "run.db.driver", 0)
        with pytest.raises(StudyError, match=r"driven by another process: wait for it"), DriverLock(path):
            pass


def test_a_lock_whose_name_cannot_be_written_is_still_a_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "run.db"
    with monkeypatch.context() as disk:
        disk.setattr(os, "pwrite", full)
        with DriverLock(path), pytest.raises(StudyError, match="by this process"), DriverLock(path):
            pass
    with DriverLock(path):
        pass


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(StudyError, match=r"no file can be made in its folder \(No such file or directory\)"),
        DriverLock(tmp_path / "nowhere" / "run.db"),
    ):
        pass


COUNTER = """
import sys, time
from pathlib import Path
from threading import Barrier, Thread
from time import sleep
from types import SimpleNamespace
import aegisbo
from aegisbo import errors
from aegisbo.errors import AegisError, StudyError
from aegisbo.study.lock import DriverLock
path, rounds = Path(sys.argv[1]), int(sys.argv[2])
while rounds:
    try:
        with DriverLock(path):
            count = int(path.read_text())
            time.sleep(0.001)
            path.write_text(str(count + 1))
        rounds -= 1
    except StudyError:
        time.sleep(0.001)
"""


@pytest.mark.long
def test_never_two_drivers_at_once_however_they_come_and_go(tmp_path: Path) -> None:
    """Each adds one to a number, which two at a time would get wrong; leaving deletes the lock file under others."""
    path = tmp_path / "count"
    path.write_text("0")
    drivers = [subprocess.Popen([sys.executable, "-c", COUNTER, str(path), "40"]) for _ in range(3)]
    assert [driver.wait(120) for driver in drivers] == [0, 0, 0]
    assert path.read_text() == "120"


def test_a_system_without_record_locks_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "os", SimpleNamespace(name="nt"))
    message = "Study files need Linux or macOS, this is nt: use WSL, or an Optimizer with a loop of your own."
    with pytest.raises(AegisError) as caught:
        aegisbo.minimize(sum, [(-5, 10), (2, 3)], budget=2, executor="serial", study=tmp_path / "run.db")
    assert str(caught.value) == message
    assert list(tmp_path.iterdir()) == []


def test_two_threads_never_have_the_lock_at_once(tmp_path: Path) -> None:
    inside: list[int] = []
    most = []

    def drive(path: Path, start: Barrier) -> None:
        start.wait()
        with suppress(StudyError), DriverLock(path):
            inside.append(1)
            sleep(0.002)
            most.append(len(inside))
            inside.pop()

    for attempt in range(100):
        start = Barrier(2)
        threads = [Thread(target=drive, args=(tmp_path / f"{attempt}.db", start)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert max(most) == 1
    assert len(most) >= 100  # in every attempt at least one had it


def test_a_look_in_another_thread_does_not_take_the_lock_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing any descriptor of the lock's file drops this process's lock: nobody may look while it is being taken."""
    path, looking, taken = tmp_path / "run.db", Event(), Event()
    plain = os.open

    def slow(file: Path, flags: int, *mode: int) -> int:
        if flags == os.O_RDONLY:
            looking.set()
            taken.wait(1.0)  # as long as it takes to be preempted
        return plain(file, flags, *mode)

    monkeypatch.setattr(lock.os, "open", slow)
    (tmp_path / "run.db.driver").touch()
    look = Thread(target=is_driven, args=(path,))
    look.start()
    looking.wait()
    with DriverLock(path):
        taken.set()
        look.join()
        second = subprocess.run(
            [sys.executable, "-c", HOLDER, str(path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert "is being driven by another process" in second.stderr


@pytest.mark.parametrize("content", ["Dear diary", "[1, 2]", '{"title": "my driver"}', " \n"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_file_of_the_user_in_the_place_of_the_lock_is_left_alone(tmp_path: Path, content: str, shared: bool) -> None:
    """Nothing is made either: the study itself would be."""
    theirs = tmp_path / "run.db.driver"
    theirs.write_text(content)
    with pytest.raises(StudyError, match=r"run\.db\.driver is in the way.*rename it, or use another name"):
        aegisbo.minimize(sum, [(-5, 10), (2, 3)], budget=2, executor="serial", study=tmp_path / "run.db")
    with pytest.raises(StudyError, match="is in the way"), DriverLock(tmp_path / "run.db", shared=shared):
        pass
    assert theirs.read_text() == content
    assert list(tmp_path.iterdir()) == [theirs]


def test_a_lock_that_was_deleted_and_made_anew_by_another_is_not_deleted_at_the_end(tmp_path: Path) -> None:
    path, file = tmp_path / "run.db", tmp_path / "run.db.driver"
    with DriverLock(path):
        file.unlink()
        file.write_text("somebody else's")
    assert file.read_text() == "somebody else's"
