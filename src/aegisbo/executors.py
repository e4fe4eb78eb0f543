"""Executors for `minimize(executor=...)` that take settings: SLURM and Ray."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.number import number_or_text


@dataclass(frozen=True, init=False)
class Slurm:
    """Run each evaluation as a separate SLURM job, through submitit.

    Args:
        minutes: time limit of a job, including the time to start Python and load the function.
        memory_gb: memory of a job; None uses the default of the cluster.
        folder: for functions, points, values and logs; all nodes must see it.
        cluster: "slurm", or "local" to try the same with processes on this machine.
        parameters: other parameters of submitit, such as cpus_per_task=4, gpus_per_node=1, slurm_partition="gpu".

    Raises:
        InvalidInput: the time or the memory is not a valid number.
    """

    minutes: int
    memory_gb: float | None
    folder: str
    cluster: str
    parameters: Mapping[str, Any]

    def __init__(
        self,
        minutes: int = 60,
        memory_gb: float | None = None,
        folder: str = "slurm-jobs",
        cluster: str = "slurm",
        **parameters: Any,
    ) -> None:
        if not isinstance(minutes, int) or isinstance(minutes, bool) or minutes < 1:
            raise InvalidInput(f"minutes of a SLURM job is {minutes!r}: give a whole number from 1 upwards.")
        if memory_gb is not None and (not isinstance(memory_gb, int | float) or not memory_gb > 0):
            raise InvalidInput(f"memory_gb of a SLURM job is {memory_gb!r}: give a number greater than 0, or None.")
        given = {"minutes": minutes, "memory_gb": memory_gb, "folder": folder, "cluster": cluster}
        for name, value in {**given, "parameters": parameters}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, init=False)
class Ray:
    """Run each evaluation as a Ray task, on the cluster that `ray.init` connected to, or on this machine.

    Args:
        parameters: arguments of Ray's `remote`, such as num_cpus=2, num_gpus=1, resources={"license": 1}.
    """

    parameters: Mapping[str, Any]

    def __init__(self, **parameters: Any) -> None:
        object.__setattr__(self, "parameters", parameters)


KINDS: dict[str, Callable[..., Slurm | Ray]] = {"slurm": Slurm, "ray": Ray}


def named(text: str) -> Slurm | Ray | None:
    """The executor named by a text such as slurm:minutes=30,memory_gb=8; None if it names no executor of this file.

    Raises:
        InvalidInput: the text after the name is not a list of settings.
    """
    name, _, settings = text.partition(":")
    if name not in KINDS:
        return None
    pairs = [pair.partition("=") for pair in settings.split(",")] if settings else []
    for key, equals, value in pairs:
        if not key.isidentifier() or not equals or not value:
            raise InvalidInput(
                f"{key + equals + value!r} in executor {text!r} is no setting: write {name}:key=value,..."
            )
    return KINDS[name](**{key: number_or_text(text) for key, _, text in pairs})
