"""One run of L-BFGS-B in a box, without the bookkeeping around it.

The routine inside SciPy hands back control whenever it wants to know the function. The loop that SciPy wraps around it
adds some 40 µs of checks and copies to each evaluation, which is more than the mean of a GP takes at a hundred data. So
we answer the routine ourselves. It is not a public part of SciPy: with a version whose routine we do not know, SciPy's
own loop makes the same run, only slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.optimize import fmin_l_bfgs_b

from aegisbo.arrays import Array

Function = Callable[[Array], tuple[float, Array]]  # x (n,) -> value, gradient (n,) in an array of its own

EPSILON = float(np.finfo(np.float64).eps)
FLAT = 1e7 * EPSILON  # SciPy's default, as the next three
LEVEL = 1e-5  # largest entry of the projected gradient at which a run ends
MEMORY = 10  # steps from which the curvature is learned
LINE_SEARCH = 20  # evaluations in one step at most
STEPS = 15_000  # at most
EVALUATIONS = 15_000  # at most, but for those of the last step
WANTS_FUNCTION, HAS_STEPPED = 3, 1  # what the routine may say; anything else ends the run
ROUTINE_IS_KNOWN = (1, 15) <= tuple(int(part) for part in scipy.__version__.split(".")[:2]) <= (1, 17)


@dataclass(frozen=True)
class Bottom:
    """Where a run has ended."""

    x: Array  # (n,)
    value: float
    gradient: Array  # (n,)


def descend(
    function: Function,
    start: Array,
    box: Array,
    *,
    flat: float = FLAT,
    steps: int = STEPS,
    evaluations: int = EVALUATIONS,
) -> Bottom:
    """Follow the function down from `start` (n,), inside the box (n, 2) of finite rows (low, high).

    The run ends with a step that lowers the value by less than `flat`, relative to its size if that is above 1, after
    so many steps, or with the step during which it has more evaluations than these.
    """
    return (_answering if ROUTINE_IS_KNOWN else _by_scipy)(function, start, box, flat / EPSILON, steps, evaluations)


def _by_scipy(function: Function, start: Array, box: Array, tolerance: float, steps: int, evaluations: int) -> Bottom:
    limits = {"maxls": LINE_SEARCH, "maxiter": steps, "maxfun": evaluations}
    x, value, found = fmin_l_bfgs_b(
        function, start, bounds=box.tolist(), m=MEMORY, factr=tolerance, pgtol=LEVEL, **limits
    )
    return Bottom(x, float(value), found["grad"])


def _answering(function: Function, start: Array, box: Array, tolerance: float, steps: int, evaluations: int) -> Bottom:
    from scipy.optimize._lbfgsb import setulb

    n, m = len(start), MEMORY
    low, high = np.ascontiguousarray(box.T)
    both_sides = np.full(n, 2, np.int32)
    x, value, gradient = start.copy(), 0.0, np.zeros(n)
    work = np.zeros(2 * m * n + 5 * n + 11 * m * m + 8 * m), np.zeros(3 * n, np.int32)
    task, search = np.zeros((2, 2), np.int32)
    state = np.zeros(4, np.int32), np.zeros(44, np.int32), np.zeros(29)
    while True:
        function_here = x, low, high, both_sides, value, gradient
        setulb(m, *function_here, tolerance, LEVEL, *work, task, *state, LINE_SEARCH, search)
        if task[0] == WANTS_FUNCTION:
            value, gradient = function(x.copy())
            evaluations -= 1
        elif task[0] == HAS_STEPPED and steps > 1 and evaluations >= 0:
            steps -= 1
        else:
            break
    return Bottom(x, float(value), gradient)
