"""How often trainings of LCBench end inside the bands that are predicted for them.

    python -m benchmarks.curves.bands --set develop

Two kinds of trainings are predicted at 10, 25 and 50 % of their epochs: random ones from others (10 and 30), and those
that a run with full trainings chose, each from those before it (from the tenth on).
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import stdtr

from aegisbo import Optimizer, Space
from aegisbo.stopping.curve import Curve
from aegisbo.stopping.end_model import EndModel
from benchmarks.curves.__main__ import SETS
from benchmarks.problems.trainings import EPOCHS, tasks, training

EPOCHS_SEEN = (5, 13, 26)
RANDOM, CHOSEN = 90, 60  # trainings
Case = tuple[Sequence[Curve], Sequence[Curve]]  # those that have ended, and those that are predicted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=list(SETS), default="develop")
    inside: dict[str, list[list[bool]]] = defaultdict(list)
    for name in tasks(SETS[parser.parse_args().set]):
        for kind, cases in _cases(name).items():
            shares = []
            for epoch in EPOCHS_SEEN:
                known = [each for case in cases for each in _inside(*case, epoch)]
                inside[f"{kind}, epoch {epoch}"] += known
                shares.append("{:.2f} {:.2f}".format(*np.mean(known, axis=0)))
            print(f"{name:16} {kind:24}" + "   ".join(shares), flush=True)
    for kind, known in inside.items():
        print("{:40}{:.3f} of ends in the middle 50 %, {:.3f} in 95 %".format(kind, *np.mean(known, axis=0)))


def _cases(name: str) -> dict[str, list[Case]]:
    random, chosen = _trainings(name, RANDOM, "random"), _trainings(name, CHOSEN, "aegis")
    return {
        "random, 10 known": [(random[:10], random[30:])],
        "random, 30 known": [(random[:30], random[30:])],
        "chosen by a run": [(chosen[:k], chosen[k : k + 1]) for k in range(10, CHOSEN)],
    }


def _trainings(name: str, count: int, strategy: str) -> list[Curve]:
    """Trainings, as they are chosen one after the other."""
    problem, steps = training(name), np.arange(1.0, EPOCHS + 1.0)
    optimizer, space = Optimizer(problem.space, strategy=strategy, seed=0, maximize=True), Space(problem.space)
    curves = []
    for _ in range(count):
        trial = optimizer.ask()
        values = problem(trial.params).values
        optimizer.tell(trial, float(values[-1]))
        curves.append(Curve(steps, -values, -float(values[-1]), point=space.encoded(trial.params)))
    return curves


def _inside(ended: Sequence[Curve], others: Sequence[Curve], epoch: int) -> Iterator[list[bool]]:
    """Whether ends lie in the middle 50 and 95 %."""
    seen = [Curve(each.steps[:epoch], each.values[:epoch], point=each.point) for each in others]
    for curve, law in zip(others, EndModel(ended).forecasts(seen), strict=True):
        assert law is not None
        u = (law.scale.standardized(np.array([curve.end]))[0] - law.center) / law.spread
        yield [abs(stdtr(law.freedom, u) - 0.5) <= half for half in (0.25, 0.475)]


if __name__ == "__main__":
    main()
