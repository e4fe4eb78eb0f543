"""Several processes share a study in a PostgreSQL database, which this script starts, and stops when it ends.

    apt install postgresql && pip install '.[optuna]' 'psycopg[binary]'
    python examples/optuna_postgres.py

Root may not run the server, so for root it runs as the user `postgres`, whom Debian's package brings along.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import aegisbo

try:
    import optuna
    import psycopg  # noqa: F401 - which SQLAlchemy, that comes with Optuna, connects by
except ImportError:
    sys.exit("This example needs Optuna and psycopg: pip install '.[optuna]' 'psycopg[binary]'")

PROCESSES, TRIALS_EACH = 3, 12


@contextmanager
def postgres():
    """The address of a fresh server that only this machine's root and `postgres`, or you, can reach."""
    program = shutil.which("pg_ctl") or next(map(str, Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")), None)
    if program is None:
        raise SystemExit("There is no PostgreSQL: apt install postgresql")
    user = "postgres" if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory() as folder:
        if user:
            shutil.chown(folder, user)

        def pg_ctl(*arguments):
            subprocess.run(
                [program, "--pgdata", f"{folder}/data", *arguments],
                user=user,
                cwd=folder,
                check=True,
                stdout=subprocess.DEVNULL,
            )

        pg_ctl("init", "--options=--auth=trust --username=postgres")
        # By a socket in the folder, not by the network.
        pg_ctl("start", "--wait", "--log", f"{folder}/log", f"--options=-c listen_addresses='' -k {folder}")
        try:
            yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
        finally:
            pg_ctl("stop", "--mode=immediate")


def objective(trial):
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 2, 3)
    layers = trial.suggest_int("layers", 1, 6)
    time.sleep(0.2)  # stands for a simulation
    return (x - 3) ** 2 + 10 * (y - 2.25) ** 2 + abs(layers - 4)


def open_study(url):
    """The same in every process, with the same seed: random numbers follow from it and the number of the trial."""
    return optuna.create_study(
        study_name="shared", storage=url, sampler=aegisbo.AegisSampler(seed=0), load_if_exists=True
    )


def work(url):
    open_study(url).optimize(objective, n_trials=TRIALS_EACH)


if __name__ == "__main__":
    with postgres() as url:
        study = open_study(url)
        with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
            pool.map(work, [url] * PROCESSES, chunksize=1)
        points = {tuple(trial.params.values()) for trial in study.trials}
        print(f"{len(study.trials)} trials by {PROCESSES} processes, {len(points)} different points")
        print(f"best {study.best_value:.4f} at {study.best_params}")
