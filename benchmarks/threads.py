"""What suggestions from several threads cost: seconds and processor seconds, beside the same with one BLAS thread.

    .venv/bin/python benchmarks/threads.py

Two floats, 40 evaluations of 0.3 s each, by `AegisSampler` in Optuna's threads and by `Optimizer.ask` in threads of our
own. Each run is a process of its own. If suggestions had all BLAS threads, they would take several times as long as
with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

EVALUATIONS, SECONDS = 40, 0.3
BOX = {"x": (-5.0, 10.0), "y": (0.0, 15.0)}


def objective(x: float, y: float) -> float:
    """A bowl that takes its time and no processor."""
    time.sleep(SECONDS)
    return (x - 1.0) ** 2 + (y - 4.0) ** 2


def by_optuna(sampler: str, threads: int) -> None:
    """`study.optimize`, as its users call it."""
    import optuna

    from aegisbo import AegisSampler

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    samplers = {"aegis": AegisSampler, "tpe": optuna.samplers.TPESampler}
    study = optuna.create_study(sampler=samplers[sampler](seed=0))
    study.optimize(
        lambda trial: objective(*(trial.suggest_float(name, *box) for name, box in BOX.items())),
        n_trials=EVALUATIONS,
        n_jobs=threads,
    )


def by_ask(_: str, threads: int) -> None:
    """`Optimizer.ask` and `tell` in threads that live as long as the run."""
    from aegisbo import Optimizer

    optimizer = Optimizer(BOX, seed=0)

    def work(_: int) -> None:
        trial = optimizer.ask()
        optimizer.tell(trial, objective(**trial.params))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(EVALUATIONS)))


WAYS: dict[str, Callable[[str, int], None]] = {"optuna": by_optuna, "ask": by_ask}


def main() -> None:
    """Measure every case in a process of its own, or the one that the arguments name."""
    if len(sys.argv) > 1:
        way, sampler, threads = sys.argv[1:]
        started = time.perf_counter()
        WAYS[way](sampler, int(threads))
        print(f"{time.perf_counter() - started:6.1f} s   {time.process_time():6.1f} s of processor")
        return
    plain = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    for way, sampler in [("optuna", "aegis"), ("ask", "aegis"), ("optuna", "tpe")]:
        for threads in ("1", "4"):
            for name, more in {"as it is": {}, "one BLAS thread": {"OPENBLAS_NUM_THREADS": "1"}}.items():
                case = [sys.executable, __file__, way, sampler, threads]
                answer = subprocess.run(case, env=plain | more, check=True, capture_output=True, text=True).stdout
                print(f"{way:7} {sampler:6} {threads} threads   {name:16} {answer}", end="", flush=True)


if __name__ == "__main__":
    main()
