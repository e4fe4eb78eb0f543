"""Learn to share an Optuna study between processes, also on several machines: in a journal file, or in a database.

    pip install '.[optuna]'
    python examples/optuna_processes.py

For a database, give its address; PostgreSQL also needs `pip install 'psycopg[binary]'`:

    python examples/optuna_processes.py postgresql+psycopg://user:password@host/database
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time

import aegisbo

try:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend
except ImportError:
    sys.exit("This example needs Optuna: pip install '.[optuna]'")

PROCESSES, TRIALS_EACH = 4, 12


def objective(trial):
    lr = trial.suggest_float("lr", 1e-5, 1e-1, log=True)
    units = trial.suggest_int("units", 16, 512, log=True)
    time.sleep(0.2)  # stands for a training
    return abs(lr - 0.003) * 100 + (units - 100) ** 2 / 1e4


def open_study(place):
    """The same in every process, with the same seed: random numbers follow from it and the number of the trial."""
    storage = place if "://" in place else JournalStorage(JournalFileBackend(place))
    return optuna.create_study(
        study_name="shared", storage=storage, sampler=aegisbo.AegisSampler(seed=0), load_if_exists=True
    )


def work(place):
    open_study(place).optimize(objective, n_trials=TRIALS_EACH)


def main(place):
    study = open_study(place)
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        pool.map(work, [place] * PROCESSES, chunksize=1)
    points = {tuple(trial.params.values()) for trial in study.trials}
    print(f"{len(study.trials)} trials by {PROCESSES} processes, {len(points)} different points")
    print(f"best {study.best_value:.4f} at {study.best_params}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/journal.log")
