"""The best value so far, or the hypervolume, as a small picture in a notebook.

It has no dependencies, and the colors of the page.
"""

from __future__ import annotations

from aegisbo.review.convergence import convergence
from aegisbo.review.record import Record

WIDTH, HEIGHT, LEFT, LOW = 360, 120, 60, 18  # pixels: in all, and margins to the left and below
MARKS = 300  # most evaluations drawn
EDGE = 4.0  # pixels around what is drawn


def convergence_svg(record: Record) -> str:
    """A mark for each evaluation with a value and a line for the best so far, as SVG; empty without a best value.

    Of several objectives, it shows the hypervolume.
    """
    up, what = (True, "hypervolume") if record.objectives else (record.maximize, "best so far")
    steps = [step for step in convergence(record) if step.best is not None]
    bests = [step.best for step in steps if step.best is not None]
    if not bests:
        return ""
    low, high = min(bests), max(bests)  # worse values lie at the edge: otherwise they would hide the rest
    worse = [step.value for step in steps if step.value is not None]
    if low == high:
        low, high = (min(worse), high) if up else (low, max(worse))
    last = max(step.evaluation for step in steps)

    def x(evaluation: int) -> float:
        return LEFT + EDGE + (WIDTH - LEFT - 2 * EDGE) * (evaluation - 1) / max(last - 1, 1)

    def y(value: float) -> float:
        share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.5
        return EDGE + (HEIGHT - LOW - 2 * EDGE) * (1.0 - share)

    line = f"M{x(steps[0].evaluation):.1f} {y(bests[0]):.1f}" + "".join(
        f"H{x(step.evaluation):.1f}V{y(best):.1f}" for step, best in zip(steps[1:], bests[1:], strict=True)
    )
    marks = "".join(
        f'<circle cx="{x(step.evaluation):.1f}" cy="{y(step.value):.1f}" r="2"/>'
        for step in steps[:: -(-len(steps) // MARKS)]
        if step.value is not None
    )
    texts = [(LEFT - 4.0, y(high) + 8, "end", f"{high:.4g}"), (LEFT - 4.0, y(low), "end", f"{low:.4g}")]
    texts = texts if high > low else texts[1:]
    texts.append(((WIDTH + LEFT) / 2, HEIGHT - 3.0, "middle", f"{what} in {last} evaluations"))
    title = "The hypervolume" if record.objectives else "The best value so far"
    words = "".join(f'<text x="{a:.0f}" y="{b:.0f}" text-anchor="{end}">{told}</text>' for a, b, end, told in texts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-size="11" '
        f'fill="currentColor" role="img" aria-label="{title}"><g fill-opacity="0.4">{marks}</g>'
        f'<path d="{line}" fill="none" stroke="currentColor" stroke-width="1.5"/>{words}</svg>'
    )
