"""A study that is moved, deleted or replaced while a run writes to it: no evaluation is lost, no file is spoiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from study.some_events import told

from aegisbo import Result, load, minimize
from aegisbo.cli.run_words import report
from aegisbo.cli.tables import Terminal
from aegisbo.errors import StudyError
from aegisbo.events import Created
from aegisbo.optimizer import Settings
from aegisbo.outcome import Outcome
from aegisbo.study import Study
from aegisbo.study import file as file_module
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.shared import Shared
from aegisbo.study.store import Store

BOX = [(-5.0, 10.0), (2.0, 3.0)]
OPTIONS: dict[str, Any] = {"strategy": "random", "seed": 5, "progress": False}
BUDGET = 12


def bowl(x: Any) -> float:
    return float((x[0] - 1.0) ** 2 + x[1])


def deleted(path: Path) -> None:
    path.unlink()


def deleted_with_all_beside_it(path: Path) -> None:
    for file in path.parent.glob("run.db*"):
        file.unlink()


def moved(path: Path) -> None:
    path.rename(path.with_name("other.db"))


def moved_with_all_beside_it(path: Path) -> None:
    (path.parent / "elsewhere").mkdir()
    for file in path.parent.glob("run.db*"):
        file.rename(path.parent / "elsewhere" / file.name)


def replaced(path: Path) -> None:
    os.replace(path.with_name("backup.db"), path)


WAYS = [deleted, deleted_with_all_beside_it, moved, moved_with_all_beside_it, replaced]


def search(path: Path, budget: int = BUDGET, *, after: Callable[[], object] | None = None, **options: Any) -> Result:
    def once(trial: Any, result: Any) -> None:
        if trial.number == 5 and after is not None:
            after()

    options = {"executor": "serial", **OPTIONS, **options}
    return minimize(bowl, BOX, budget=budget, study=path, callbacks=[once], **options)


def assert_saved(result: Result, folder: Path, budget: int = BUDGET) -> Path:
    """Every evaluation is in the file that the result names, which a run can continue."""
    rescued = result.study
    assert rescued == folder / "run.rescued.db"
    assert str(rescued) in result.message
    assert result.nfev == budget
    assert [trial.value for trial in load(rescued).trials] == [trial.value for trial in result.trials]
    assert load(rescued).message == result.message
    assert replay(rescued).differences == ()
    more, undisturbed = search(rescued, budget + 3), search(folder / "fresh.db", budget + 3)
    assert [trial.params for trial in more.trials] == [trial.params for trial in undisturbed.trials]
    assert replay(rescued).differences == ()
    return rescued


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("executor", ["serial", "threads"])
def test_the_run_goes_on_in_a_file_beside_it(
    tmp_path: Path, way: Callable[[Path], None], executor: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "run.db"
    search(tmp_path / "backup.db", 4, seed=6)
    backup = read_events(tmp_path / "backup.db")
    result = search(path, executor=executor, workers=1, after=lambda: way(path))
    assert_saved(result, tmp_path)
    assert any("run.rescued.db" in message for message in caplog.messages)
    assert read_events(path if way is replaced else tmp_path / "backup.db") == backup
    left = {file.name for file in tmp_path.iterdir()} - {"backup.db", "fresh.db", "run.rescued.db"}
    assert left == {moved: {"other.db"}, replaced: {"run.db"}, moved_with_all_beside_it: {"elsewhere"}}.get(way, set())


@pytest.mark.parametrize("way", [moved, moved_with_all_beside_it])
def test_a_study_that_was_moved_is_whole_and_says_where_the_run_went(
    tmp_path: Path, way: Callable[[Path], None]
) -> None:
    path = tmp_path / "run.db"
    search(path, after=lambda: way(path))
    taken = next(file for file in (tmp_path / "other.db", tmp_path / "elsewhere" / "run.db") if file.exists())
    assert load(taken).nfev == 6
    assert f"the run continued in {tmp_path / 'run.rescued.db'}" in load(taken).message
    assert replay(taken).differences == ()
    assert search(taken, BUDGET).nfev == BUDGET  # it can be continued by itself


def test_the_command_names_the_file_in_which_the_run_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("run.db")
    space = {"u": (-5.0, 10.0), "v": (2.0, 3.0)}
    for budget, name in ((2, "run.db"), (4, str(tmp_path / "run.rescued.db"))):
        take_away = [lambda trial, result: path.unlink(missing_ok=True)] if budget == 4 else []
        options = {"executor": "serial", "callbacks": take_away, **OPTIONS}
        result = minimize(plane, space, budget=budget, study=path, **options)
        report(result, path, Terminal(soft_wrap=True))
        assert f"study  {name}\n" in capsys.readouterr().out


def plane(u: float, v: float) -> float:
    return u + v


def test_a_study_that_goes_at_the_very_end_is_kept_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.db"
    closed = Study.closed

    def last_word(self: Study, *what: Any) -> int:
        event = closed(self, *what)
        moved(path)
        return event

    monkeypatch.setattr(Study, "closed", last_word)
    result = search(path)
    monkeypatch.undo()
    assert not path.exists()
    assert result.study == tmp_path / "run.rescued.db"
    assert str(result.study) in result.message
    assert load(result.study).nfev == BUDGET == load(tmp_path / "other.db").nfev


def test_what_is_written_at_the_moment_of_the_removal_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, insert = tmp_path / "run.db", Store._insert

    def too_late(self: Store, *row: Any) -> int:
        monkeypatch.setattr(Store, "_insert", insert)
        deleted(path)
        return insert(self, *row)

    with closing(Store(path, print)) as store:
        assert store.append(told(0)).id == 1
        monkeypatch.setattr(Store, "_insert", too_late)
        assert [store.append(told(1)).id, store.append(told(2)).id] == [2, 3]
        assert [event.number for event in read_events(tmp_path / "run.rescued.db")] == [0, 1, 2]


@pytest.mark.parametrize("way", [deleted, moved, replaced])
@pytest.mark.parametrize("when", ["before", "after", "during"])
def test_a_file_that_goes_a_moment_after_its_log_is_kept_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Callable[[Path], None], when: str
) -> None:
    """As `rm run.db*` may delete them: the driver has noticed that the log is gone, and opens the file again."""
    path, disconnect, prepare = tmp_path / "run.db", Store._disconnect, Store._prepare
    search(tmp_path / "backup.db", 4, seed=6)
    backup = read_events(tmp_path / "backup.db")

    def disturbed(self: Store) -> None:
        monkeypatch.setattr(Store, "_disconnect", disconnect)
        if when == "before":
            way(path)
        disconnect(self)
        if when == "after":
            way(path)

    def surprised(self: Store, *what: Any) -> None:
        monkeypatch.setattr(Store, "_prepare", prepare)
        way(path)
        prepare(self, *what)

    with closing(Store(path, print)) as store:
        store.append(told(0))
        (tmp_path / "run.db-wal").unlink()
        if when == "during":
            monkeypatch.setattr(Store, "_prepare", surprised)
        else:
            monkeypatch.setattr(Store, "_disconnect", disturbed)
        assert [store.append(told(number)).id for number in (1, 2)] == [2, 3]
        assert store.file == tmp_path / "run.rescued.db"
    assert [event.number for event in read_events(tmp_path / "run.rescued.db")] == [0, 1, 2]
    assert read_events(path if way is replaced else tmp_path / "backup.db") == backup


def test_a_study_that_is_moved_before_its_first_event_is_not_spoiled(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with closing(Store(path, print)) as store:
        moved(path)
        store.append(Created({}, {}))
    with pytest.raises(StudyError, match="holds nothing yet"):
        read_events(tmp_path / "other.db")


def test_nothing_that_has_the_name_of_the_rescue_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    theirs = {tmp_path / "run.rescued.db": "one", tmp_path / "run.rescued-2.db-wal": "two"}
    for file, text in theirs.items():
        file.write_text(text)
    result = search(path, after=path.unlink)
    assert result.study == tmp_path / "run.rescued-3.db"
    assert load(result.study).nfev == BUDGET
    assert {file: file.read_text() for file in theirs} == theirs


def test_where_the_folder_is_gone_the_rescue_is_among_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, temporary = tmp_path / "folder", tmp_path / "temporary"
    for each in (folder, temporary):
        each.mkdir()
    monkeypatch.setattr(file_module, "gettempdir", lambda: str(temporary))
    result = search(folder / "run.db", after=lambda: shutil.rmtree(folder))
    assert result.study == temporary / "run.rescued.db"
    assert load(result.study).nfev == BUDGET


def test_where_nothing_can_be_rescued_the_run_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr(file_module, "gettempdir", lambda: str(folder))
    with pytest.raises(StudyError, match=r"run\.db was moved, deleted or replaced during the run, and no copy"):
        search(folder / "run.db", after=lambda: shutil.rmtree(folder))
    assert not folder.exists()


def test_a_removal_is_noticed_while_evaluations_go_on(tmp_path: Path) -> None:
    """Long before one of them ends."""
    path, rescued = tmp_path / "run.db", tmp_path / "run.rescued.db"
    noticed = Event()

    def patient(x: Any) -> float:
        if not noticed.is_set():
            path.unlink(missing_ok=True)
            deadline = time.monotonic() + 60.0
            while not rescued.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            if rescued.exists():
                noticed.set()
        return bowl(x)

    result = minimize(patient, BOX, budget=3, workers=1, executor="threads", study=path, **OPTIONS)
    assert noticed.is_set()
    assert result.nfev == load(rescued).nfev == 3


def test_nobody_else_drives_the_file_in_which_a_run_goes_on(tmp_path: Path) -> None:
    path, refused = tmp_path / "run.db", []

    def take_it(trial: Any, result: Any) -> None:
        if trial.number == 2:
            path.unlink()
        if trial.number == 4:
            with pytest.raises(StudyError, match="is already being driven by this process"):
                search(tmp_path / "run.rescued.db")
            refused.append(trial.number)

    minimize(bowl, BOX, budget=6, executor="serial", study=path, callbacks=[take_it], **OPTIONS)
    assert refused == [4]


@pytest.mark.parametrize("way", [deleted_with_all_beside_it, moved, replaced])
def test_a_copy_keeps_what_it_knows_and_stops(tmp_path: Path, way: Callable[[Path], None]) -> None:
    path, settings = tmp_path / "run.db", Settings.checked(BOX, strategy="random", seed=5)
    search(tmp_path / "backup.db", 4, seed=6)
    with Shared.open(path, settings, call={"budget": 8}) as copy:
        trials = [copy.ask() for _ in range(3)]
        assert None not in trials
        copy.ended(0, Outcome("done", 1.0), 0.1)
        assert copy.moved == ""
        way(path)
        copy.ended(1, Outcome("done", 2.0), 0.1)
        assert str(tmp_path / "run.rescued.db") in copy.moved
        assert copy.file == tmp_path / "run.rescued.db"
        copy.ended(2, Outcome("done", 3.0), 0.1)
        copy.closed(copy.moved, [])
    assert [trial.value for trial in load(copy.file).trials] == [1.0, 2.0, 3.0]
    assert replay(copy.file).differences == ()
    if way is moved:
        assert [trial.state for trial in load(tmp_path / "other.db").trials] == ["done", "pending", "pending"]
    if way is replaced:
        assert load(path).nfev == 4


WORK = """
import sys
from pathlib import Path
from aegisbo.optimizer import Settings
from aegisbo.runners.work import work

def slow(x):
    import time
    time.sleep(0.3)
    return float(x[0] ** 2 + x[1])

settings = Settings.checked([(-5.0, 10.0), (2.0, 3.0)], strategy="random", seed=5)
result = work(slow, sys.argv[1], settings, budget=500, workers=2, lease=2.0)
print(result.study, result.nfev, result.message)
"""


@pytest.mark.long
def test_work_ends_with_a_result_and_what_was_running(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with subprocess.Popen([sys.executable, "-c", WORK, str(path)], stdout=subprocess.PIPE, text=True) as worker:
        try:
            deadline = time.monotonic() + 120.0
            while time.monotonic() < deadline and not (path.exists() and ends_in(path) >= 3):
                time.sleep(0.1)
            path.unlink()
            said, _ = worker.communicate(timeout=120)
        finally:
            worker.kill()
    study, evaluations, message = said.split(maxsplit=2)
    assert study == str(tmp_path / "run.rescued.db")
    assert study in message
    result = load(study)
    assert result.nfev == int(evaluations) >= 3
    assert all(trial.state == "done" for trial in result.trials)
    assert replay(study).differences == ()
    assert [file.name for file in tmp_path.iterdir()] == ["run.rescued.db"]


def ends_in(path: Path) -> int:
    try:
        return sum(event.kind == "told" for event in read_events(path))
    except StudyError:
        return 0


SECOND = """
import sys
from aegisbo.optimizer import Settings
from aegisbo.study import Study
with Study.open(sys.argv[1], Settings.checked([(-5.0, 10.0), (2.0, 3.0)], strategy="random", seed=5)):
    print("drives", flush=True)
"""


def second_driver(path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", SECOND, str(path)], capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


@pytest.mark.long
def test_a_second_driver_is_refused_although_the_file_of_the_lock_was_deleted(tmp_path: Path) -> None:
    path, said = tmp_path / "run.db", []

    def unlock(x: Any) -> float:
        (tmp_path / "run.db.driver").unlink(missing_ok=True)
        said.append(second_driver(path))  # at once, before the first driver can notice anything
        return bowl(x)

    result = minimize(unlock, BOX, budget=3, executor="serial", study=path, **OPTIONS)
    assert len(said) == result.nfev == 3
    assert all("is being driven by another process" in each for each in said)
    assert [event.kind for event in read_events(path)].count("opened") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["run.db"]


def test_the_file_of_the_lock_is_made_again(tmp_path: Path) -> None:
    path, lock = tmp_path / "run.db", tmp_path / "run.db.driver"
    with Study.open(path, Settings.checked(BOX, strategy="random", seed=5)) as study:
        lock.unlink()
        study.requests()
        assert f"is being driven by another process (process {os.getpid()} on " in second_driver(path)
        assert lock.exists()
    assert not lock.exists()
