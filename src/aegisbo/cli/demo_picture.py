"""What the demo draws with characters: when each worker was busy, and how the best value went down."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from aegisbo.cli.demo_halves import Stretch

BUSY, WAITING = "█", "·"


def timeline(stretches: Sequence[Stretch], worker: int, start: float, seconds: float, scale: float) -> str:
    """One worker's time, in characters: busy for most of the time that a character stands for, or not.

    Args:
        stretches: when workers were evaluating.
        worker: which one.
        start: on the workers' clock.
        seconds: how many to draw.
        scale: characters a second.
    """
    spans = [
        ((stretch.begin - start) * scale, math.inf if stretch.end is None else (stretch.end - start) * scale)
        for stretch in stretches
        if stretch.worker == worker
    ]
    shares = (
        sum(max(min(end, cell + 1) - max(begin, cell), 0.0) for begin, end in spans)
        for cell in range(round(seconds * scale))
    )
    return "".join(BUSY if share > 0.5 else WAITING for share in shares)


def curves(traces: Mapping[str, Sequence[tuple[float, float]]], width: int, height: int) -> list[str]:
    """Step functions of time on a logarithmic axis, each until its last step; the first one lies on top.

    Args:
        traces: by the character that draws it: when a value was reached, and the value, which is above zero.
        width: in characters, without the axis.
        height: in lines, without the axis.
    """
    until = max(trace[-1][0] for trace in traces.values())
    logs = [math.log10(value) for trace in traces.values() for _, value in trace]
    top, step = max(logs), (max(logs) - min(logs)) / (height - 1) or 1.0
    rows = [[" "] * width for _ in range(height)]
    for mark, trace in reversed(list(traces.items())):
        for column in range(math.ceil(width * trace[-1][0] / until)):
            known = [value for moment, value in trace if moment <= (column + 1) * until / width]
            if known:
                rows[round((top - math.log10(known[-1])) / step)][column] = mark
    drawn = [f"{10 ** (top - k * step):9.2g} |{''.join(row)}".rstrip() for k, row in enumerate(rows)]
    ticks = "0 s" + f"{until:.0f} s".rjust(width - 3)
    return [*drawn, " " * 10 + "+" + "-" * width, " " * 11 + ticks]
