"""Kill copies of `aegisbo work` and their workers, again and again, and hold the studies against what happened.

    python -m benchmarks.faults.kills [--kills N] [--copies N] [--seed N] [--restarts N]

Takes about half an hour for 1,000 kills on two cores; Linux only. Each round is a study of its own: some copies share
it, every moment a copy or a worker gets SIGKILL or a copy is suspended for longer than its lease, and dead copies are
replaced. Then the budget is fixed and the copies finish. The evaluations keep a diary of their own: it is the witness.

With `--restarts` the studies lie on a PostgreSQL server of its own, which is restarted so often, every other time
without a proper end; and as often half of the copies are cut off from it for longer than their lease.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
from audit import events_now
from diary import BOX, Diary, value_of
from postgresql import Server, server
from proxy import Line, line_to

from aegisbo import load
from aegisbo.address import Place, place_of
from aegisbo.events import Event
from aegisbo.optimizer import Settings
from aegisbo.runners.work import work
from aegisbo.study.replay import replay

A_ROUND = 50  # kills
LEASE = 2.0  # seconds
SLOWEST = 0.1  # seconds of an evaluation
PAUSE = 0.6  # seconds between two kills, at most
OFTEN = 1_000_000  # retries: the points are not to blame
MARGIN = 40  # evaluations by which the budget is larger than what was asked for when it is fixed
PATIENCE = 1800.0  # seconds for the end of a round


@dataclass
class Figures:
    """What a campaign found; all but the first eight must be 0."""

    rounds: int = 0
    copies_killed: int = 0
    workers_killed: int = 0
    suspended: int = 0
    restarts: int = 0  # of the server
    cuts: int = 0  # of the line to it
    evaluations: int = 0
    late: int = 0  # results of copies that had been given up, recorded as late
    lost: int = 0  # trials without a value in the end, or without the value of their point
    doubled: int = 0  # trials with two results, points chosen twice, evaluations repeated for no recorded reason
    off_budget: int = 0  # rounds whose budget was not met exactly
    rewritten: int = 0  # looks at which an event that had been there was not there as it was
    replay_differences: int = 0
    orphans: int = 0
    bad_exits: int = 0

    @property
    def kills(self) -> int:
        return self.copies_killed + self.workers_killed

    @property
    def clean(self) -> bool:
        return not any(getattr(self, each.name) for each in fields(self)[8:])


@dataclass
class Round:
    """One study and its copies, forked from this process, which has everything loaded."""

    folder: Path
    places: list[Place]  # the study, as the copies name it in turn
    seed: int
    rng: np.random.Generator
    figures: Figures
    copies: set[int] = field(default_factory=set)  # process ids
    events: list[Event] = field(default_factory=list)
    started: int = 0

    @property
    def study(self) -> Place:
        return self.places[0]

    @property
    def diary(self) -> Diary:
        return Diary(self.folder / "diary", SLOWEST)

    def start(self, budget: int) -> None:
        self.started += 1
        place = self.places[self.started % len(self.places)]
        pid = os.fork()
        if pid:
            self.copies.add(pid)
            return
        code = 1
        try:
            os.dup2(os.open(self.folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644), 2)
            strategy = ("aegis", "random")[self.seed % 2]  # slow choices, and many of them
            settings = Settings.checked(BOX, strategy=strategy, seed=self.seed, n_initial=6)
            work(self.diary, place, settings, budget=budget, retries=OFTEN, lease=LEASE, progress=False)
            code = 0
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(code)

    def kill(self) -> None:
        """A copy or one of its workers."""
        workers = sorted(worker for copy in self.copies for worker in descendants(copy))
        if workers and self.rng.random() < 0.5:
            self.figures.workers_killed += 1
            send(int(self.rng.choice(workers)), signal.SIGKILL)
            return
        copy = int(self.rng.choice(sorted(self.copies)))
        self.figures.copies_killed += 1
        send(copy, signal.SIGKILL)
        os.waitpid(copy, 0)
        self.copies.discard(copy)

    def suspend(self) -> None:
        """A copy, for longer than its lease; its worker goes on."""
        copy = int(self.rng.choice(sorted(self.copies)))
        self.figures.suspended += 1
        send(copy, signal.SIGSTOP)
        time.sleep(2 * LEASE)
        send(copy, signal.SIGCONT)

    def look(self) -> None:
        """What was written down still is, word for word."""
        events = events_now(self.study, self.events)
        self.figures.rewritten += events[: len(self.events)] != self.events
        self.events = events

    def reap(self) -> None:
        """Those that have ended by themselves."""
        for pid in tuple(self.copies):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self.copies.discard(pid)
                self.figures.bad_exits += status != 0

    def finish(self, copies: int) -> int:
        """Fix the budget and wait for all; returns the budget."""
        deadline = time.monotonic() + PATIENCE
        while not self.copies <= {event.body["pid"] for event in self.events if event.kind == "joined"}:
            time.sleep(0.02)  # the last budget that was given holds, and theirs is another
            self.reap()
            self.look()
        budget = sum(event.kind == "asked" for event in self.events) + MARGIN
        while len(self.copies) < copies + 1:
            self.start(budget)
        while self.copies:
            self.reap()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.study} does not end: {load(self.study)}")
            time.sleep(0.02)
        return budget

    def audit(self, budget: int) -> None:
        """The study against the diary."""
        self.look()
        figures, asked = self.figures, [event for event in self.events if event.kind == "asked"]
        told = Counter(event.number for event in self.events if event.kind == "told")
        losses = Counter(event.number for event in self.events if event.kind == "lost")
        values = {event.number: event.body["value"] for event in self.events if event.kind == "told"}
        points = {event.number: tuple(event.body["params"].values()) for event in asked}
        begins, ends = self.diary.counts("begins"), self.diary.counts("ends")
        figures.evaluations += len(told)
        figures.late += sum(event.kind == "late" for event in self.events)
        figures.lost += sum(values.get(n) != value_of(x) or not ends[x] for n, x in points.items())
        figures.doubled += sum(count > 1 for count in told.values()) + len(points) - len(set(points.values()))
        figures.doubled += sum(begins[x] > 1 + losses[n] for n, x in points.items())
        figures.off_budget += not (len(asked) == len(told) == load(self.study).nfev == budget)
        figures.replay_differences += len(replay(self.study).differences)
        figures.orphans += len(still_alive(self.diary.pids()))


def send(pid: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # it has just ended
        os.kill(pid, what)


def descendants(pid: int) -> set[int]:
    """The processes that a process has started, and those that they have."""
    found = set()
    for tasks in _tasks(pid):
        with suppress(FileNotFoundError, ProcessLookupError):
            found |= {int(child) for child in (tasks / "children").read_text().split()}
    return found | {each for child in found for each in descendants(child)}


def _tasks(pid: int) -> Iterator[Path]:
    try:
        yield from Path(f"/proc/{pid}/task").iterdir()
    except (FileNotFoundError, ProcessLookupError):
        return


def still_alive(pids: set[int], seconds: float = 10.0) -> set[int]:
    deadline = time.monotonic() + seconds
    while (left := {pid for pid in pids if Path(f"/proc/{pid}").exists()}) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def campaign(kills: int, copies: int, seed: int, folder: Path, outages: Outages | None = None) -> Figures:
    """Kill so often, in rounds."""
    rng, figures = np.random.default_rng(seed), Figures()
    while figures.kills < kills:
        place = folder / str(figures.rounds)
        place.mkdir()
        places = outages.places(str(figures.rounds)) if outages else [place / "run.db"]
        one = Round(place, places, seed + figures.rounds, rng, figures)
        until = min(figures.kills + A_ROUND, kills)
        suspend_at = set(rng.integers(figures.kills, until, size=2).tolist())
        while figures.kills < until:
            one.reap()
            if outages and figures.restarts < outages.wanted * (figures.kills + 1) / kills:
                outages.strike(figures)
            while len(one.copies) < copies:
                one.start(OFTEN)
            time.sleep(PAUSE * rng.random())
            if figures.kills in suspend_at:
                suspend_at.discard(figures.kills)
                one.suspend()
            one.kill()
            one.look()
        one.audit(one.finish(copies))
        figures.rounds += 1
        report(figures)
    return figures


@dataclass
class Outages:
    """A server that is restarted, and a line to it that is cut."""

    server: Server
    line: Line
    end: Path  # of the line
    wanted: int  # restarts

    def places(self, name: str) -> list[Place]:
        """A study, directly and through the line."""
        ends = (self.server.folder, self.end)
        return [place_of(f"postgresql://postgres@/postgres?host={end}&study={name}") for end in ends]

    def strike(self, figures: Figures) -> None:
        """Both, one after the other."""
        figures.restarts += 1
        self.server.stop(("fast", "immediate")[figures.restarts % 2])
        time.sleep(LEASE * (figures.restarts % 3))
        self.server.start()
        figures.cuts += 1
        self.line.cut()
        time.sleep(2 * LEASE)
        self.line.mend()


@contextmanager
def outages_of(restarts: int, folder: Path) -> Iterator[Outages | None]:
    if not restarts:
        yield None
        return
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    with server(connections=200) as one, line_to(one.socket, folder) as line:
        yield Outages(one, line, folder, restarts)


def report(figures: Figures) -> None:
    counts = ", ".join(f"{each.name.replace('_', ' ')} {getattr(figures, each.name)}" for each in fields(figures))
    print(f"kills {figures.kills}: {counts}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--copies", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--restarts", type=int, default=0, help="of a PostgreSQL server; 0: studies are files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kills-") as name, outages_of(options.restarts, Path(name)) as outages:
        figures = campaign(options.kills, options.copies, options.seed, Path(name), outages)
    sys.exit(0 if figures.clean else 1)


if __name__ == "__main__":
    main()
