"""The trials of a run in a panel that shows the model: evaluated, failed and pending ones."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from aegisbo.arrays import Array
from aegisbo.optimizer import Core
from aegisbo.outcome import FAILURES
from aegisbo.plot.canvas import INK, PENDING, Look, crowded
from aegisbo.plot.parameter_axis import places
from aegisbo.plot.value_axis import Values, mark_failures
from aegisbo.space import Params

NEAR = 0.25  # root mean square distance from a slice, in shares of the ranges, at which a point has paled to a third
PALEST = 0.15


def draw_trials(axis: Axes, optimizer: Core, name: str, center: Params, values: Values) -> None:
    """The trials along one parameter, the paler the further they are away from the slice through `center`."""
    parameter = optimizer.space.parameters[name]
    there = [trial for trial in (*optimizer.observed, *optimizer.trials) if name in trial.params]
    done = [trial for trial in there if trial.value is not None]
    if done:
        x, y = places(parameter, [trial.params[name] for trial in done]), np.array([trial.value for trial in done])
        pale, inside = _paleness(optimizer, [trial.params for trial in done], name, center), ~values.beyond(y)
        for some, mark, named in ((inside, "o", "evaluated"), (~inside, values.beyond_mark, "beyond the axis")):
            if some.any():
                look: Look = {"s": 14 * crowded(len(done)) ** 2, "marker": mark, "color": INK, "linewidth": 0}
                axis.scatter(x[some], values.shown(y[some]), **look).set_alpha(pale[some].tolist())
                axis.scatter([], [], label=named, **look)
    failed = [trial.params[name] for trial in there if trial.number >= 0 and trial.state in FAILURES]
    mark_failures(axis, places(parameter, failed).tolist(), maximize=values.maximize)
    pending = places(parameter, [trial.params[name] for trial in there if trial.state == "pending"])
    if len(pending):
        under: Look = {"linestyle": "", "marker": 6, "markersize": 6, "color": PENDING, "clip_on": False}
        bottom = axis.get_xaxis_transform()
        axis.plot(pending, np.zeros(len(pending)), transform=bottom, label=f"pending ({len(pending)})", **under)


def _paleness(optimizer: Core, points: list[Params], name: str, center: Params) -> Array:  # (m,)
    """How dark each point is drawn."""
    space = optimizer.space
    own = space.cube.columns[list(space.parameters).index(name)]
    away = np.array([space.to_unit(params) for params in points]) - space.to_unit(center)
    away = np.delete(away, np.arange(own.start, own.stop), axis=1)
    distance = (away**2).mean(axis=1) if away.shape[1] else np.zeros(len(points))
    return np.maximum(np.exp(-distance / NEAR**2), PALEST)
