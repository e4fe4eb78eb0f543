"""How long workers wait for suggestions: 8 workers, evaluations that sleep, d = 6.

    python -m benchmarks.workers.idle [--seconds 0.01 0.1 1 2] [--evaluations N]

Evaluations take half to one and a half times the given seconds. Takes about two minutes. Prints the shares of the
workers' time; with two seconds, waiting for suggestions must stay under 3 %.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import aegisbo
from aegisbo.simulation import problems

HARTMANN = problems.get("Hartmann6")


class Slow:
    """The function, after so many seconds on average."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, x: np.ndarray) -> float:
        share = float(np.random.default_rng(np.frombuffer(x.tobytes(), np.uint32)).random())
        time.sleep(self.seconds * (0.5 + share))
        return HARTMANN(x)


def measure(seconds: float, budget: int) -> str:
    begin = time.perf_counter()
    result = aegisbo.minimize(Slow(seconds), list(HARTMANN.bounds), budget=budget, workers=8, seed=0)
    wall = time.perf_counter() - begin
    idle = result.idle
    return f"{seconds:>8g} s {idle['suggestion']:>12.2%} {idle['pool']:>6.2%} {idle['nothing']:>8.2%} {wall:>8.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.01, 0.1, 1.0, 2.0])
    parser.add_argument("--evaluations", type=int, default=200)
    options = parser.parse_args()
    print("evaluation   suggestion   pool  nothing      wall")
    for seconds in options.seconds:
        print(measure(seconds, options.evaluations), flush=True)


if __name__ == "__main__":
    main()
