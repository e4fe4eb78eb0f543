"""Every evaluation knows which worker runs it, and worker processes have variables of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from runners.collected_jobs import PATIENCE, collected
from typer.testing import CliRunner

import aegisbo
from aegisbo.cli import app
from aegisbo.errors import AegisError, InvalidInput
from aegisbo.outcome import kept
from aegisbo.runners.pools.make_pool import make_pool


def where(gate: str) -> Any:
    """Wait until all others are here, too; then slot, variable and environment."""
    folder = Path(gate)
    (folder / f"{aegisbo.worker().slot}.here").touch()
    while len(list(folder.glob("*.here"))) < 3:
        pass
    return aegisbo.worker().slot, os.environ.get("AEGISBO_SLOT"), os.environ.get("DEVICE"), os.getpid()


@pytest.fixture(params=["processes", "threads", "thread executor", "process executor", "dask"])
def pool(request: pytest.FixtureRequest) -> Iterator[Any]:
    with ExitStack() as stack:
        executor: Any = request.param
        if executor == "thread executor":
            executor = stack.enter_context(ThreadPoolExecutor(3))
        elif executor == "process executor":
            executor = stack.enter_context(ProcessPoolExecutor(3, get_context("spawn")))
        elif executor == "dask":
            distributed = pytest.importorskip("distributed")
            options = {"n_workers": 1, "threads_per_worker": 3, "processes": False, "protocol": "inproc://"}
            cluster = stack.enter_context(distributed.LocalCluster(dashboard_address=":0", **options))
            executor = stack.enter_context(distributed.Client(cluster))
        yield stack.enter_context(closing(make_pool(executor, where, 3, judge=kept)))


def answers(pool: Any, count: int) -> list[Any]:
    return [(job.outcome.worker, *job.outcome.value) for job in collected(pool, count)]


@pytest.mark.long
def test_evaluations_that_run_at_once_have_different_slots(pool: Any, tmp_path: Path) -> None:
    for number in range(3):
        pool.submit(number, str(tmp_path))
    found = answers(pool, 3)
    assert {slot for _, slot, *_ in found} == {0, 1, 2}
    assert all(worker == slot for worker, slot, *_ in found)
    if type(pool).__name__ == "Processes":
        assert all(variable == str(slot) for _, slot, variable, *_ in found)


@pytest.mark.long
@pytest.mark.parametrize(
    "wish", [{"DEVICE": "gpu{slot}"}, lambda slot: {"DEVICE": f"gpu{slot}"}], ids=["mapping", "function"]
)
def test_worker_processes_have_variables_by_slot_also_after_a_death(tmp_path: Path, wish: Any) -> None:
    def die_once(gate: str) -> Any:
        if aegisbo.worker().slot == 1 and not (Path(gate) / "dead").exists():
            (Path(gate) / "dead").touch()
            os._exit(3)
        return where(gate)

    with closing(make_pool("processes", die_once, 3, judge=kept, worker_env=wish)) as pool:
        for number in range(2):
            pool.submit(number, str(tmp_path))
        (lost,) = pool.collect(PATIENCE)
        assert (lost.outcome.state, lost.number) == ("lost", 1)
        for number in (1, 2):
            pool.submit(number, str(tmp_path))
        found = answers(pool, 3)
    assert sorted(row[1:4] for row in found) == [(slot, str(slot), f"gpu{slot}") for slot in range(3)]
    assert "DEVICE" not in os.environ


def test_the_slot_is_known_while_the_function_is_being_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "on_device.py").write_text(
        "import os, aegisbo\n"
        "device = None if 'DRIVER' in os.environ else f'{aegisbo.worker().slot}:' + os.environ['DEVICE']\n"
        "def f(x):\n    return device\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DRIVER", "1")
    from on_device import f

    monkeypatch.delenv("DRIVER")
    with closing(make_pool("processes", f, 1, judge=kept, worker_env={"DEVICE": "a=b"})) as pool:
        pool.submit(0, 1.0)
        (job,) = pool.collect(PATIENCE)
    assert job.outcome.value == "0:a=b"


def test_outside_of_a_run_there_is_no_worker_unless_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AEGISBO_SLOT", raising=False)
    with pytest.raises(AegisError, match="To try the function by hand, set AEGISBO_SLOT=0 in the environment"):
        aegisbo.worker()
    monkeypatch.setenv("AEGISBO_SLOT", "3")
    assert aegisbo.worker().slot == 3
    slots = []
    aegisbo.minimize(
        lambda x: float(slots.append(aegisbo.worker().slot) or 1), [(0, 1)], budget=2, executor="serial", seed=0
    )
    assert slots == [0, 0]  # of the run, not of the process that holds it
    assert aegisbo.worker().slot == 3


def test_a_thread_of_the_functions_own_is_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AEGISBO_SLOT", raising=False)
    found: list[BaseException] = []

    def inside() -> None:
        try:
            aegisbo.worker()
        except AegisError as error:
            found.append(error)

    def f(x: Any) -> float:
        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
        return 1.0

    aegisbo.minimize(f, [(0, 1)], budget=1, executor="threads", seed=0)
    assert "pass the slot on" in str(found[0])


@pytest.mark.parametrize(
    ("wish", "options", "message"),
    [
        ("CUDA=1", {}, r"worker_env is 'CUDA=1': give variables by name, as in \{'CUDA_VISIBLE_DEVICES': '\{slot\}'\}"),
        (lambda slot: slot, {}, r"worker_env\(0\) returned 0: give variables by name"),
        (lambda slot: {"GPU": slot}, {}, r"worker_env sets GPU to 0: a value is text, as in str\(...\)"),
        ({"A=B": "1"}, {}, "worker_env names a variable 'A=B': a name is text without ="),
        ({"": "1"}, {}, "worker_env names a variable ''"),
        ({"A": "gpu{slt}"}, {}, r"worker_env sets A to 'gpu\{slt\}': write \{slot\} for the number of the worker"),
        ({"A": "1"}, {"executor": "threads"}, r'worker_env is for executor="processes" and "slurm": .*aegisbo.worker'),
    ],
)
def test_variables_that_are_none_are_refused(tmp_path: Path, wish: Any, options: Any, message: str) -> None:
    study = tmp_path / "run.db"
    with pytest.raises(InvalidInput, match=message):
        aegisbo.minimize(lambda x: 1.0, [(0, 1)], budget=1, workers=1, worker_env=wish, study=study, **options)
    assert not study.exists()


def test_a_program_finds_slot_and_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("space.toml").write_text('[a]\ntype = "real"\nlow = 0\nhigh = 1\n')
    call = ["minimize", "--command", "sh -c 'echo $AEGISBO_SLOT $GPU $PLAIN >> seen; echo 1'", "--space", "space.toml"]
    call += ["--budget", "4", "--workers", "1", "--strategy", "random", "--quiet"]
    done = CliRunner().invoke(app, [*call, "--worker-env", "GPU=gpu{slot}", "--worker-env", "PLAIN=a=b"])
    assert done.exit_code == 0, done.output
    assert Path("seen").read_text() == 4 * "0 gpu0 a=b\n"
    Path("seen").unlink()
    assert CliRunner().invoke(app, [*call, "--executor", "threads"]).exit_code == 0
    assert Path("seen").read_text() == 4 * "0\n"
    refused = CliRunner().invoke(app, [*call, "--worker-env", "GPU"])
    assert "--worker-env 'GPU' sets nothing: write NAME=VALUE." in str(refused.exception)


def test_asking_for_the_slot_loads_nothing_heavy() -> None:
    code = (
        "import sys, aegisbo; aegisbo.worker().slot; "
        "sys.exit(any(name.split('.')[0] in ('numpy', 'scipy', 'rich') for name in sys.modules))"
    )
    environment = {**os.environ, "AEGISBO_SLOT": "0"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
