"""One contract for every engine: nothing lost, nothing doubled, and what is lost is never taken for failed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from select import select

import pytest
from engine_jobs import Rough, value_of
from engine_kinds import ENGINES, Engine
from runners.processes_of import alive, reported, wait_until_dead

from aegisbo import load
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]

HERE = Path(__file__).parent
PATIENCE = 240.0
SECOND = 3.0  # seconds between two Ctrl-C
ENDINGS = (
    "Stopped by Ctrl-C.",
    "Stopped by Ctrl-C, without waiting for what was running.",
    "The executor takes no more jobs",  # Ctrl-C also reaches the workers, and may break it before the driver knows
)


@pytest.fixture(params=ENGINES)
def name(request: pytest.FixtureRequest) -> str:
    package = ENGINES[request.param].package
    if package and find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install -r tests/engines/requirements.txt")
    return str(request.param)


class Driver:
    """A driver in a process group of its own, as a terminal would start it."""

    def __init__(self, name: str, folder: Path, scenario: str) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        modules = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        words = [*ENGINES[name].launcher, str(HERE / "engine_drive.py"), name, str(folder), scenario]
        self._errors = folder / "errors"
        with self._errors.open("a") as errors:
            self.process = subprocess.Popen(
                [shutil.which(words[0], path=path) or words[0], *words[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
                cwd=folder,
                env={**os.environ, "PATH": path, "PYTHONPATH": modules},
            )

    def lines(self, *, well: bool = True) -> list[str]:
        """What it printed, once it has ended."""
        printed = self.process.communicate(timeout=PATIENCE)[0].splitlines()
        assert (self.process.returncode == 0) == well, self.complaints()
        return printed

    def complaints(self) -> str:
        return self._errors.read_text()[-3000:]


@pytest.fixture
def start(name: str, tmp_path: Path) -> Iterator[Callable[[str], Driver]]:
    """Starts drivers on the engine; none outlives the test."""
    drivers: list[Driver] = []

    def start(scenario: str) -> Driver:
        drivers.append(Driver(name, tmp_path, scenario))
        return drivers[-1]

    yield start
    for driver in drivers:
        with suppress(ProcessLookupError):
            os.killpg(driver.process.pid, signal.SIGKILL)
        driver.process.communicate()


def check_books(folder: Path, *, restarts: int, **expected: int) -> None:
    """Each trial ended once, with its own value, and began no more often than losses and restarts explain."""
    rough, events = Rough(folder), read_events(folder / "run.db")
    point = {event.number: tuple(event.body["params"].values()) for event in events if event.kind == "asked"}
    budget = sum(expected.values())
    assert list(point) == list(range(budget))
    assert len(set(point.values())) == budget
    ended = Counter(event.number for event in events if event.kind in ("told", "failed"))
    assert ended == dict.fromkeys(point, 1)
    assert Counter(trial.state for trial in load(folder / "run.db").trials) == expected
    told = {event.number: event.body["value"] for event in events if event.kind == "told"}
    assert told == {number: value_of(point[number]) for number in told}

    begins, ends = rough.counts("begins"), rough.counts("ends")
    assert set(begins) == set(point.values())
    assert all(ends[point[number]] >= 1 for number in told)
    lost = Counter(event.number for event in events if event.kind == "lost")
    doubled = {number: begins[x] for number, x in point.items() if begins[x] > 1 + lost[number] + restarts}
    assert doubled == {}
    assert sum(begins.values()) - budget <= sum(lost.values()) + 2 * restarts
    assert replay(folder / "run.db").faithful


def end_with_its_worker(driver: Driver, name: str) -> None:
    """Wait until a death has ended the driver too; where the death is overlooked, stop it as its user would."""
    try:
        driver.lines(well=False)
    except subprocess.TimeoutExpired:
        assert name == "MPI", driver.complaints()  # the mpiexec of MPICH 5.0.2, seen once
        os.killpg(driver.process.pid, signal.SIGKILL)


def test_values_exceptions_nan_and_a_death(name: str, tmp_path: Path, start: Callable[[str], Driver]) -> None:
    engine = ENGINES[name]
    if engine.death == "kills the driver":
        end_with_its_worker(start("faults"), name)
    elif engine.death == "ends the run":
        (line,) = start("faults").lines()
        assert line.startswith("The executor takes no more jobs (BrokenProcessPool: ")
    assert start("faults").lines()[-1].startswith("The budget is spent.")
    restarts = engine.repeats or engine.death != "run again"
    check_books(tmp_path, restarts=restarts, done=8, failed=1, invalid=1)
    (failed,) = [trial for trial in load(tmp_path / "run.db").trials if trial.state == "failed"]
    assert failed.reason == "ValueError: diverged"
    report(tmp_path, f"{name}: a value, an exception, NaN, a death: {engine.death}")


def test_a_run_that_ends_with_jobs_in_flight_and_one_that_hangs(
    name: str, tmp_path: Path, start: Callable[[str], Driver]
) -> None:
    engine = ENGINES[name]
    if not engine.waits:
        pytest.skip("there is never a job in flight")
    driver = start("hangs")
    assert driver.process.stdout is not None
    lines = [driver.process.stdout.readline().split(" It ")[0].strip() for _ in range(4)]
    assert lines[0] == "Enough.", driver.complaints()
    assert lines[1] == "The budget is spent.", driver.complaints()
    assert lines[2].startswith("The budget is spent."), driver.complaints()
    assert lines[3] == "returned"
    (timed_out,) = [trial for trial in load(tmp_path / "run.db").trials if trial.state == "timed_out"]
    assert timed_out.reason.startswith("Stopped after" if engine.stops else "Still running after")
    hanging = reported(tmp_path, 1)
    if engine.stops:
        assert wait_until_dead(hanging, PATIENCE) == set()
    else:
        assert any(map(alive, hanging))
    driver.process.stdin.write("\n")  # type: ignore[union-attr]
    driver.lines()
    check_books(tmp_path, restarts=1, done=11, timed_out=1)
    report(tmp_path, f"{name}: ended with a job in flight, gone on; a hang: {timed_out.reason}")


def test_ctrl_c_and_going_on(name: str, tmp_path: Path, start: Callable[[str], Driver]) -> None:
    engine = ENGINES[name]
    driver = start("endless")
    rough, deadline = Rough(tmp_path), time.monotonic() + PATIENCE
    while sum(rough.counts("ends").values()) < 6:
        assert driver.process.poll() is None, driver.complaints()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(driver.process.pid, signal.SIGINT)
    if engine.ctrl_c == "kills the driver":
        driver.lines(well=False)
    else:
        assert ending(driver, engine).startswith(ENDINGS), driver.complaints()
    events = read_events(tmp_path / "run.db")
    kept = [event for event in events if event.kind == "told"]
    assert len(kept) >= 4
    assert start("more").lines()[-1] == "The budget is spent."
    assert read_events(tmp_path / "run.db")[: len(events)] == events
    check_books(tmp_path, restarts=1, done=len(load(tmp_path / "run.db").trials))
    report(tmp_path, f"{name}: Ctrl-C: {engine.ctrl_c}, {len(kept)} values kept")


def ending(driver: Driver, engine: Engine) -> str:
    """What the run says at its end; an engine whose workers Ctrl-C has killed may need another one for that."""
    assert driver.process.stdout is not None
    said, _, _ = select([driver.process.stdout], [], [], SECOND)
    if not said and engine.ctrl_c == "may need a second":
        os.killpg(driver.process.pid, signal.SIGINT)
    line = driver.process.stdout.readline()
    if engine.ctrl_c == "may need a second":
        os.killpg(driver.process.pid, signal.SIGKILL)  # it may wait for workers that are gone
    else:
        driver.lines()
    return line


def report(folder: Path, text: str) -> None:
    """A line for the table in docs/engines.md, with the reasons of losses."""
    reasons = {event.body["reason"] for event in read_events(folder / "run.db") if event.kind == "lost"}
    print(f"\n{text}; lost: {sorted(reasons) or 'none'}")  # noqa: T201


def test_evaluations_that_fall_behind_are_stopped_and_keep_their_folder(
    name: str, tmp_path: Path, start: Callable[[str], Driver]
) -> None:
    start("curves").lines()
    trials = load(tmp_path / "run.db").trials
    done = [trial for trial in trials if trial.state == "done"]
    stopped = [trial for trial in trials if trial.state == "stopped"]
    assert len(done) + len(stopped) == 8
    assert bool(stopped) == ENGINES[name].hears
    assert all(trial.value == value_of(list(trial.params.values())) for trial in done)
    assert all((trial.reports[0].step, trial.reports[-1].step) == (1, 9) for trial in done)
    assert all(trial.reports[-1].step < 9 for trial in stopped)
    made = {int(file.parent.name): len(file.read_text()) for file in tmp_path.glob("run.db.trials/*/steps")}
    best = min(done, key=lambda trial: trial.value)
    assert made == {trial.number: trial.reports[-1].step for trial in (*stopped, best)}
    assert replay(tmp_path / "run.db").faithful
    report(tmp_path, f"{name}: {len(stopped)} of 8 stopped early")
