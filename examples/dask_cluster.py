"""Evaluations on a Dask cluster: here one on this machine, elsewhere the address of its scheduler.

python examples/dask_cluster.py
"""

from __future__ import annotations

import sys
import time

import aegisbo

try:
    from distributed import Client, LocalCluster
except ImportError:
    sys.exit("This example needs Dask: pip install '.[dask]'")


def simulation(x):
    time.sleep(0.3)
    return (x[0] - 3) ** 2 + (x[1] - 2.5) ** 2


if __name__ == "__main__":  # Dask's local cluster starts Python processes that import this file
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster) as client:
        result = aegisbo.minimize(simulation, [(-5, 10), (2, 3)], budget=30, executor=client, seed=0)
        # The same with an address: executor="tcp://scheduler:8786"
    print(result)
