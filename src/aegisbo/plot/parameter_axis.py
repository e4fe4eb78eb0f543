"""The axis of a parameter: logarithmic or by choices, as it was declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from aegisbo.arrays import Array
from aegisbo.plot.canvas import as_label
from aegisbo.space.parameters import Choice, Parameter

SHORT = 14  # most letters of a choice
ROOM = 36  # letters that fit below an axis, if all choices were as long as the longest
FEW_DECADES = 200.0  # ratio of the ends of a logarithmic axis below which numbers between the powers of ten are needed


def places(parameter: Parameter, values: Sequence[Any]) -> Array:
    """Where values of a parameter lie on its axis: a choice by its number."""
    if isinstance(parameter, Choice):
        return np.array([parameter.values.index(value) for value in values], dtype=np.float64)
    return np.array(values, dtype=np.float64)


def declare(axis: Axis, parameter: Parameter, margin: float = 0.03) -> None:
    """Give an axis, `axes.xaxis` or `axes.yaxis`, the scale and the limits that the parameter was declared with."""
    if isinstance(parameter, Choice):
        names = [as_label(value, SHORT) for value in parameter.values]
        axis.set_ticks(range(len(names)), names)
        if isinstance(axis, XAxis) and len(names) * max(map(len, names)) > ROOM:
            axis.set_tick_params(rotation=30)
            for text in axis.get_ticklabels():
                text.set(horizontalalignment="right", rotation_mode="anchor")
        _limit(axis, -0.5, len(parameter.values) - 0.5)
        return
    low, high = float(parameter.low), float(parameter.high)
    if not parameter.log:
        _limit(axis, low - margin * (high - low), high + margin * (high - low))
        return
    (axis.axes.set_xscale if isinstance(axis, XAxis) else axis.axes.set_yscale)("log")
    ratio = (high / low) ** margin
    _limit(axis, low / ratio, high * ratio)
    if high / low < FEW_DECADES:  # the powers of ten alone would be too few
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))
    axis.set_minor_formatter(NullFormatter())


def edges(middles: Array, parameter: Parameter) -> Array:  # (m,) -> (m + 1,)
    """Borders of cells around values, halfway between them on the scale of the parameter."""
    log = not isinstance(parameter, Choice) and parameter.log
    t = np.log(middles) if log else middles
    inner = 0.5 * (t[1:] + t[:-1])
    step = t[1] - t[0] if len(t) > 1 else 1.0
    found = np.concatenate([[t[0] - 0.5 * step], inner, [t[-1] + 0.5 * step]])
    return np.exp(found) if log else found


def _limit(axis: Axis, low: float, high: float) -> None:
    (axis.axes.set_xlim if isinstance(axis, XAxis) else axis.axes.set_ylim)(low, high)
