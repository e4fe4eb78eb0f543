"""The shortest way: a function of a vector, its bounds, and a few processes.

python examples/plain_bounds.py
"""

from __future__ import annotations

import math
import time

import aegisbo


def branin(x):
    time.sleep(0.2 + 0.4 * (x[0] > 2))  # stands for a simulation, slower in one half of the space
    return (
        (x[1] - 5.1 / (4 * math.pi**2) * x[0] ** 2 + 5 / math.pi * x[0] - 6) ** 2
        + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0])
        + 10
    )


result = aegisbo.minimize(branin, [(-5, 10), (0, 15)], budget=40, workers=4, seed=0)
print(result)
