"""Evaluations that do their worst, in one run, while their processes are killed at random around them."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diary import BOX, Diary, value_of
from runners.processes_of import children_of, wait_until_dead

import aegisbo
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.state import State

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc"),
]

BUDGET = 70
KILLS = 25  # of worker processes; then the run may end in peace

# What a point does, by the first decimals of its second coordinate, and how its trial must end.
BEHAVIORS = {
    "hangs": "timed_out",
    "raises": "failed",
    "returns garbage": "invalid",
    "returns nan": "invalid",
    "exits": "failed",
    "exhausts memory": "failed",
    "prints megabytes": "done",
    "kills its process once": "done",
    "leaves the interpreter once": "done",
}


def behavior_of(x: Any) -> str:
    names = list(BEHAVIORS)
    k = int((x[1] % 1) * 3 * len(names))
    return names[k] if k < len(names) else "behaves"


@dataclass(frozen=True)
class Rough(Diary):
    """Notes its calls, and then does what the point says."""

    def __call__(self, x: np.ndarray) -> Any:
        self.note(x, "begins", "")
        first = self.counts("begins")[tuple(x)] == 1
        time.sleep(self.seconds * (abs(x[0]) % 1))
        behavior = behavior_of(x)
        if not behavior.endswith("once") or first:
            return misbehave(behavior, value_of(x))
        return value_of(x)


def misbehave(behavior: str, value: float) -> Any:
    match behavior:
        case "hangs":
            time.sleep(3600)
        case "raises":
            raise ValueError("diverged")
        case "returns garbage":
            return {"loss": value}
        case "returns nan":
            return float("nan")
        case "exits":
            sys.exit("enough")
        case "exhausts memory":
            exhaust_memory()
        case "prints megabytes":
            sys.stdout.write("x" * 3_000_000)
        case "kills its process once":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "leaves the interpreter once":
            os._exit(0)
    return value


def exhaust_memory() -> None:
    """All that a limit of 256 MB more than now allows, so that the machine does not feel it."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + 2**28, hard))
    try:
        hoard = []
        while True:
            hoard.append(bytearray(2**25))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class Killer(threading.Thread):
    """Kills a worker process, or its watchdog, every now and then."""

    def __init__(self, diary: Diary) -> None:
        super().__init__(daemon=True)
        self.diary, self.rng = diary, np.random.default_rng(3)
        self.kills, self.done = 0, threading.Event()

    def run(self) -> None:
        while self.kills < KILLS and not self.done.wait(self.rng.uniform(0.2, 1.0)):
            pairs = sorted(self.watchdogs_and_workers())
            if not pairs:
                continue
            watchdog, worker = pairs[self.rng.integers(len(pairs))]
            with suppress(ProcessLookupError):  # it has ended by itself meanwhile
                os.kill(watchdog if self.rng.random() < 0.3 else worker, signal.SIGKILL)
                self.kills += 1

    def watchdogs_and_workers(self) -> set[tuple[int, int]]:
        """Children of ours with a child that has noted a call: nobody else's process is touched."""
        noted = self.diary.pids()
        return {(watchdog, worker) for watchdog in children_of(os.getpid()) for worker in children_of(watchdog) & noted}


def test_everything_at_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, rough = tmp_path / "run.db", Rough(tmp_path / "diary", 0.3)
    killer = Killer(rough)
    killer.start()
    try:
        result = aegisbo.minimize(
            rough, BOX, budget=BUDGET, workers=4, strategy="random", seed=4, study=path, trial_timeout=8.0, retries=1000
        )
    finally:
        killer.done.set()
        killer.join()
    _, printed = capfd.readouterr()
    expected = {trial.number: BEHAVIORS.get(behavior_of(trial.x), "done") for trial in result.trials}
    assert {trial.number: trial.state for trial in result.trials} == expected
    assert result.ending == "The budget is spent."
    assert [trial.value for trial in result.trials if trial.state == "done"] == [
        value_of(trial.x) for trial in result.trials if trial.state == "done"
    ]
    check_record(path, result)
    assert wait_until_dead(rough.pids()) == set()
    assert printed == ""  # it is kept with the trials
    cut = {trial.output for trial in result.trials if behavior_of(trial.x) == "prints megabytes"}
    assert cut == {"[...]\n" + "x" * 4096}
    behaviors = Counter(behavior_of(trial.x) for trial in result.trials)
    assert set(behaviors) == {*BEHAVIORS, "behaves"}
    lost = sum(event.kind == "lost" for event in read_events(path))
    assert killer.kills == KILLS
    with capfd.disabled():
        print(  # noqa: T201
            f"\nrough evaluations: {BUDGET} evaluations checked ({dict(behaviors)}), {killer.kills} worker processes "
            f"killed, {lost} jobs lost with their worker and run again: lost 0, doubled 0, orphans 0"
        )


def check_record(path: Path, result: aegisbo.Result) -> None:
    events = read_events(path)
    ends = Counter(event.number for event in events if event.kind in ("told", "failed"))
    assert ends == dict.fromkeys(range(BUDGET), 1)
    folded = State.after(events).optimizer.state()["trials"]
    assert folded == [json.loads(json.dumps(trial.describe())) for trial in result.trials]
    begins = Rough(path.with_name("diary"), 0.0).counts("begins")
    lost = Counter(event.number for event in events if event.kind == "lost")
    for trial in result.trials:  # begun again only if it was lost
        assert begins[tuple(trial.x)] <= 1 + lost[trial.number]
    assert replay(path).differences == ()
