"""Real processes on one study: nothing is lost, no point is tried twice, and the dead do not count."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import optuna
import postgresql
import pytest
from numpy.random import Generator
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from aegisbo.integrations import AegisSampler
from aegisbo.strategies.base import Evidence, Memory, Suggestion
from aegisbo.strategies.duplicates import CLOSEST

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DOCUMENTATION = ROOT / "docs" / "optuna.md"

# Without exploration every process wants the same point, the minimum of the mean: only the guard keeps them apart.
WORKER = """
import sys, time, optuna
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from aegisbo.integrations import AegisSampler

def objective(trial):
    x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 2, 3)
    print("started", flush=True)
    time.sleep(float(seconds))
    return ((x - 3) ** 2 + 10 * (y - 2.25) ** 2, x, y)[: len(study.directions)]

address, n_trials, seconds = sys.argv[1:]
storage = RDBStorage(address) if "://" in address else JournalStorage(JournalFileBackend(address))
sampler = AegisSampler(strategy="aegis:epsilon=0,guard=on", seed=0)
study = optuna.load_study(study_name="shared", storage=storage, sampler=sampler)
study.optimize(objective, n_trials=int(n_trials))
"""


def start(address: str, n_trials: int, seconds: float = 0.0) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-W", "ignore", "-c", WORKER, address, str(n_trials), str(seconds)]
    return subprocess.Popen(
        arguments,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(
    storage: BaseStorage, address: str, processes: int, n_trials: int, directions: tuple[str, ...] = ("minimize",)
) -> list[optuna.trial.FrozenTrial]:
    study = optuna.create_study(study_name="shared", storage=storage, directions=directions)
    workers = [start(address, n_trials) for _ in range(processes)]
    for worker in workers:
        _, said = worker.communicate()
        assert worker.returncode == 0, said
    return study.trials


def check(trials: list[optuna.trial.FrozenTrial], expected: int) -> None:
    """All trials are there, with their own values, and no two of them at the same point."""
    assert [trial.number for trial in trials] == list(range(expected))
    assert {trial.state for trial in trials} == {TrialState.COMPLETE}
    for trial in trials:
        x, y = trial.params["x"], trial.params["y"]
        assert trial.values == [(x - 3) ** 2 + 10 * (y - 2.25) ** 2, x, y][: len(trial.values)]
    by_model = [trial for trial in trials if "lengthscale" in trial.user_attrs.get("aegisbo:note", {})]
    assert len(by_model) > expected / 2
    for one, other in combinations(by_model, 2):
        gap = point(one) - point(other)
        assert gap.any()
        both = [trial.user_attrs for trial in (one, other)]
        if "local" not in {told["aegisbo:move"] for told in both}:  # which measures by its neighborhood, which shrinks
            # The later of the two kept its distance, in the length scales that it had learned.
            assert max(np.linalg.norm(gap / told["aegisbo:note"]["lengthscale"]) for told in both) >= 0.99 * CLOSEST


def point(trial: optuna.trial.FrozenTrial) -> np.ndarray:
    return np.array([(trial.params["x"] + 5) / 15, trial.params["y"] - 2])


def test_four_processes_share_a_journal_file(tmp_path: Path) -> None:
    journal = str(tmp_path / "journal.log")
    check(run(JournalStorage(JournalFileBackend(journal)), journal, processes=4, n_trials=25), 100)


@pytest.mark.parametrize("directions", [("minimize", "maximize"), ("minimize", "maximize", "minimize")])
def test_three_processes_share_a_database_for_several_objectives(directions: tuple[str, ...], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/optuna.db"
    trials = run(RDBStorage(url), url, processes=3, n_trials=10, directions=directions)
    check(trials, 30)
    assert {len(trial.values) for trial in trials} == {len(directions)}


def test_three_processes_share_a_postgresql_database() -> None:
    with postgresql.server() as server:
        storage = RDBStorage(server.optuna)
        check(run(storage, server.optuna, processes=3, n_trials=12), 36)
        storage.engine.dispose()


class Watched:
    """Writes down how many points are pending."""

    def __init__(self) -> None:
        self.pending: list[int] = []

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        self.pending.append(len(evidence.pending))
        return Suggestion(rng.random(evidence.cube.width), memory, {"move": "watched"})


def test_a_killed_process_leaves_a_trial_that_stops_mattering(tmp_path: Path) -> None:
    journal = str(tmp_path / "journal.log")
    study = optuna.create_study(study_name="shared", storage=JournalStorage(JournalFileBackend(journal)))
    start(journal, n_trials=5).communicate()
    victim = start(journal, n_trials=1, seconds=1000)
    assert victim.stdout is not None
    assert victim.stdout.readline() == "started\n"
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    assert study.trials[-1].state == TrialState.RUNNING

    def ask(stale_after: float | None) -> int:
        watched = Watched()
        study.sampler = AegisSampler(strategy=watched, n_initial=0, stale_after=stale_after)
        trial = study.ask()
        study.tell(trial, trial.suggest_float("x", -5, 10) + trial.suggest_float("y", 2, 3))
        return watched.pending[-1]

    assert ask(stale_after=None) == 1  # it could still be alive: an hour has not passed
    time.sleep(0.1)
    assert ask(stale_after=0.1) == 0


def test_the_example_runs_on_postgresql() -> None:
    with postgresql.server() as server:
        example = [sys.executable, str(EXAMPLES / "optuna_processes.py"), server.optuna]
        done = subprocess.run(example, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "best" in done.stdout


def test_the_code_of_the_documentation_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENTATION.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 4
    exec("\n".join(blocks), {})
