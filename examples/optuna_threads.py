"""Eight trials at a time in one process: only the sampler differs from what you have.

python examples/optuna_threads.py
"""

from __future__ import annotations

import math
import sys
import time

import aegisbo

try:
    import optuna
except ImportError:
    sys.exit("This example needs Optuna: pip install '.[optuna]'")


def objective(trial):
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 0, 15)
    time.sleep(0.2 + 0.4 * (x > 2))  # stands for a simulation, slower in one half of the space
    return (
        (y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10
    )


study = optuna.create_study(sampler=aegisbo.AegisSampler(seed=0))
study.optimize(objective, n_trials=48, n_jobs=8)

print(f"best {study.best_value:.4f} (the minimum is 0.3979) at {study.best_params}")
for trial in study.trials[-3:]:
    print(f"trial {trial.number} is there because:", trial.user_attrs["aegisbo:move"], trial.user_attrs["aegisbo:note"])
