"""One parameter from end to end, in even steps of its own scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from aegisbo.space.cube import Continuous, OneHot
from aegisbo.space.parameters import Parameter


def sweep(parameter: Parameter, count: int) -> list[Any]:
    """All choices; all whole numbers if there are at most so many; else so many values evenly spread, ends included."""
    axis = parameter.axis
    if isinstance(axis, Continuous) or (axis.size > count and not isinstance(axis, OneHot)):
        points = axis.fill(np.linspace(0.0, 1.0, count))
    else:
        points = axis.points(np.arange(axis.size))
    return list(dict.fromkeys(parameter.decode(u) for u in points))
