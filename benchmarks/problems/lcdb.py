"""Real learning curves: 20 learners of scikit-learn on growing samples of a data set, with the times of their fits.

The package lcdb (MIT) carries them, and needs no network. Only its table is read: to import it would need openml. A
training fits a learner anew to each sample size, up to all data, and reports the validation accuracy each time: one
split, so curves are noisy, and they cross. `DATA_SETS` are those with 5,000 samples or more on which all 20 learners
came to the end.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from aegisbo.errors import AegisError

DATA_SETS = ("6", "201", "722", "735", "761", "823", "847", "901", "959", "1053", "23517", "41027")  # OpenML's numbers

Fit = tuple[float, float, float]  # sample size, validation accuracy in percent, seconds of all fits so far


@cache
def fits(data_set: str) -> dict[str, list[Fit]]:
    """What each learner reached on samples of growing size."""
    known: dict[str, list[Fit]] = defaultdict(list)
    with _table().open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(f"{data_set},"):
                _, learner, size, _, outer, inner, seconds, _, accuracy, _ = line.split(",")
                if (outer, inner) == ("0", "0"):
                    known[learner].append((float(size), 100.0 * float(accuracy), float(seconds)))
    return {learner: _added_up(sorted(told)) for learner, told in sorted(known.items())}


def _added_up(told: list[Fit]) -> list[Fit]:
    return [(size, accuracy, sum(each[2] for each in told[: k + 1])) for k, (size, accuracy, _) in enumerate(told)]


def _table() -> Path:
    package = find_spec("lcdb")
    if package is None or package.origin is None:
        raise AegisError("The curves of lcdb come with its package: pip install --no-deps lcdb==0.1.0.")
    return Path(package.origin).with_name("database-accuracy.csv")
