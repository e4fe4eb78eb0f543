"""Average ranks in tables: as text, as LaTeX and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from textwrap import wrap

from aegis_paper.analysis import span
from aegis_paper.published import paper_name
from aegis_paper.rankings import Ranking
from aegis_paper.tables import latex

MILESTONES = (25, 50, 75, 100, 150, 200)  # evaluations


def render(rankings: Sequence[Ranking], format: str) -> str:
    """The tables one after the other: as text, latex or csv."""
    if format == "csv":
        return as_csv(rankings)
    return "\n".join(map(as_latex if format == "latex" else as_text, rankings))


def as_text(ranking: Ranking) -> str:
    """The table for a terminal."""
    rows = (f"{name:<9}" + "".join(f"{each:>7}" for each in rest) for name, *rest in _rows(ranking))
    return "\n".join([*wrap(_title(ranking), 80), "", *rows, ""])


def as_latex(ranking: Ranking) -> str:
    """The table in a floating environment of its own; needs booktabs."""
    head, *rows = (" & ".join(row) + r" \\" for row in _rows(ranking))
    columns = len(_milestones(ranking))
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(_title(ranking))}}}",
        rf"\begin{{tabular}}{{l*{{{columns}}}{{r}}}}",
    ]
    return "\n".join(
        [*lines, r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    )


def as_csv(rankings: Sequence[Ranking]) -> str:
    """One line a method and number of evaluations."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["family", "workers", "preset", "strategy", "evaluations", "instances", "runs", "rank"])
    for of in rankings:
        for strategy in of.strategies:
            for count, rank in enumerate(of.of(strategy).tolist(), 1):
                writer.writerow(
                    [of.family, of.workers, of.preset, strategy, count, of.instances, span(of.repeats), rank]
                )
    return text.getvalue()


def _title(ranking: Ranking) -> str:
    return (
        f"{ranking.family}, {ranking.workers} workers, preset {ranking.preset}: average rank after so many "
        f"evaluations, over n = {ranking.instances} instances, runs of each: {span(ranking.repeats)}."
    )


def _rows(ranking: Ranking) -> list[list[str]]:
    """The heading, then the methods, the best at the end of the budget first."""
    milestones = _milestones(ranking)
    ordered = sorted(ranking.strategies, key=lambda strategy: float(ranking.of(strategy)[-1]))
    rows = [
        [paper_name(strategy, "synthetic"), *(f"{ranking.of(strategy)[count - 1]:.2f}" for count in milestones)]
        for strategy in ordered
    ]
    return [["Method", *map(str, milestones)], *rows]


def _milestones(ranking: Ranking) -> list[int]:
    return [count for count in MILESTONES if count <= ranking.ranks.shape[1]]
