"""Which evaluation that was stopped goes on: one that is worth a worker now, where it was stopped then.

Others have reported since. By the gain it is one that is expected to gain more per second that it still needs than a
new one would. By ranks this is asynchronous successive halving as it was first described: whoever belongs
to the best third of those that got as far goes on, even if it did not belong to them when it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from aegisbo.stopping.curve import Curve
from aegisbo.stopping.curves import Curves
from aegisbo.stopping.rule import worth_resuming


def to_resume(rule: str, paused: Mapping[int, int], curves: Curves) -> int | None:
    """The evaluation that goes on before a new one begins; None if none is worth a worker.

    Of those that came as far, the best one is asked about, those that came furthest first.

    Args:
        rule: by which they were stopped.
        paused: how many reports of each there were when that was decided, by number.
        curves: of all evaluations, as they are now.
    """
    then = {number: _beginning(curves.of[number], count) for number, count in paused.items()}
    best: dict[float, int] = {}  # by how far they came
    for number in sorted(then, key=lambda number: (then[number].values[-1], number)):
        best.setdefault(float(then[number].steps[-1]), number)
    for _, number in sorted(best.items(), reverse=True):
        if worth_resuming(rule, number, replace(curves, of={**curves.of, number: then[number]})):
            return number
    return None


def _beginning(curve: Curve, count: int) -> Curve:
    return replace(curve, steps=curve.steps[:count], values=curve.values[:count])
