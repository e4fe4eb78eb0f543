"""How long workers wait for suggestions: 8 workers, evaluations of 1 to 3 seconds (sleep), d = 6, 200 evaluations.

    python benchmarks/idle.py [--evaluations N]

Takes about a minute. Prints the shares of the workers' time; waiting for suggestions must stay under 3 %.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import aegisbo
from aegisbo.simulation import problems

HARTMANN = problems.get("Hartmann6")


def slow(x: np.ndarray) -> float:
    time.sleep(1.0 + 2.0 * float(np.random.default_rng(np.frombuffer(x.tobytes(), np.uint32)).random()))
    return HARTMANN(x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evaluations", type=int, default=200)
    budget = parser.parse_args().evaluations
    result = aegisbo.minimize(slow, list(HARTMANN.bounds), budget=budget, workers=8, seed=0)
    print(result)
    print(f"waiting for suggestions: {result.idle['suggestion']:.2%} (under 3 %)")


if __name__ == "__main__":
    main()
