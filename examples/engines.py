"""Learn where evaluations can run: the same call with processes, with threads, and on a Dask cluster.

    pip install '.[dask]'
    python examples/engines.py

It takes half a minute. Only `executor` differs between the runs; SLURM, Ray and others are as simple (docs/engines.md).
"""

from __future__ import annotations

import math
import sys
import time

import aegisbo

try:
    from distributed import Client, LocalCluster
except ImportError:
    sys.exit("This example needs Dask: pip install '.[dask]'")


def branin(x):
    time.sleep(0.2 + 0.4 * (x[0] > 2))  # stands for a simulation that is slower in one half of the space
    valley = (x[1] - 5.1 / (4 * math.pi**2) * x[0] ** 2 + 5 / math.pi * x[0] - 6) ** 2
    return valley + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10


def run(executor):
    began = time.perf_counter()
    result = aegisbo.minimize(branin, [(-5, 10), (0, 15)], budget=30, workers=4, executor=executor, seed=0)
    print(f"{result.fun:.4f} (the minimum is 0.3979) after {time.perf_counter() - began:.0f} s with {executor}")
    return result


if __name__ == "__main__":  # Dask's local cluster starts Python processes that import this file
    run("processes")  # the default: a crash or a hang costs one evaluation
    run("threads")  # for functions that only wait, as this one does
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster) as client:
        print(run(client))  # or the address of a scheduler: "tcp://scheduler:8786"
