"""What `aegis-paper cost` prints: what a simulated run costs, and what the whole paper would."""

from __future__ import annotations

import os

from rich.console import Console
from rich.markup import escape

from aegis_paper.cli.run import time_in_words
from aegis_paper.cost import measured_seconds, projected, runs_of_the_paper
from aegis_paper.records import Records
from aegis_paper.runs import deviations_of
from aegisbo.cli.tables import plain_table, short

CLUSTER = 256  # cores


def print_cost(records: Records, preset: str) -> None:
    """The table of costs, and the projection."""
    deviations_of(preset)  # refuses an unknown name
    measured = measured_seconds(records, preset)
    paper = projected(runs_of_the_paper(), measured)
    by_dimension = measured.unstack("d")
    table = plain_table(["method"], [f"d = {d}" for d in by_dimension])
    for method, seconds in by_dimension.iterrows():
        table.add_row(escape(method), *("" if each != each else short(each) for each in seconds))
    console = Console(highlight=False)
    console.print("[bold]Core-seconds a run of 200 evaluations, mean over the runs on record[/bold]", table, sep="\n")
    cores = os.cpu_count() or 1
    console.print(
        f"\nThe whole paper: {paper.runs:,} runs, {paper.seconds / 3600:,.0f} core-hours; "
        f"{time_in_words(paper.seconds / cores)} on {cores} cores like these, "
        f"{time_in_words(paper.seconds / CLUSTER)} on a cluster of {CLUSTER}. "
        f"Method and dimension were measured for {paper.measured / paper.runs:.0%} of the runs; for the others "
        "they are interpolated."
    )
