"""Asynchronous successive halving by ranks: of those that got as far, the best third goes on.

This is the stopping variant of ASHA (Li et al., MLSys 2020). An evaluation is looked at when it reaches an 81st, a
27th, a ninth and a third of all steps, and compared with what the others reported when they were there, whether they
still run or not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.stopping.curve import Curve
from aegisbo.stopping.curves import Curves


@dataclass(frozen=True)
class Ranks:
    """Go on if at most a share of 1/eta is better."""

    eta: int = 3
    rungs: int = 4  # below the end, each at 1/eta of the steps of the next one
    anytime: bool = False

    def objection(self, number: int, curves: Curves) -> str:
        """Why the evaluation is not among the best at the highest rung that its last report has reached."""
        if curves.last_step is None:
            return ""
        curve = curves.of[number]
        rungs = curves.last_step / self.eta ** np.arange(1.0, self.rungs + 1)  # (rungs,), the highest first
        before = curve.steps[-2] if len(curve.steps) > 1 else -np.inf
        reached = rungs[(before < rungs) & (rungs <= curve.steps[-1])]
        if not len(reached):
            return ""
        there = [value for each in curves.of.values() if (value := _when_at(each, reached[0])) is not None]
        rank = 1 + sum(value < curve.values[-1] for value in there)
        if len(there) < self.eta or rank <= len(there) // self.eta:
            return ""
        return f"At step {curve.steps[-1]:g} it was number {rank} of {len(there)}."

    def gains(self, number: int, curves: Curves) -> bool:
        """Whether it is among the best now, where it was stopped."""
        return not self.objection(number, curves)


def _when_at(curve: Curve, rung: float) -> float | None:
    """What an evaluation reported when it reached a rung."""
    k = int(np.searchsorted(curve.steps, rung))
    return float(curve.values[k]) if k < len(curve.steps) else None
