"""Learn to tune a scikit-learn classifier with four workers, a time limit, and a study that resumes.

    pip install scikit-learn
    python examples/tune_classifier.py

It takes a minute. The study is the file tune_classifier.db: stop the script with Ctrl-C or kill it, and run it again:
it continues. docs/gallery.md shows such a run.
"""

from __future__ import annotations

import sys

import aegisbo

try:
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC
except ImportError:
    sys.exit("This example needs scikit-learn: pip install scikit-learn")

X, y = load_digits(return_X_y=True)  # 1797 pictures of 8 x 8 pixels
SPACE = {
    "components": aegisbo.Int(4, 64, log=True),
    "C": aegisbo.Real(1e-2, 1e4, log=True),
    "gamma": aegisbo.Real(1e-6, 1e-1, log=True),
    "kernel": aegisbo.Choice(["rbf", "poly", "sigmoid"]),
}
DEFAULT = {"components": 64, "C": 1.0, "gamma": 1 / (64 * X.var()), "kernel": "rbf"}  # as SVC() chooses


def error(components, C, gamma, kernel):
    model = make_pipeline(PCA(components, random_state=0), SVC(C=C, gamma=gamma, kernel=kernel))
    return 1 - cross_val_score(model, X, y, cv=5).mean()


result = aegisbo.minimize(
    error,
    SPACE,
    budget=60,
    workers=4,
    initial=[DEFAULT],
    n_initial=8,
    trial_timeout=5,  # seconds; some settings would not converge in an hour
    study="tune_classifier.db",
    seed=0,
)
print(f"scikit-learn's defaults: {result.trials[0].value:.2%} of the digits are taken for another")
print(f"tuned:                   {result.fun:.2%} with {result.x}")
