"""Two drivers for one study, and a disk that fills up."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from audit import Audit
from diary import BOX, Diary

import aegisbo
from aegisbo.errors import StudyError
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.study.shared import Shared

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
PATIENCE = 300.0
FULL = r"the disk is full( or fails)?: make room and run the same call again"


def command(folder: Path, budget: int, **options: object) -> list[str]:
    return [sys.executable, str(HERE / "drive.py"), str(folder), str(budget), json.dumps(options)]


def test_several_drivers_at_once(tmp_path: Path) -> None:
    """All start at the same moment, before the file exists: one drives, the others name it."""
    budget, options = 40, {"seconds": 2.0, "executor": "threads"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    drivers = [subprocess.Popen(command(tmp_path, budget, **options), text=True, **pipes) for _ in range(4)]
    ends = {driver.pid: (*driver.communicate(timeout=PATIENCE), driver.returncode) for driver in drivers}
    (winner,) = (pid for pid, (out, _, _) in ends.items() if out == "The budget is spent.\n")
    for pid, (_, errors, code) in ends.items():
        if pid != winner:
            assert code == 1
            message = f"is being driven by another process (process {winner} on {socket.gethostname()}"
            assert re.search(r"^aegisbo.errors.StudyError: .*" + re.escape(message), errors, re.MULTILINE)
    audit = Audit(tmp_path / "run.db", Diary(tmp_path / "diary", 0.0))
    audit.faults = 3
    print(f"\nfour drivers at once, three refused: {audit.close(budget)}")  # noqa: T201


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """A file system of its own, as only root may make one."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_and_then_room_again(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, "900k"):
        audit = Audit(disk / "run.db", Diary(tmp_path / "diary", 0.002))
        for _ in range(3):
            with pytest.raises(StudyError, match=FULL) as caught:
                search(audit, 100_000)
            assert f"Study file {audit.study}: " in str(caught.value)
            assert aegisbo.load(audit.study).message == f"The driver ended with an error (StudyError: {caught.value})."
            audit.look()
        assert len(audit.events) > 100
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        budget = len([event for event in audit.events if event.kind == "asked"]) + 20
        search(audit, budget)
        print(f"\nfull disk (file system of 900 kB): {audit.close(budget)}")  # noqa: T201


def test_a_copy_on_a_full_disk_says_why_it_ended(tmp_path: Path) -> None:
    with small_disk(tmp_path, "900k"):
        with pytest.raises(StudyError, match=FULL) as caught:
            share(tmp_path / "run.db", 100_000)
        message = aegisbo.load(tmp_path / "run.db").message
        assert message == f"The copy ended with an error (StudyError: {caught.value})."


def share(path: Path, budget: int) -> None:
    with Shared.open(path, Settings.checked(BOX, strategy="random", seed=11), call={"budget": budget}) as copy:
        while (trial := copy.ask()) is not None:
            copy.ended(trial.number, Outcome("done", 1.0, output="x" * 3000), 0.1)


def fill(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as ballast:
        while True:
            ballast.write(bytes(4096))


def test_a_disk_that_is_full_from_the_start(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, "900k"):
        fill(disk / "ballast")
        audit = Audit(disk / "run.db", Diary(tmp_path / "diary", 0.0))
        with pytest.raises(StudyError, match=FULL):
            search(audit, 5)
        assert [file.name for file in disk.iterdir()] == ["ballast"]
        assert audit.diary.entries() == []
        (disk / "ballast").unlink()
        search(audit, 5)
        audit.faults = 1
        print(f"\nfull disk from the start: {audit.close(5)}")  # noqa: T201


def search(audit: Audit, budget: int) -> None:
    aegisbo.minimize(
        audit.diary, BOX, budget=budget, workers=3, strategy="random", seed=11, executor="threads", study=audit.study
    )


LIMITED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.skipif(os.name == "nt", reason="file-size limits are of Unix")
def test_a_limit_on_the_size_of_files_and_then_none(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "run.db", Diary(tmp_path / "diary", 0.002))
    options = {"seconds": 0.002, "executor": "threads", "workers": 3}
    limited = [sys.executable, "-c", LIMITED, *command(tmp_path, 100_000, **options)[1:]]
    for _ in range(2):
        done = subprocess.run(limited, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 1
        assert re.search(
            r"^aegisbo.errors.StudyError: .*make room and run the same call again", done.stderr, re.MULTILINE
        )
        assert "make room and run the same call again" in aegisbo.load(audit.study).message
        audit.look()
    budget = len([event for event in audit.events if event.kind == "asked"]) + 20
    subprocess.run(command(tmp_path, budget, **options), check=True, timeout=PATIENCE, capture_output=True)
    print(f"\nlimit of 400 kB a file: {audit.close(budget)}")  # noqa: T201
