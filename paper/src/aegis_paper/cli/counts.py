"""What `aegis-paper counts` prints: on how many functions each method is best or equivalent to the best."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from aegis_paper.plans import load_plan
from aegis_paper.published import FUNCTIONS, paper_name, published_counts
from aegis_paper.runs import deviations_of
from aegis_paper.scores import Results, ScoreTable
from aegisbo.cli.tables import plain_table
from aegisbo.errors import InvalidInput

STUDY = "synthetic"


def print_counts(results: Results, workers: int, presets: Sequence[str], console: Console) -> None:
    """Published counts and ours: AEGiS with each of the presets, all other methods as the paper says."""
    for preset in presets:
        deviations_of(preset)  # refuses an unknown name
    published = published_counts(STUDY, workers)
    if not published:
        raise InvalidInput(f"The paper has no table of plan {STUDY} with {workers} workers: choose 4, 8 or 16.")
    ours = {preset: counts_with_aegis(results, workers, preset) for preset in presets}
    table = plain_table(["method"], ["published", *(f"AEGiS\n{preset}" for preset in presets)])
    for strategy, count in published.items():
        table.add_row(paper_name(strategy, STUDY), str(count), *(str(counts[strategy]) for counts in ours.values()))
    title = f"Functions of {FUNCTIONS} on which a method is best or equivalent to the best, q = {workers}"
    console.print(f"[bold]{title}[/bold]", table, sep="\n")


def counts_with_aegis(results: Results, workers: int, preset: str) -> dict[str, int]:
    """The counts if AEGiS has the runs of this preset and all other methods those of the preset `paper`."""
    plan = load_plan(STUDY)
    paper, other = (ScoreTable.read(results, plan, workers, each) for each in ("paper", preset))
    mixed = paper.with_runs_of("aegis", other)
    if mixed.complete != mixed.problems:
        raise InvalidInput(
            f"{results.records.file} lacks runs of plan {STUDY} with {workers} workers: make them with `aegis-paper "
            f"run {STUDY} --workers {workers} --out FILE`, and those of AEGiS with `--methods aegis --preset {preset}`."
        )
    return mixed.counts
