"""The model's prediction at points, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtr

from aegisbo.arrays import Array
from aegisbo.optimizer.direction import Direction, Values
from aegisbo.printable import printable
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.chance import Chance
from aegisbo.strategies.exact import Exact
from aegisbo.strategies.law import Law

WIDE = 1.959963984540054  # standard deviations on either side that hold 95 % of a normal law
SHARES = (0.025, float(ndtr(-1.0)), 0.25, 0.5, 0.75, float(ndtr(1.0)), 0.975)  # of the quantiles of a prediction
SHOWN = 10  # points listed in a text
T = TypeVar("T")


class OfEach(dict[str, T]):
    """Something of each objective by name; its text names each."""

    def __repr__(self) -> str:
        return printable("\n\n".join(f"{name}\n{told!r}" for name, told in self.items()))


@dataclass(frozen=True, repr=False)
class Prediction:
    """What the model expects of the function without noise at m points: arrays, or numbers for a single point.

    With `modern` and `adaptive` it is a mixture of all models that the results leave open, on several scales. In the
    user's units the distribution is therefore skewed, and described by its quantiles.
    """

    mean: Any  # (m,) the median
    std: Any  # (m,) half the width of the middle 68 %
    low: Any  # (m,) lower end of the middle 95 %
    high: Any  # (m,) upper end
    chance: Any  # (m,) that the function is better there than the best so far
    success: Any  # (m,) the chance that an evaluation gives a value at all; 1 if none has failed
    feasible: Any = 1.0  # (m,) the chance that it keeps all limits; 1 if there are none
    front: Any = None  # (m,) the chance that it joins the front of several objectives; None if there is one number
    lower: Any = None  # (m,) lower end of the middle 50 %
    upper: Any = None  # (m,) upper end

    def at(self, index: int) -> Prediction:
        """The prediction at one of many points, in numbers."""
        many = (getattr(self, each.name) for each in fields(self))
        return Prediction(*(None if each is None else float(np.atleast_1d(each)[index]) for each in many))

    def __str__(self) -> str:
        if np.ndim(self.mean):
            return "\n".join(str(self.at(k)) for k in range(len(self.mean)))
        return f"{self.band}{_chances(self)}"

    @property
    def band(self) -> str:
        """The value expected at one point, and how far off it may be."""
        return f"{self.mean:.6g} ± {self.std:.3g} (95 %: {self.low:.6g} to {self.high:.6g})"

    def __repr__(self) -> str:
        count = len(np.atleast_1d(self.mean))
        points = [self.at(k) for k in range(min(count, SHOWN))]
        lines = [f"{point.band}{_chances(point, improve=point.chance)}" for point in points]
        return "\n".join([*lines, *([f"... and {count - SHOWN} more"] if count > SHOWN else [])])


def predicted(belief: Belief | Exact, Z: Array, level: float, direction: Direction) -> Prediction:
    """The prediction at Z (m, width), beside a level to beat, as measured and to be minimized."""
    law = belief.law(Z)
    success, feasible = (_chance(each, Z) for each in (belief.success, belief.keeping))
    return replace(band(law, direction), chance=law.below(level), success=success, feasible=feasible)


def band(law: Law, direction: Direction) -> Prediction:
    """The values that a law expects, with all chances left at 1."""
    low, less, lower, mean, upper, more, high = direction.turned(law.quantiles(SHARES))
    std, sure = np.abs(0.5 * more - 0.5 * less), np.ones(len(mean))
    ends = (np.minimum(low, high), np.maximum(low, high))
    quartiles = {"lower": np.minimum(lower, upper), "upper": np.maximum(lower, upper)}
    return Prediction(mean, std, *ends, sure, sure, sure, **quartiles)


def middle_95(mean: Values, sd: Values) -> tuple[Values, Values]:
    """The ends of the band that holds 95 % of a normal law."""
    return mean - WIDE * sd, mean + WIDE * sd


def _chance(chance: Chance | None, Z: Array) -> Array:
    return np.ones(len(Z)) if chance is None else np.exp(chance.log_value(Z))


def _chances(point: Prediction, **others: float) -> str:
    """The chances in words; those of success and of keeping the limits only if they are below 1."""
    others |= {} if point.front is None else {"join the front": point.front}
    risks = {"succeed": point.success, "keep the limits": point.feasible}
    told = others | {what: chance for what, chance in risks.items() if chance != 1.0}
    return f", chance {', '.join(f'to {what} {chance:.1%}' for what, chance in told.items())}" if told else ""
