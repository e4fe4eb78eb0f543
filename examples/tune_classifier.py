"""A scikit-learn model tuned in a mixed space; interrupt it and run it again: it goes on where it was.

python examples/tune_classifier.py
"""

from __future__ import annotations

import aegisbo

SPACE = {
    "learning_rate": aegisbo.Real(1e-3, 1.0, log=True),
    "max_leaf_nodes": aegisbo.Int(4, 128, log=True),
    "l2_regularization": aegisbo.Real(1e-6, 10.0, log=True),
    "min_samples_leaf": aegisbo.Int(5, 100, step=5),
    "loss_weights": aegisbo.Choice(["balanced", "none"]),
}


def error(learning_rate, max_leaf_nodes, l2_regularization, min_samples_leaf, loss_weights):
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import cross_val_score

    model = HistGradientBoostingClassifier(
        learning_rate=learning_rate,
        max_leaf_nodes=max_leaf_nodes,
        l2_regularization=l2_regularization,
        min_samples_leaf=min_samples_leaf,
        class_weight=None if loss_weights == "none" else loss_weights,
        max_iter=50,
        random_state=0,
    )
    X, y = load_breast_cancer(return_X_y=True)
    return 1 - cross_val_score(model, X, y, cv=3).mean()


result = aegisbo.minimize(error, SPACE, budget=40, workers=2, seed=0, study="tune_classifier.db")
print(result)
