"""The engines that are held against the contract: how each is started, and what it cannot do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

WORKERS = 2


@dataclass(frozen=True)
class Engine:
    """What `executor` is, from a folder for files, and what becomes of a run on it."""

    opened: Callable[[Path], AbstractContextManager[Any]]
    package: str = ""  # that must be installed
    death: str = "run again"  # of a worker: or "ends the run", "kills the driver"
    stops: bool = False  # whether an evaluation that hangs is stopped
    hears: bool = False  # whether reports come while an evaluation runs, so that it can be stopped early
    waits: bool = True  # whether `submit` returns before the evaluation has ended
    repeats: bool = False  # whether it runs a job again by itself whose worker died
    ctrl_c: str = "ends"  # the run: or "may need a second", or "kills the driver"
    launcher: tuple[str, ...] = (sys.executable,)  # the command before the script


def _processes() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(WORKERS, get_context("spawn"))


@contextmanager
def _loky(folder: Path) -> Iterator[Any]:
    from loky import get_reusable_executor

    yield lambda: get_reusable_executor(WORKERS)


@contextmanager
def _dask(folder: Path) -> Iterator[Any]:
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", local_directory=str(folder)
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextmanager
def _dask_executor(folder: Path) -> Iterator[Any]:
    with _dask(folder) as client, client.get_executor() as executor:
        yield executor


@contextmanager
def _ray(folder: Path) -> Iterator[Any]:
    import ray

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    yield "ray"
    ray.shutdown()


def _slurm(folder: Path) -> AbstractContextManager[Any]:
    from aegisbo.executors import Slurm

    return nullcontext(Slurm(minutes=60, folder=str(folder / "jobs"), cluster="local"))


@contextmanager
def _mpi(folder: Path) -> Iterator[Any]:
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as executor:
        yield executor


@contextmanager
def _parsl(folder: Path) -> Iterator[Any]:
    from parsl.concurrent import ParslPoolExecutor
    from parsl.config import Config
    from parsl.executors import HighThroughputExecutor

    local = HighThroughputExecutor(max_workers_per_node=WORKERS, address="127.0.0.1", heartbeat_period=2)
    with ParslPoolExecutor(Config(executors=[local], run_dir=str(folder / "parsl"))) as executor:
        yield executor


@contextmanager
def _executorlib(folder: Path) -> Iterator[Any]:
    from executorlib import SingleNodeExecutor

    with SingleNodeExecutor(max_workers=WORKERS, block_allocation=True, restart_limit=3) as executor:
        yield executor


ENGINES = {
    "processes": Engine(lambda folder: nullcontext("processes"), stops=True, hears=True),
    "threads": Engine(lambda folder: nullcontext("threads"), death="kills the driver", hears=True),
    "serial": Engine(lambda folder: nullcontext("serial"), death="kills the driver", hears=True, waits=False),
    "ThreadPoolExecutor": Engine(lambda folder: ThreadPoolExecutor(WORKERS), death="kills the driver", hears=True),
    "ProcessPoolExecutor": Engine(lambda folder: _processes(), death="ends the run"),
    "ProcessPoolExecutor, made anew": Engine(lambda folder: nullcontext(_processes)),
    "loky": Engine(_loky, "loky"),
    "Dask Client": Engine(_dask, "distributed", hears=True, repeats=True, ctrl_c="may need a second"),
    "Dask executor": Engine(_dask_executor, "distributed", repeats=True, ctrl_c="may need a second"),
    "Ray": Engine(_ray, "ray", stops=True, hears=True),
    "submitit": Engine(_slurm, "submitit", stops=True, hears=True),
    "MPI": Engine(
        _mpi,
        "mpi4py",
        death="kills the driver",
        ctrl_c="kills the driver",
        launcher=("mpiexec", "-n", str(WORKERS + 1), sys.executable, "-m", "mpi4py.futures"),
    ),
    "Parsl": Engine(_parsl, "parsl", ctrl_c="may need a second"),
    "executorlib": Engine(_executorlib, "executorlib", repeats=True, ctrl_c="may need a second"),
}
