"""L-BFGS-B in a box, without the bookkeeping around it: one run, or several that are evaluated together.

The routine inside SciPy hands back control whenever it wants to know the function. The loop that SciPy wraps around it
adds some 40 µs of checks and copies to each evaluation, which is more than the mean of a GP takes at a hundred data. So
we answer the routine ourselves. It is not a public part of SciPy: with a version whose routine we do not know, SciPy's
own loop makes the same run, only slower.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy
from scipy.optimize import fmin_l_bfgs_b

from aegisbo.arrays import Array

Function = Callable[[Array], tuple[float, Array]]  # x (n,) -> value, gradient (n,) in an array of its own
Batch = Callable[[Array], tuple[Array, Array]]  # X (m, n) -> values (m,), gradients (m, n)

EPSILON = float(np.finfo(np.float64).eps)
# All of these are SciPy's defaults.
LEAST_DECREASE = 1e7 * EPSILON  # relative decrease of a step below which a run ends
LEVEL = 1e-5  # largest entry of the projected gradient at which a run ends
MEMORY = 10  # steps from which the curvature is learned
LINE_SEARCH = 20  # evaluations in one step at most
MOST_STEPS = 15_000
MOST_EVALUATIONS = 15_000  # apart from those of the last step

UNLIKELY = 1e10  # stands for infinity, which would end a line search
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
    flat: float = LEAST_DECREASE,
    steps: int = MOST_STEPS,
    evaluations: int = MOST_EVALUATIONS,
) -> Bottom:
    """Follow the function down from `start` (n,), inside the box (n, 2) of finite rows (low, high).

    The run ends with a step that lowers the value by less than `flat`, relative to its size if that is above 1, after
    so many steps, or with the step during which it has more evaluations than these.
    """
    if not ROUTINE_IS_KNOWN:
        return _by_scipy(function, start, box, flat, steps, evaluations)
    run = _Run(start, box, flat, steps, evaluations)
    while run.asks():
        run.value, run.gradient = function(run.x.copy())
    return run.bottom


def climb(
    function: Function, start: Array, box: Array, *, steps: int, flat: float = LEAST_DECREASE
) -> tuple[float, Array]:
    """The value and the place (n,) where a way up from `start` (n,) ends; where the function is −∞ it turns back."""

    def downwards(x: Array) -> tuple[float, Array]:
        value, gradient = function(x)
        return (-value, -gradient) if np.isfinite(value) else (UNLIKELY, gradient)

    found = descend(downwards, start, box, flat=flat, steps=steps)
    return (-found.value if found.value < UNLIKELY else -np.inf), found.x


def descend_each(function: Batch, starts: Array, boxes: Array) -> list[Bottom]:
    """Follow the function down from each of `starts` (k, n), inside its own box of `boxes` (k, n, 2).

    Each run makes its own steps, as `descend` would; one call answers all that wait for the function.
    """
    if not ROUTINE_IS_KNOWN:
        return [descend(partial(alone, function), *each) for each in zip(starts, boxes, strict=True)]
    limits = LEAST_DECREASE, MOST_STEPS, MOST_EVALUATIONS
    waiting = runs = [_Run(start, box, *limits) for start, box in zip(starts, boxes, strict=True)]
    while waiting := [run for run in waiting if run.asks()]:
        values, gradients = function(np.array([run.x for run in waiting]))
        for run, value, gradient in zip(waiting, values, gradients, strict=True):
            run.value, run.gradient = float(value), gradient.copy()
    return [run.bottom for run in runs]


def alone(function: Batch, x: Array) -> tuple[float, Array]:
    """The function at one point (n,)."""
    values, gradients = function(x[None, :])
    return float(values[0]), gradients[0]


def _by_scipy(function: Function, start: Array, box: Array, flat: float, steps: int, evaluations: int) -> Bottom:
    limits = {"maxls": LINE_SEARCH, "maxiter": steps, "maxfun": evaluations}
    x, value, found = fmin_l_bfgs_b(
        function, start, bounds=box.tolist(), m=MEMORY, factr=flat / EPSILON, pgtol=LEVEL, **limits
    )
    return Bottom(x, float(value), found["grad"])


class _Run:
    """SciPy's routine on its way down, held whenever it wants to know the function at `x`."""

    def __init__(self, start: Array, box: Array, flat: float, steps: int, evaluations: int) -> None:
        from scipy.optimize._lbfgsb import setulb

        n, m = len(start), MEMORY
        self.x, self.value, self.gradient = start.copy(), 0.0, np.zeros(n)
        self._go_on = setulb
        self._steps, self._evaluations = steps, evaluations  # that are left
        low, high = np.ascontiguousarray(box.T)
        self._box = low, high, np.full(n, 2, np.int32)  # bounded on both sides
        work = np.zeros(2 * m * n + 5 * n + 11 * m * m + 8 * m), np.zeros(3 * n, np.int32)
        self._task, search = np.zeros((2, 2), np.int32)
        state = np.zeros(4, np.int32), np.zeros(44, np.int32), np.zeros(29)
        self._rest = flat / EPSILON, LEVEL, *work, self._task, *state, LINE_SEARCH, search

    def asks(self) -> bool:
        """Go on with the value and gradient at `x`; whether it wants to know them at another `x`, or has ended."""
        while True:
            self._go_on(MEMORY, self.x, *self._box, self.value, self.gradient, *self._rest)
            if self._task[0] == WANTS_FUNCTION:
                self._evaluations -= 1
                return True
            if self._task[0] != HAS_STEPPED or self._steps <= 1 or self._evaluations < 0:
                return False
            self._steps -= 1

    @property
    def bottom(self) -> Bottom:
        return Bottom(self.x, float(self.value), self.gradient)
