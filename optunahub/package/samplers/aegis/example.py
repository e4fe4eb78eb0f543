"""Minimize a bowl with four trials at a time.

python example.py
"""

from __future__ import annotations

from pathlib import Path

import optuna

import optunahub


def objective(trial: optuna.Trial) -> float:
    """The bowl; its bottom is at (3, 2.25)."""
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 2, 3)
    return (x - 3) ** 2 + 10 * (y - 2.25) ** 2


registry = Path(__file__).parents[2]  # once the package is published, load_module("samplers/aegis") finds it
module = optunahub.load_local_module("samplers/aegis", registry_root=str(registry))
study = optuna.create_study(sampler=module.AegisSampler(seed=0))
study.optimize(objective, n_trials=30, n_jobs=4)
print(study.best_value, study.best_params)  # noqa: T201
