"""The axis of measured values: complete at the good end, cut at the bad end if a few values would flatten the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes

from aegisbo.arrays import Array, Mask
from aegisbo.plot.canvas import FAILED

DECADES = 100.0  # ratio of the highest to the lowest value from which the scale is logarithmic
REACH = 6.0  # how far the bad end is shown, in distances from the best to the median


@dataclass(frozen=True)
class Values:
    """Which values an axis shows, and how."""

    low: float
    high: float
    log: bool
    maximize: bool

    @property
    def beyond_mark(self) -> str:
        """The place of values beyond the axis, at its bad end."""
        return "v" if self.maximize else "^"

    def shown(self, values: Array) -> Array:
        """The values, with those beyond the axis moved to its end."""
        return np.clip(values, self.low, self.high)

    def beyond(self, values: Array) -> Mask:
        """Which values lie beyond the axis."""
        return np.asarray((values < self.low) | (values > self.high))

    def with_room_for(self, target: float | None) -> Values:
        """An axis that also shows the target."""
        if target is None:
            return self
        log = self.log and target > 0.0
        return replace(self, low=min(self.low, target), high=max(self.high, target), log=log)

    def apply(self, axis: Axes) -> None:
        """Give a panel this scale upwards."""
        if self.log:
            axis.set_yscale("log")
            margin = (self.high / self.low) ** 0.06
            axis.set_ylim(self.low / margin, self.high * margin)
        else:
            margin = 0.06 * (self.high - self.low) or abs(self.high) or 1.0
            axis.set_ylim(self.low - margin, self.high + margin)


def values_of(values: Sequence[float], *, maximize: bool) -> Values:
    """The axis that suits these values."""
    y = np.array(values if len(values) else [0.0])
    low, high = float(y.min()), float(y.max())
    if low > 0.0 and high / low >= DECADES:
        return Values(low, high, True, maximize)
    middle = float(np.median(y))
    if maximize:
        return Values(max(low, high - REACH * (high - middle)) if high > middle else low, high, False, maximize)
    return Values(low, min(high, low + REACH * (middle - low)) if low < middle else high, False, maximize)


def mark_failures(axis: Axes, x: Sequence[float], *, maximize: bool) -> None:
    """Draw a cross at the bad end of the axis for each evaluation without a value."""
    if x:
        axis.plot(
            x,
            np.full(len(x), 0.015 if maximize else 0.985),
            transform=axis.get_xaxis_transform(),
            linestyle="",
            marker="x",
            markersize=5,
            color=FAILED,
            clip_on=False,
            label=f"no value ({len(x)})",
        )
