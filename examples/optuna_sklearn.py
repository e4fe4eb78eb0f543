"""Learn to tune a scikit-learn model with Optuna and our sampler, and to see why each point was chosen.

    pip install '.[optuna]' scikit-learn
    python examples/optuna_sklearn.py

The space has log scales, steps and choices. It takes half a minute.
"""

from __future__ import annotations

import sys

import aegisbo

try:
    import optuna
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
except ImportError:
    sys.exit("This example needs Optuna and scikit-learn: pip install '.[optuna]' scikit-learn")

X, y = load_breast_cancer(return_X_y=True)


def accuracy(trial):
    model = SVC(
        C=trial.suggest_float("C", 1e-3, 1e3, log=True),
        gamma=trial.suggest_float("gamma", 1e-5, 1.0, log=True),
        coef0=trial.suggest_float("coef0", 0.0, 1.0, step=0.25),
        kernel=trial.suggest_categorical("kernel", ["rbf", "poly", "sigmoid"]),
        degree=trial.suggest_int("degree", 2, 4),  # only "poly" uses it
    )
    return cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=5).mean()


study = optuna.create_study(direction="maximize", sampler=aegisbo.AegisSampler(seed=0))
study.enqueue_trial(
    {"kernel": "rbf", "C": 1.0, "gamma": 1 / X.shape[1], "coef0": 0.0, "degree": 3}
)  # scikit-learn's own choice
study.optimize(accuracy, n_trials=40, n_jobs=2)

print(f"scikit-learn's defaults: {study.trials[0].value:.4f}")
print(f"best: {study.best_value:.4f} at {study.best_params}")
for trial in study.trials[-3:]:
    print(f"trial {trial.number} is there because:", trial.user_attrs["aegisbo:move"], trial.user_attrs["aegisbo:note"])
