"""What `aegis-paper cost` prints: what a simulated run costs, and what the whole paper would."""

from __future__ import annotations

import os

from rich.console import Console
from rich.markup import escape

from aegis_paper.cli.run import time_in_words
from aegis_paper.cost import BUDGET, Measured, measure, projected, runs_of_the_paper
from aegis_paper.records import Records
from aegis_paper.runs import deviations_of
from aegisbo.cli.tables import plain_table, short

CLUSTER = 256  # cores


def print_cost(records: Records, preset: str) -> None:
    """The table of costs, and the projection."""
    deviations_of(preset)  # refuses an unknown name
    measured = measure(records, preset)
    console = Console(highlight=False)
    head, *rows = cost_rows(measured)
    table = plain_table(head[:1], head[1:])
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(f"[bold]{escape(cost_title(measured))}[/bold]", table, sep="\n")
    paper = projected(runs_of_the_paper(), measured.seconds)
    cores = os.cpu_count() or 1
    console.print(
        f"\nThe whole paper: {paper.runs:,} runs, {paper.seconds / 3600:,.0f} core-hours; "
        f"{time_in_words(paper.seconds / cores)} on {cores} cores like these, "
        f"{time_in_words(paper.seconds / CLUSTER)} on a cluster of {CLUSTER}. "
        f"Method and dimension were measured for {paper.measured / paper.runs:.0%} of the runs; for the others "
        "they are interpolated."
    )


def cost_title(measured: Measured) -> str:
    """What the table shows, and how runs of other processors were counted."""
    others = [f"{name} takes {times:.2f} times as long" for name, times in measured.slower.items()]
    converted = f", runs elsewhere converted to it ({'; '.join(others)})" if others else ""
    return f"Core-seconds of a run of {BUDGET} evaluations, mean, on {measured.processor}{converted}"


def cost_rows(measured: Measured) -> list[list[str]]:
    """The heading, then a row for each method, by number of coordinates."""
    by_dimension = measured.seconds.unstack("d")
    rows = [
        [str(method), *("" if each != each else short(each) for each in seconds)]
        for method, seconds in by_dimension.iterrows()
    ]
    return [["method", *(f"d = {d}" for d in by_dimension)], *rows]
