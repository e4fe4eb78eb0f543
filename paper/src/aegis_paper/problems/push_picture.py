"""A push as a picture: the way of hands and discs to their targets, still (PNG, SVG, ...) or moving (GIF)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aegis_paper.problems.push import HAND_HALF_EXTENTS, OBJECT_RADIUS, Push
from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput

KINDS = (".gif", ".pdf", ".png", ".svg")

_COLORS = ("tab:blue", "tab:orange")  # one per robot: its hand, its disc and its target
_FRAME_EVERY = 10  # time steps
_FRAMES_A_SECOND = 10  # so a moving picture runs in real time


@dataclass(frozen=True, eq=False)
class Trace:
    """Where everything was before the first and after every time step."""

    objects: Array  # (t, k, 2)
    hands: Array  # (t, k, 3), angle last


def trace(push: Push, x: Array) -> Trace:
    """Record a push."""
    scene = push.scene(x)
    objects, hands = [scene.object_positions()], [scene.hand_poses()]
    for _ in scene.run():
        objects.append(scene.object_positions())
        hands.append(scene.hand_poses())
    return Trace(np.array(objects), np.array(hands))


def draw_push(push: Push, x: Array, title: str, file: Path) -> None:
    """Write a picture of a push, of the kind that the file's ending names."""
    if file.suffix.lower() not in KINDS:
        raise InvalidInput(f"{file.name!r} has an ending that cannot be drawn: choose one of {', '.join(KINDS)}.")
    record = trace(push, x)
    figure, axes = _arena(push, record, title)
    if file.suffix.lower() == ".gif":
        _animate(figure, axes, record, file)
    else:
        _draw_paths(axes, record)
        _draw_bodies(axes, record, step=0, alpha=0.3)
        _draw_bodies(axes, record, step=-1, alpha=0.8)
        figure.savefig(file, dpi=120)


def _arena(push: Push, record: Trace, title: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.add_subplot(aspect="equal", title=title, xlabel="x", ylabel="y")
    everything = np.concatenate([record.objects, record.hands[:, :, :2]]).reshape(-1, 2)
    low, high = np.minimum(everything.min(axis=0), -5) - 1.2, np.maximum(everything.max(axis=0), 5) + 1.2
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    for target, color in zip(push.targets, _COLORS, strict=False):
        axes.plot(*target, marker="x", markersize=10, markeredgewidth=2, color=color)
        axes.add_patch(_disc(target, fill=False, linestyle="--", edgecolor=color))
    return figure, axes


def _animate(figure: Any, axes: Any, record: Trace, file: Path) -> None:
    from matplotlib.animation import FuncAnimation, PillowWriter

    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the frame stands still, so it need not be found again for each picture
    last = len(record.objects) - 1
    steps = [*range(0, last, _FRAME_EVERY), *[last] * _FRAMES_A_SECOND]  # hold the end for a second
    moving: list[Any] = []

    def frame(step: int) -> list[Any]:
        while moving:
            moving.pop().remove()
        moving.extend(_draw_bodies(axes, record, step, alpha=0.8))
        return moving

    FuncAnimation(figure, frame, frames=steps).save(file, writer=PillowWriter(fps=_FRAMES_A_SECOND), dpi=80)


def _draw_paths(axes: Any, record: Trace) -> None:
    for objects, hands, color in zip(*_by_robot(record), _COLORS, strict=False):
        axes.plot(*objects.T, color=color, linewidth=2, label="disc")
        axes.plot(*hands[:, :2].T, color=color, linewidth=1, linestyle=":", label="hand")


def _draw_bodies(axes: Any, record: Trace, step: int, alpha: float) -> list[Any]:
    patches = []
    for objects, hands, color in zip(*_by_robot(record), _COLORS, strict=False):
        for patch in (_disc(objects[step], color=color, alpha=alpha / 2), _plate(hands[step], color, alpha)):
            patches.append(axes.add_patch(patch))
    return patches


def _by_robot(record: Trace) -> tuple[Array, Array]:  # (k, t, 2), (k, t, 3)
    return record.objects.swapaxes(0, 1), record.hands.swapaxes(0, 1)


def _disc(center: Array, **style: Any) -> Any:
    from matplotlib.patches import Circle

    return Circle((center[0], center[1]), OBJECT_RADIUS, **style)


def _plate(pose: Array, color: str, alpha: float) -> Any:
    from matplotlib.patches import Rectangle

    half = np.array(HAND_HALF_EXTENTS)
    corner = pose[:2] - half
    return Rectangle(
        (corner[0], corner[1]),
        *(2 * half),
        angle=float(np.degrees(pose[2])),
        rotation_point="center",
        color=color,
        alpha=alpha,
    )
