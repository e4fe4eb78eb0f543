"""Go on while what may be gained per second is worth it, against what the worker would start instead.

The gain of an evaluation is by how much it is expected to end below the best value so far. What a new evaluation gains,
and what it costs, is learned from the latest ones: where they ended or would have ended, and how long they kept their
worker, also those that were stopped early.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from aegisbo.arrays import Array
from aegisbo.stopping.curve import Curve
from aegisbo.stopping.curves import Curves

TAIL = 1e-9  # a spread above 0


@dataclass(frozen=True)
class Gain:
    """Stop what gains less per second than a new evaluation would, unless it has a chance to become the best."""

    # An evaluation goes on if its chance to become the best is at least this share of that of one of which nothing is
    # known: of n + 1 values, each is as likely to be the best.
    share: float = 0.2
    enough: int = 6  # ends, before which nothing is stopped
    latest: int = 20  # evaluations from which it is learned what a new one gains
    anytime: bool = True

    def objection(self, number: int, curves: Curves) -> str:
        """Why the evaluation, by its last report, should make room for a new one."""
        curve, ended = curves.of[number], len(curves.model.ended)
        if curves.last_step is None or curve.steps[-1] >= curves.last_step or ended < self.enough:
            return ""
        if not np.isfinite(curve.values[-1]):
            return f"At step {curve.steps[-1]:g} its value was not finite."
        law = curves.model.forecasts([curve])[0]
        if law is None or (chance := law.below(curves.best)) >= self.share / (ended + 1) or self.gains(number, curves):
            return ""
        return f"At step {curve.steps[-1]:g} its chance to become the best was {chance:.2%}: a new one gains more."

    def gains(self, number: int, curves: Curves) -> bool:
        """Whether it is expected to gain at least as much per second that it still needs as a new one would."""
        curve, last_step = curves.of[number], curves.last_step
        law = curves.model.forecasts([curve])[0]
        over = [curves.of[each] for each in sorted(curves.of) if not curves.of[each].runs][-self.latest :]
        if law is None or last_step is None or not over:
            return False
        timed = all(each.seconds for each in (curve, *over))
        remaining = (last_step / curve.steps[-1] - 1.0) * _cost(curve, timed) if curve.steps[-1] > 0.0 else last_step
        of_new = float(_gains(over, curves).sum()) / sum(_cost(each, timed) for each in over)
        return law.gain(curves.best) >= of_new * remaining


def _cost(curve: Curve, timed: bool) -> float:
    """Seconds for which it has kept its worker; its steps if nobody tells the time."""
    return float(curve.seconds if timed and curve.seconds else curve.steps[-1])


def _gains(over: Sequence[Curve], curves: Curves) -> Array:
    """By how much others like these would be expected to end below the best, on the soft scale.

    Nothing that has ended is below the best: the density of all places is estimated, not only where they are.
    """
    soft = curves.model.scale.standardized
    ended = soft(np.array([each.end for each in over if each.end is not None], dtype=np.float64))
    others = [law for law in curves.model.forecasts(each for each in over if each.end is None) if law is not None]
    centers = np.append(ended, [law.center for law in others])
    if not len(centers):
        return centers
    spreads = np.append(np.zeros(len(ended)), [law.spread for law in others])
    width = 1.06 * centers.std() * len(centers) ** -0.2  # Silverman's rule
    spreads = np.hypot(spreads, width) + TAIL
    u = (soft(np.array([curves.best])) - centers) / spreads
    return np.asarray(spreads * (u * ndtr(u) + np.exp(-0.5 * u * u) / np.sqrt(2.0 * np.pi)))
