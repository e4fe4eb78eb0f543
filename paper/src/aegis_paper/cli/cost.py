"""`aegis-paper cost`: what a simulated run costs, and what the whole paper would."""

from __future__ import annotations

import os
from statistics import fmean

from rich.console import Console
from rich.markup import escape

from aegis_paper.cli.results import Preset, RecordsFolder

CLUSTER = 256  # cores


def cost(records: RecordsFolder = None, preset: Preset = "paper") -> None:
    """Show the seconds of one core that a run takes, by method and dimension, and project them to the whole paper."""
    from aegis_paper.cli.campaign import time_in_words
    from aegis_paper.cli.records import results_in
    from aegis_paper.cost import measured_seconds, projected, runs_of_the_paper
    from aegisbo.cli.tables import plain_table, short

    measured = measured_seconds(results_in(records).records, preset)
    paper = projected(runs_of_the_paper(), measured)
    dimensions = sorted({d for _, d in measured})
    table = plain_table(["method"], [f"d = {d}" for d in dimensions])
    for method in dict.fromkeys(method for method, _ in sorted(measured)):
        runs = (measured.get((method, d)) for d in dimensions)
        table.add_row(escape(method), *(short(fmean(each)) if each else "" for each in runs))
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
