"""What a surrogate believes, and what makes one from evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Index
from aegisbo.gp.low_values import lowest, skill
from aegisbo.gp.output_transform import OutputScale
from aegisbo.gp.posterior import GP
from aegisbo.gp.quadratic_model import Posterior
from aegisbo.search.blocks import by_blocks
from aegisbo.strategies.base import Evidence, Memory, Note
from aegisbo.strategies.chance import Chance, Weighed
from aegisbo.strategies.keeping import Keeping
from aegisbo.strategies.law import Law, normal_law
from aegisbo.strategies.outlook import Outlook
from aegisbo.strategies.tilt import Tilt

GOOD = 10  # points that a search is told of


@dataclass(frozen=True)
class Belief(Weighed):
    """What is believed of the function: a posterior on the standardized scale, and the way back.

    And what counts beside its values: the chances to get one and to keep the limits, and which points are the best.
    """

    gp: GP
    scale: OutputScale
    best: float  # lowest value measured, standardized; where values are noisy, lowest mean of an evaluated point
    notes: Sequence[str]  # what was out of the ordinary in the fit
    model: str = ""  # its name, where there are several
    explorer: Callable[[], Belief] | None = None  # makes the belief to explore with, if it is another one
    success: Chance | None = None
    keeping: Keeping | None = None
    tilt: Tilt | None = None
    # (k, width) the best points, the best first, where these are not those with the lowest values: some break limits
    # (if all do, those that come closest), or values are noisy.
    good: Array | None = None
    fresh: bool = False  # whether its hyper-parameters were learned from just these data
    rows: Index | None = None  # of the evidence whose values the posterior knows; None for all
    # Makes what to tell of the function; None if that is this model alone. It takes as long as a suggestion, and no
    # choice needs it.
    outlook: Callable[[], Outlook] | None = None

    @property
    def widths(self) -> Array:  # (width,)
        """In which closeness is measured: the length scales."""
        return self.gp.kernel.lengthscale

    @property
    def lowest(self) -> float:
        """The best value as the posterior has it; a rounding error may separate it from `best`."""
        return lowest_measured(self.gp) if self.good is None else self.best

    @property
    def worst(self) -> float:
        """The highest value measured, which is what a failure counts as."""
        return float(self.gp.y.max()) + self.gp.constant

    def good_points(self, gp: Posterior | None = None) -> Array:  # (k, width)
        """The best points, the best first; unless `good` says otherwise, those with the lowest data of a posterior."""
        gp = self.gp if gp is None else gp
        return gp.X[np.argsort(gp.y, kind="stable")[:GOOD]] if self.good is None else self.good

    @property
    def exploring(self) -> Belief:
        """What to explore with and what to tell of any point: this one may know of little but the lowest values.

        What may fail and what counts as best is the same, the latter on its own scale.
        """
        return self._explorer or self

    # None instead of this belief itself: one that kept itself would be freed by the garbage collector alone, which
    # comes once in dozens of suggestions, and with a thousand results each has a factor of megabytes.
    @cached_property
    def _explorer(self) -> Belief | None:
        if self.explorer is None:
            return None
        other = replace(self.explorer(), success=self.success, keeping=self.keeping, tilt=self.tilt, good=self.good)
        if self.good is None:
            return other
        measured = self.scale.measured(np.array([self.best]))
        return replace(other, best=float(other.scale.standardized(measured)[0]))

    def skill(self, measured: Array, everywhere: bool = False) -> float:
        """How well it predicts the lowest of the values measured (n,), or all; they are the first of its data."""
        known = measured if self.rows is None else measured[self.rows]
        rows = np.arange(len(known)) if everywhere else lowest(known, self.gp.X.shape[1])
        return skill(self.gp, self.scale, known, rows)

    def predict(self, Z: Array) -> tuple[Array, Array]:
        """Mean and standard deviation (m,) of the noise-free function at Z (m, width), on the standardized scale."""
        both = by_blocks(lambda rows: np.stack(self.gp.predict(rows), axis=1), Z)
        return both[:, 0], np.sqrt(both[:, 1])

    @property
    def alone(self) -> Belief:
        """This model without others that the results leave open: what a choice was made from."""
        return replace(self, outlook=None)

    @cached_property
    def told(self) -> Outlook | None:
        """What to tell of the function; None if that is this model alone."""
        return None if self.outlook is None else self.outlook()

    def law(self, Z: Array) -> Law:
        """What to tell of the function at Z (m, width)."""
        return normal_law(self.scale, *self.predict(Z)) if self.told is None else self.told.law(Z)

    def smoothed(self, X: Array) -> Array:
        """The posterior mean (n,) at X (n, width), in the user's units."""
        return self.scale.measured(by_blocks(self.gp.mean, X))

    def note(self, x: Array) -> Note:
        """What is predicted at x (width,), in the user's units, and how the model is."""
        mean, std = self.expected(x)
        said: dict[str, object] = {"mean": mean, "std": std, "lengthscale": self.gp.kernel.lengthscale.tolist()}
        if self.model:
            said["model"] = self.model
        said |= chances_at(x, self.success, self.keeping, self.tilt)
        if self.notes:
            said["fit"] = list(self.notes)
        return said

    def expected(self, x: Array) -> tuple[float, float]:
        """Mean and standard deviation at x (width,), in the user's units."""
        z = x[None, :]
        variance = max(float(self.gp.covariance(z, z)[0, 0]), 0.0)  # `predict` would prepare for many points
        low, mean, high = self.scale.measured(self.gp.mean(z) + variance**0.5 * np.array([-1.0, 0.0, 1.0]))
        return float(mean), float(0.5 * high - 0.5 * low)


def chances_at(x: Array, success: Chance | None, keeping: Chance | None, tilt: Chance | None) -> Note:
    """What a note says of the chances to succeed and to keep all limits at x (width,), and of the guess."""
    chances = {"success": success, "feasible": keeping, "guess": tilt}
    return {name: float(np.exp(each.log_value(x[None, :])[0])) for name, each in chances.items() if each is not None}


def lowest_measured(gp: GP) -> float:
    """The lowest value that a posterior knows."""
    return float(gp.y.min()) + gp.constant


@runtime_checkable
class Believer(Protocol):
    """A strategy with a model that can be asked."""

    def believe(self, evidence: Evidence, memory: Memory, rng: Generator) -> object:
        """The `Belief`, of several objectives the `Beliefs`, after all finished evaluations.

        `memory` is the one after the last ask.
        """


class Surrogate(Protocol):
    """How evidence becomes a belief."""

    def fit(self, evidence: Evidence, memory: Memory, rng: Generator) -> tuple[Belief, Memory]:
        """The belief after all evidence, and a memory from which the next fit starts warm.

        The same evidence gives the same belief: hyper-parameters that were learned from it are not learned again.
        """
