"""Environment variables of worker processes: a share of the cores, the slot, and what the user wants."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.runners.slots import VARIABLE

WorkerEnv = Mapping[str, str] | Callable[[int], Mapping[str, str]]  # for all, with {slot} filled in; or by slot

# Workers that each use all cores slow each other down many times over. joblib sets the same variables.
THREAD_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def whole_environments(
    worker_env: WorkerEnv | None, threads: int | None, cores: int, workers: int
) -> list[dict[str, str]]:
    """All variables of each worker. Numerical libraries get `threads`, or by default a share of the cores."""
    limited = [name for name in THREAD_LIMITS if threads is not None or name not in os.environ]
    limits = dict.fromkeys(limited, str(threads or max(1, cores // workers)))
    return [{**os.environ, **limits, **own} for own in by_slot(worker_env, workers)]


def by_slot(worker_env: WorkerEnv | None, workers: int) -> list[dict[str, str]]:
    """The variables of each worker, including its slot; refuses invalid ones."""
    return [{**_checked(worker_env, slot), VARIABLE: str(slot)} for slot in range(workers)]


def _checked(worker_env: Any, slot: int) -> dict[str, str]:
    given = worker_env(slot) if callable(worker_env) else {} if worker_env is None else worker_env
    if not isinstance(given, Mapping):
        what = f"worker_env({slot}) returned" if callable(worker_env) else "worker_env is"
        raise InvalidInput(
            f"{what} {given!r}: give variables by name, as in {{'CUDA_VISIBLE_DEVICES': '{{slot}}'}}, or a function "
            "from the slot to them."
        )
    for name, value in given.items():
        if not isinstance(name, str) or not name or "=" in name or "\0" in name:
            raise InvalidInput(f"worker_env names a variable {name!r}: a name is text without =.")
        if not isinstance(value, str) or "\0" in value:
            raise InvalidInput(f"worker_env sets {name} to {value!r}: a value is text, as in str(...).")
        for word in re.findall(r"\{(\w+)\}", value):
            if word != "slot" and get_close_matches(word.lower(), ["slot"]):
                raise InvalidInput(f"worker_env sets {name} to {value!r}: write {{slot}} for the number of the worker.")
    if callable(worker_env):
        return dict(given)
    return {name: value.replace("{slot}", str(slot)) for name, value in given.items()}
