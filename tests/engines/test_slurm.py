"""SLURM jobs through submitit, on a stand-in for SLURM's commands: what is asked for, and how jobs may end."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from engine_jobs import BOX, Rough
from runners.processes_of import reported, wait_until_dead

import aegisbo
from aegisbo.errors import AegisError, InvalidInput, MissingExtra
from aegisbo.executors import Ray, Slurm, named
from aegisbo.outcome import Outcome
from aegisbo.runners.packing import evaluate_packed
from aegisbo.runners.pools import slurm

FIRST = count(1000, 1000)  # numbers of jobs


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("slurm", Slurm()),
        ("slurm:minutes=30,memory_gb=1.5", Slurm(minutes=30, memory_gb=1.5)),
        ("slurm:slurm_partition=gpu,gpus_per_node=1", Slurm(slurm_partition="gpu", gpus_per_node=1)),
        ("ray:num_gpus=0.5", Ray(num_gpus=0.5)),
        ("threads", None),
    ],
)
def test_settings_can_be_written_as_text(text: str, meaning: Any) -> None:
    assert named(text) == meaning


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Slurm(minutes=0), "minutes of a SLURM job is 0: give a whole number from 1 upwards"),
        (lambda: Slurm(minutes=0.5), "minutes of a SLURM job is 0.5"),  # type: ignore[arg-type]
        (lambda: Slurm(memory_gb=-1), "memory_gb of a SLURM job is -1: give a number greater than 0, or None"),
        (lambda: named("slurm:30"), "'30' in executor 'slurm:30' is no setting: write slurm:key=value"),
        (lambda: minimize("slurm", workers=None), "workers is missing: say how many SLURM jobs"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        wrong()


def test_submitit_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(MissingExtra, match=r"SLURM needs an optional package: pip install 'aegisbo\[slurm\]'"):
        minimize("slurm")


def test_ray_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"Ray needs an optional package: pip install 'aegisbo\[ray\]'"):
        minimize("ray")


def minimize(executor: Any, fun: Any = lambda x: 1.0, **options: Any) -> aegisbo.Result:
    settings = {"budget": 3, "workers": 2, "seed": 3, "strategy": "random", "progress": False, **options}
    return aegisbo.minimize(fun, BOX, executor=executor, **settings)


class StandIn:
    """submitit's executor and its only job, of whose end nobody knows before SLURM is asked."""

    def __init__(self, folder: Path, *, ended: bool) -> None:
        self.paths = SimpleNamespace(result_pickle=folder / "result", submitted_pickle=folder / "submitted")
        self.ended, self.known, self.canceled = ended, False, False

    def submit(self, job: Any, path: list[str], variables: Any, packed: bytes, point: bytes, marker: str) -> StandIn:
        self.marker = Path(marker)
        self.paths.result_pickle.touch()
        self.outcome = evaluate_packed(packed, point, lambda: None)
        return self

    def done(self, force_check: bool) -> bool:
        self.known = self.known or (force_check and self.ended)
        return self.known

    def result(self) -> bytes:
        return self.outcome

    def cancel(self, check: bool) -> None:
        self.canceled = True


@pytest.mark.parametrize(("ended", "state"), [(True, "done"), (False, "timed_out")])
def test_a_job_that_has_ended_in_time_has_not_timed_out(
    ended: bool, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = StandIn(tmp_path, ended=ended)
    monkeypatch.setattr(slurm, "_executor", lambda settings: job)
    monkeypatch.setattr(slurm, "LOOK", 0.01)
    monkeypatch.setattr(slurm, "ASK", 3600.0)
    settings, outcome = Slurm(folder=str(tmp_path)), Outcome("done", 1.0)
    pool = slurm.SlurmJobs(settings, lambda x: outcome, lambda size: [{}] * size, 1)
    pool.submit(0, [0.0])
    pool.stop(0)
    (end,) = pool.collect(60.0)
    assert (end.outcome.state, job.canceled) == (state, not ended)
    pool.close()


def test_a_callback_that_changes_the_directory_moves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = StandIn(tmp_path, ended=True)
    monkeypatch.setattr(slurm, "_executor", lambda settings: job)
    monkeypatch.chdir(tmp_path)
    pool = slurm.SlurmJobs(Slurm(folder="jobs"), lambda x: Outcome("done", 1.0), lambda size: [{}] * size, 1)
    monkeypatch.chdir("/")
    pool.submit(0, [0.0])
    pool.close()
    assert job.marker.parent == tmp_path / "jobs"


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a SLURM whose minutes last a second, asked more often than a real one should be."""
    pytest.importorskip("submitit")
    monkeypatch.setenv("FAKE_SLURM", str(tmp_path))
    monkeypatch.setenv("FAKE_SLURM_FIRST", str(next(FIRST)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PATH", f"{importlib.import_module('fake_slurm').install()}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(slurm, "ASK", 0.2)
    monkeypatch.setattr(slurm, "GRACE", {"slurm": 1.0})
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("fake_slurm")


@pytest.mark.long
def test_what_a_job_asks_for_and_what_it_finds(cluster: Path) -> None:
    def environment(x: Any) -> float:
        return 10.0 * aegisbo.worker().slot + float(os.environ["DEVICE"])

    executor = Slurm(minutes=90, memory_gb=2.5, slurm_partition="long", cpus_per_task=3)
    result = minimize(executor, environment, worker_env={"DEVICE": "{slot}"})
    assert [trial.value for trial in result.trials] == [11.0 * trial.worker for trial in result.trials]
    script = min(cluster.glob("*.sh")).read_text()
    asked = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)$", script, re.MULTILINE))
    wanted = {"time": "90", "mem": "2560MB", "partition": "long", "cpus-per-task": "3", "job-name": "aegisbo"}
    assert asked.items() >= wanted.items()
    assert not list((cluster / "slurm-jobs").glob("*.pkl"))


@pytest.mark.long
def test_failures_deaths_and_hangs(cluster: Path) -> None:
    rough = Rough(cluster, {0: "raise", 1: "nan", 2: "die", 4: "hang"})
    result = minimize(Slurm(minutes=90), rough, budget=6, trial_timeout=5.0)
    states = sorted(trial.state for trial in result.trials)
    reasons = [(trial.number, trial.reason) for trial in result.trials]
    assert states == ["done", "done", "done", "failed", "invalid", "timed_out"], reasons
    assert wait_until_dead(reported(cluster), 60.0) == set()


@pytest.mark.long
def test_a_job_that_runs_into_its_time_limit_has_timed_out(cluster: Path) -> None:
    result = minimize(Slurm(minutes=5), Rough(cluster, {0: "hang"}), budget=1)
    (trial,) = result.trials
    assert trial.state == "timed_out"
    assert re.fullmatch(r"SLURM stopped job \d+ at its time limit \(minutes=5\)\.", trial.reason)


@pytest.mark.long
def test_a_queue_that_takes_no_job_ends_the_run_with_its_words(cluster: Path) -> None:
    (cluster / "full").touch()
    result = minimize("slurm", study=cluster / "run.db")
    assert result.message.startswith("SLURM takes no job (")
    assert "QOSMaxSubmitJobPerUserLimit" in result.message
    (cluster / "full").unlink()
    assert minimize("slurm", study=cluster / "run.db").nfev == 3


@pytest.mark.long
def test_where_there_is_no_slurm_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(AegisError, match=r"SLURM is not on this machine .*: run on a machine that has sbatch"):
        minimize("slurm")
    with pytest.raises(InvalidInput, match="cluster is 'pbs'"):
        minimize(Slurm(cluster="pbs"))
    with pytest.raises(InvalidInput, match=r"submitit does not take the parameters \{'partition': 'x'\}"):
        minimize(Slurm(cluster="local", partition="x"))
