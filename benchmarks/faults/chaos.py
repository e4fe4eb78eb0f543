"""Try to break aegisbo: random runs with real processes, with everything that goes wrong in real life.

    python -m benchmarks.faults.chaos [--minutes M] [--runs N] [--seed S] [--keep FOLDER]     (or `make chaos`)

Each run is drawn from its seed, which is printed: a space, a strategy, an engine, and what goes wrong. Drivers, copies
and workers are killed, evaluations hang, crash and return garbage, clocks jump, disks are full, and others read, write
and try to drive meanwhile. The evaluations keep a diary: against it the study is held in the end. `--seed S --runs 1`
repeats one run (its moments are random all the same). A study that is not right is kept. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from io import StringIO
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from audit import events_now, numbers
from diary import lines_of

import aegisbo
from aegisbo import load
from aegisbo.errors import AegisError, StudyError
from aegisbo.events import Event
from aegisbo.optimizer import Settings
from aegisbo.runners.work import work
from aegisbo.study import export
from aegisbo.study.replay import replay
from benchmarks.faults.kills import descendants, send, still_alive
from benchmarks.faults.plan import LIMIT, Evaluation, Plan, ending_of, key_of, plan_of, value_of

LEASE = 2.0  # seconds after which a copy that was killed is given up
OFTEN = 1_000_000  # retries: no point is to blame for a kill
WARM_UP = 20.0  # seconds for a worker to come to its first evaluation
PATIENCE = 240.0  # seconds for a run to end in peace
SMALL, LARGE = "96k", "64m"  # of the file system that is full
REFUSED, FULL, BROKEN = 7, 8, 9  # exit codes of a driver
TIDY = {"run.db", "diary", "log"}  # what may lie there in the end, besides marks of evaluations


@dataclass
class Figures:
    """What a campaign did; violations are listed by seed."""

    runs: int = 0
    evaluations: int = 0
    failures: int = 0  # evaluations that gave garbage, raised or hung
    drivers_killed: int = 0
    workers_killed: int = 0
    reads: int = 0
    rivals: int = 0
    meddlers: int = 0  # programs that opened and closed the file
    full_disks: int = 0
    jumping_clocks: int = 0
    violations: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return ", ".join(f"{each.name.replace('_', ' ')} {_count(getattr(self, each.name))}" for each in fields(self))


def _count(figure: Any) -> int:
    return figure if isinstance(figure, int) else len(figure)


@dataclass
class Run:
    """One study and those who drive it, forked from this process, which has everything loaded."""

    plan: Plan
    folder: Path
    figures: Figures
    draw: random.Random
    drivers: dict[int, bool] = field(default_factory=dict)  # process ids, and whether another drove when it began
    events: list[Event] = field(default_factory=list)  # at the last look
    family: set[int] = field(default_factory=set)  # processes that drivers have started
    wrong: list[str] = field(default_factory=list)

    @property
    def study(self) -> Path:
        return self.folder / "run.db"

    @property
    def diary(self) -> Path:
        return self.folder.parent / f"{self.folder.name}.diary"  # not on the disk that is full

    def go(self) -> None:
        """The whole run, and the audit."""
        for _ in range(self.plan.faults):
            self.replace_the_dead()
            time.sleep(0.7 * self.draw.random())
            self.fault()
            self.look()
        self.finish()
        self.audit()

    def fault(self) -> None:
        choices = [self.read, self.rival, self.meddle]
        choices += [self.kill_driver] * 2 * self.plan.killable + [self.kill_worker] * 2 * self.plan.workers_killable
        self.draw.choice(choices)()

    def replace_the_dead(self) -> None:
        """See how drivers ended, and start as many as there should be."""
        for pid in tuple(self.drivers):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self.ended(os.waitstatus_to_exitcode(status), company=self.drivers.pop(pid))
        wanted = self.plan.workers if self.plan.engine == "copies" else 1
        while len(self.drivers) < wanted and not self.complete():
            self.start()

    def ended(self, code: int, *, company: bool) -> None:
        """What the exit code of a driver says."""
        if code == FULL and self.plan.small_disk:
            self.figures.full_disks += 1
            resize(self.folder, LARGE)
        elif code != 0 and not (code == REFUSED and company):
            self.wrong.append(f"a driver ended with {code}: {self.log()[-300:]!r}")

    def log(self) -> str:
        file = self.folder / "log"
        return file.read_text(errors="replace") if file.exists() else ""

    def complete(self) -> bool:
        self.look()
        return len(numbers(self.events, "told", "failed")) >= self.plan.budget

    def start(self) -> int:
        pid = os.fork()
        if not pid:
            os._exit(driven(self.plan, self.study, self.diary, self.folder / "log"))
        company = bool(self.drivers)  # any of them may be the one that is refused
        self.drivers = dict.fromkeys((*self.drivers, pid), company)
        return pid

    def kill_driver(self) -> None:
        if not self.drivers:
            return
        pid = self.draw.choice(sorted(self.drivers))
        family = descendants(pid)
        send(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        del self.drivers[pid]
        self.figures.drivers_killed += 1
        left = still_alive(family)
        if left:
            self.wrong.append(f"orphans of a killed driver: {left}")

    def kill_worker(self) -> None:
        """One that has noted a call; it takes a while until there is one."""
        deadline = time.monotonic() + WARM_UP
        while not (workers := self.workers()) and not self.complete() and time.monotonic() < deadline:
            time.sleep(0.02)
        if workers:
            send(self.draw.choice(workers), signal.SIGKILL)
            self.figures.workers_killed += 1

    def workers(self) -> list[int]:
        noted = {entry["pid"] for entry in lines_of(self.diary)}
        return sorted(worker for driver in self.drivers for worker in descendants(driver) if worker in noted)

    def read(self) -> None:
        """As `show`, `load` and `export` do."""
        self.figures.reads += 1
        with suppress(StudyError) if not self.events else _nothing():
            load(self.study)
            export.write(self.study, self.draw.choice(["csv", "json"]), StringIO())

    def rival(self) -> None:
        """Another driver; it is refused, unless nobody drives."""
        if self.plan.engine != "copies":
            self.figures.rivals += 1
            self.start()

    def meddle(self) -> None:
        """A program that knows nothing of aegisbo opens the file and closes it."""
        if self.study.exists() and self.events:
            self.figures.meddlers += 1
            script = (
                "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM events').fetchone()"
            )
            subprocess.run([sys.executable, "-c", script, str(self.study)], check=False, stderr=subprocess.DEVNULL)

    def look(self) -> None:
        """What was written down still is, word for word."""
        events = events_now(self.study, self.events)
        if events[: len(self.events)] != self.events:
            self.wrong.append("events were rewritten")
        self.events = events

    def finish(self) -> None:
        """Let all end in peace; the same call, once more, has nothing to do but to tidy up."""
        deadline, again = time.monotonic() + PATIENCE, False
        while self.drivers or not again:
            self.replace_the_dead()
            if not self.drivers and not again:
                self.start()
                again = True
            time.sleep(0.03)
            if time.monotonic() > deadline:
                self.wrong.append(f"it does not end: {load(self.study).message if self.events else 'nothing yet'}")
                break
        for pid in self.drivers:
            send(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def audit(self) -> None:
        """The study against the diary."""
        self.look()
        asked = {event.number: key_of(event.body["params"]) for event in self.events if event.kind == "asked"}
        ends = [event for event in self.events if event.kind in ("told", "failed")]
        entries = lines_of(self.diary)
        begins = Counter(entry["key"] for entry in entries if entry["what"] == "begins")
        finished = {entry["key"] for entry in entries if entry["what"] == "ends"}
        state = {event.number: event.body.get("state", "done") for event in ends}
        value = {event.number: event.body.get("value") for event in ends}
        excused = interrupted(self.events) + Counter(event.number for event in self.events if event.kind == "lost")
        right = {n: ending_of(self.plan, key) for n, key in asked.items()}
        checks = {
            "not every trial has one end": sorted(asked) != sorted(event.number for event in ends),
            "the budget is not met": not len(asked) == self.plan.budget == load(self.study).nfev,
            "a point was chosen twice": len(set(asked.values())) < len(asked),
            f"states {_differences(state, right)}": state != right,
            "a value is not that of its point": any(
                value[n] != value_of(key) or key not in finished for n, key in asked.items() if right[n] == "done"
            ),
            "the diary knows of other points": not set(begins) <= set(asked.values()),
            "evaluated again for no reason": any(begins[key] > 1 + excused[n] for n, key in asked.items()),
            "replay differs": bool(replay(self.study).differences),
            "orphans": bool(still_alive({entry["pid"] for entry in entries} | self.family)),
            f"left behind: {sorted(self.left_behind())}": bool(self.left_behind()),
            f"leaked: {self.log()!r}": "leaked {" in self.log(),
        }
        self.wrong += [what for what, broken in checks.items() if broken]
        self.figures.evaluations += len(ends)
        self.figures.failures += sum(each != "done" for each in state.values())

    def left_behind(self) -> set[str]:
        return {file.name for file in self.folder.iterdir()} - TIDY


def interrupted(events: Sequence[Event]) -> Counter[int | None]:
    """How often each trial was running when the next driver took over, which runs it again.

    Copies do not open a study: they write down what was lost.
    """
    running: set[int | None] = set()
    found: Counter[int | None] = Counter()
    for event in events:
        if event.kind == "opened":
            found.update(running)
        elif event.kind == "asked":
            running.add(event.number)
        elif event.kind in ("told", "failed"):
            running.discard(event.number)
    return found


def _differences(found: dict[Any, Any], right: dict[Any, Any]) -> dict[Any, Any]:
    return {n: (found.get(n), right.get(n)) for n in {*found, *right} if found.get(n) != right.get(n)}


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def driven(plan: Plan, study: Path, diary: Path, log: Path) -> int:
    """In a child: drive the run, and say how that ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644), 2)
    if plan.jumps:
        let_clock_jump(random.Random(os.getpid()))
    before = open_files()
    try:
        drive(plan, study, diary)
    except StudyError as error:
        return FULL if "full" in str(error) else REFUSED if "driven by" in str(error) else complain(error)
    except BaseException as error:
        return complain(error)
    for child in active_children():  # of an executor, which ends them in its own time
        child.join(PATIENCE)
    leaked = open_files() - before
    if leaked and plan.engine not in ("futures", "broken futures", "loky"):
        os.write(2, f"leaked {dict(leaked)}\n".encode())
    return 0


def complain(error: BaseException) -> int:
    with suppress(OSError):
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    return BROKEN


def drive(plan: Plan, study: Path, diary: Path) -> None:
    evaluation, limit = Evaluation(plan, diary), LIMIT if plan.hangs else None
    if plan.engine == "copies":
        settings = Settings.checked(
            plan.space,
            strategy=plan.strategy,
            preset=plan.preset,
            seed=plan.seed,
            n_initial=6,
            constraints=plan.constraints,
        )
        rules: dict[str, Any] = {"retries": OFTEN, "lease": LEASE, "trial_timeout": limit, "give_up_after": None}
        work(evaluation, study, settings, budget=plan.budget, progress=False, **rules)
        return
    with engine(plan) as executor:
        aegisbo.minimize(
            evaluation,
            plan.space,
            budget=plan.budget,
            workers=plan.workers,
            strategy=plan.strategy,
            preset=plan.preset,
            n_initial=6,
            seed=plan.seed,
            study=study,
            executor=executor,
            trial_timeout=limit,
            retries=OFTEN,
            give_up_after=None,
            raise_errors=False,
            constraints=plan.constraints,
            callbacks=[lambda trial, result: study.read_bytes() and None] if plan.meddles else (),
            progress=False,
        )


@contextmanager
def engine(plan: Plan) -> Iterator[Any]:
    """What `executor` is."""
    if plan.engine == "futures":
        with ThreadPoolExecutor(plan.workers) as pool:
            yield pool
    elif plan.engine == "broken futures":
        yield lambda: ProcessPoolExecutor(plan.workers, get_context("spawn"))
    elif plan.engine == "loky":
        from loky import get_reusable_executor

        yield lambda: get_reusable_executor(plan.workers)
    else:
        yield plan.engine


def let_clock_jump(draw: random.Random) -> None:
    """Let the clock on the wall go forward and back by up to a day, now and then."""
    real, offset = time.time, [0.0]

    def jumping() -> float:
        offset[0] = draw.uniform(-86400.0, 86400.0) if draw.random() < 0.2 else offset[0]
        return real() + offset[0]

    time.time = jumping


def open_files() -> Counter[str]:
    """What this process has open, but for devices; pipes and sockets by kind."""
    found: Counter[str] = Counter()
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            target = os.readlink(f"/proc/self/fd/{descriptor}")
            if not target.startswith(("/dev/", "/proc/")):
                found[target.partition(":[")[0]] += 1
    return found


@contextmanager
def disk(folder: Path, *, small: bool) -> Iterator[bool]:
    """A folder, on a file system of its own if it is to be small and we may make one; whether it is."""
    folder.mkdir()
    mounted = small and _quiet("mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(folder))
    try:
        yield mounted
    finally:
        if mounted:
            _quiet("umount", "-l", str(folder))


def resize(folder: Path, size: str) -> None:
    _quiet("mount", "-o", f"remount,size={size}", str(folder))


def _quiet(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def one_run(seed: int, place: Path, keep: Path, figures: Figures) -> None:
    """A run and its audit; what is not right is kept and told."""
    plan, folder = plan_of(seed), place / str(seed)
    with disk(folder, small=plan.small_disk):
        run = Run(plan, folder, figures, random.Random(seed))
        try:
            run.go()
        except (AegisError, OSError, sqlite3.Error) as error:
            run.wrong.append(f"{type(error).__name__}: {error}")
            run.finish()
        figures.runs += 1
        figures.jumping_clocks += plan.jumps
        if run.wrong:
            figures.violations.append(f"seed {seed} ({plan}): {'; '.join(run.wrong)}")
            kept = keep / str(seed)
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            with suppress(FileNotFoundError):
                shutil.copy(run.diary, kept / "diary")
            say(f"VIOLATION, kept in {kept}: {figures.violations[-1]}")


def campaign(seed: int, keep: Path, *, minutes: float, runs: int | None = None) -> Figures:
    """Runs with seeds from this one on, until so many are done or the time is up."""
    figures, deadline = Figures(), time.monotonic() + 60.0 * minutes
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a kill leaves the same there, in less time
    with tempfile.TemporaryDirectory(prefix="chaos-", dir=memory) as place:
        while figures.runs < (runs or OFTEN) and time.monotonic() < deadline:
            say(f"seed {seed + figures.runs}: {plan_of(seed + figures.runs)}")
            one_run(seed + figures.runs, Path(place), keep, figures)
    return figures


def say(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("chaos-kept"))
    options = parser.parse_args()
    figures = campaign(options.seed, options.keep, minutes=options.minutes, runs=options.runs)
    say(str(figures))
    for violation in figures.violations:
        say(json.dumps(violation))
    sys.exit(1 if figures.violations else 0)


if __name__ == "__main__":
    main()
