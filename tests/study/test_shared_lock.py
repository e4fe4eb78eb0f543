"""Copies share the lock of a study, take turns, and keep drivers out; a driver keeps copies out."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from aegisbo.errors import StudyError
from aegisbo.study import lock as lock_module
from aegisbo.study.lock import DriverLock, is_driven

HOLDER = """
import sys
from pathlib import Path
from aegisbo.study.lock import DriverLock
with DriverLock(Path(sys.argv[1]), shared="shared" in sys.argv) as lock:
    print("alone" if lock.alone else "in company", flush=True)
    for line in sys.stdin:
        with lock.turn(0.0 if "hasty" in line else 600.0):
            print("turn", flush=True)
            sys.stdin.readline()
        print("over", flush=True)
"""


class Elsewhere:
    """Another process with the lock."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.beginning = self.hear()

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()


@contextmanager
def elsewhere(path: Path, kind: str) -> Iterator[Elsewhere]:
    command = [sys.executable, "-c", HOLDER, str(path), kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Elsewhere(process)
        finally:
            process.kill()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lock_module, "HESITATION", 0.0)
    return tmp_path / "run.db"


@pytest.mark.long
def test_copies_and_drivers_keep_each_other_out(path: Path) -> None:
    with elsewhere(path, "shared") as copy:
        with pytest.raises(StudyError, match="driven by copies of `aegisbo work`") as caught, DriverLock(path):
            pass
        assert f"(process {copy.process.pid} on " in str(caught.value)
        with DriverLock(path, shared=True):
            pass
        assert is_driven(path)  # our leaving has not taken the file away from the other one
        copy.process.communicate()
    assert list(path.parent.iterdir()) == []
    refused = pytest.raises(StudyError, match="driven by another process")
    with elsewhere(path, "driver"), refused, DriverLock(path, shared=True):
        pass


@pytest.mark.long
def test_who_is_alone_knows_it_and_the_killed_do_not_count(path: Path) -> None:
    with ExitStack() as stack:
        first, second = (stack.enter_context(elsewhere(path, "shared")) for _ in range(2))
        assert (first.beginning, second.beginning) == ("alone", "in company")
        with DriverLock(path, shared=True) as lock:
            assert not lock.alone
            for each in (first, second):
                each.process.send_signal(signal.SIGKILL)
                each.process.wait()
            assert lock.alone


@pytest.mark.long
def test_turns_exclude_each_other_until_somebody_loses_patience(path: Path) -> None:
    with ExitStack() as stack:
        first, second, third = (stack.enter_context(elsewhere(path, "shared")) for _ in range(3))
        first.say("patient")
        assert first.hear() == "turn"
        second.say("patient")
        third.say("hasty")  # as if the first had been suspended in its turn
        assert third.hear() == "turn"
        third.say("enough")
        assert third.hear() == "over"  # without having taken anybody's turn away
        first.say("enough")
        assert first.hear() == "over"
        assert second.hear() == "turn"
        first.say("patient")
        second.process.send_signal(signal.SIGKILL)
        assert first.hear() == "turn"
