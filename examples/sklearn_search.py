"""A pipeline of scikit-learn tuned in scikit-learn's own manner, two candidates at a time: half a minute.

    pip install '.[sklearn]'
    python examples/sklearn_search.py

What has been evaluated is in sklearn_search.db. Kill it and run it again: it goes on where it was.
"""

from __future__ import annotations

import sys

from aegisbo import Int, Real

try:
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from aegisbo.integrations import AegisSearchCV
except ImportError:
    sys.exit("This example needs scikit-learn: pip install '.[sklearn]'")

SPACE = {
    "svc__kernel": ["linear", "rbf", "poly"],  # a list is choices
    "svc__C": Real(1e-2, 1e3, log=True),
    "svc__gamma": Real(1e-4, 1.0, log=True, when={"svc__kernel": ["rbf", "poly"]}),
    "svc__degree": Int(2, 4, when={"svc__kernel": "poly"}),
}
X, y = load_breast_cancer(return_X_y=True)
search = AegisSearchCV(
    make_pipeline(StandardScaler(), SVC()), SPACE, n_iter=30, n_jobs=2, study="sklearn_search.db", random_state=0
)
search.fit(X, y)
print(f"best {search.best_score_:.4f} with {search.best_params_}")
