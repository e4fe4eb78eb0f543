"""The model's prediction at points, in the user's units."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtr

from aegisbo.arrays import Array
from aegisbo.optimizer.direction import Direction
from aegisbo.printable import printable
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.chance import Chance
from aegisbo.strategies.exact import Exact

WIDE = 1.959963984540054  # standard deviations on either side that hold 95 % of a normal law
SHOWN = 10  # points listed in a text
T = TypeVar("T")


class OfEach(dict[str, T]):
    """Something of each objective by name; its text names each."""

    def __repr__(self) -> str:
        return printable("\n\n".join(f"{name}\n{told!r}" for name, told in self.items()))


@dataclass(frozen=True, repr=False)
class Prediction:
    """What the model expects of the function without noise at m points: arrays, or numbers for a single point.

    The model is normal on its own scale, which is not linear above low values (presets `modern` and `adaptive`). In the
    user's units the distribution is therefore skewed, and described by its quantiles.
    """

    mean: Any  # (m,) the mean where the scale is linear, else the median
    std: Any  # (m,) half the width of the middle 68 %: the standard deviation where the scale is linear
    low: Any  # (m,) lower end of the middle 95 %
    high: Any  # (m,) upper end
    chance: Any  # (m,) that the function is better there than the best so far
    success: Any  # (m,) the chance that an evaluation gives a value at all; 1 if none has failed
    feasible: Any = 1.0  # (m,) the chance that it keeps all limits; 1 if there are none
    front: Any = None  # (m,) the chance that it joins the front of several objectives; None if there is one number

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


def predicted(belief: Belief | Exact, Z: Array, best: float, direction: Direction) -> Prediction:
    """The prediction at Z (m, width), beside the best value so far on the standardized scale."""
    mu, sigma = belief.predict(Z)
    known = sigma == 0.0
    chance = np.where(known, mu < best, ndtr((best - mu) / np.where(known, 1.0, sigma)))
    success, feasible = (_chance(each, Z) for each in (belief.success, belief.keeping))
    return Prediction(*in_units(mu, sigma, belief, direction), chance, success, feasible)


def in_units(
    mu: Array, sigma: Array, belief: Belief | Exact, direction: Direction
) -> tuple[Array, Array, Array, Array]:
    """The fields `mean`, `std`, `low` and `high` of a prediction for normal laws (m,) on the standardized scale."""
    deviations = np.array([-WIDE, -1.0, 0.0, 1.0, WIDE])[:, None]
    low, less, mean, more, high = direction.turned(belief.scale.measured(mu + deviations * sigma))
    return mean, np.abs(0.5 * more - 0.5 * less), np.minimum(low, high), np.maximum(low, high)


def _chance(chance: Chance | None, Z: Array) -> Array:
    return np.ones(len(Z)) if chance is None else np.exp(chance.log_value(Z))


def _chances(point: Prediction, **others: float) -> str:
    """The chances in words; those of success and of keeping the limits only if they are below 1."""
    others |= {} if point.front is None else {"join the front": point.front}
    risks = {"succeed": point.success, "keep the limits": point.feasible}
    told = others | {what: chance for what, chance in risks.items() if chance != 1.0}
    return f", chance {', '.join(f'to {what} {chance:.1%}' for what, chance in told.items())}" if told else ""
