"""What `aegis-paper factors` prints: what each part of AEGiS does to the regret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console

from aegis_paper.effects import ALL_LEVELS, PLAN, Effect, Setting, effects, grid
from aegis_paper.scores import Results
from aegis_paper.tables import NOT_RUN
from aegisbo.cli.tables import plain_table
from aegisbo.errors import InvalidInput

CHANGES = "Regret when one thing is changed, q = {}"
CHANGE_HEADS = ("instead of the paper's", "pairs", "lower", "higher", "ratio", "p")
COMBINATIONS = "Regret relative to the paper's AEGiS, geometric mean, q = {}"
COMBINATION_HEADS = ("paths", "pending", *(f"ε = {epsilon}" for epsilon in ALL_LEVELS["epsilon"]))


def print_factors(results: Results, workers: int, console: Console) -> None:
    """The effects of the levels, then all combinations beside each other."""
    found = effects(results, workers)
    if not found:
        raise InvalidInput(
            f"{results.records.file} has no runs of plan {PLAN} with {workers} workers: make them with `aegis-paper "
            f"run {PLAN} --workers {workers} --out FILE`."
        )
    table = plain_table(CHANGE_HEADS[:1], CHANGE_HEADS[1:])
    for effect in found:
        table.add_row(*change_row(effect))
    console.print(f"[bold]{CHANGES.format(workers)}[/bold]", table, sep="\n")
    table = plain_table(COMBINATION_HEADS[:2], COMBINATION_HEADS[2:])
    for row in combination_rows(grid(results, workers)):
        table.add_row(*row)
    console.print(f"[bold]{COMBINATIONS.format(workers)}[/bold]", table, sep="\n")


def change_row(effect: Effect) -> list[str]:
    """What was changed, and what came of it."""
    counts = map(str, (effect.pairs, effect.lower, effect.higher))
    return [effect.what, *counts, f"{effect.ratio:.2f}", f"{effect.p:.2g}"]


def combination_rows(ratios: Mapping[Setting, float]) -> Iterator[list[str]]:
    """One row for each kind of paths and view of pending points, one number for each share of exploration."""
    for paths in ALL_LEVELS["paths"]:
        for pending in ALL_LEVELS["pending"]:
            cells = (ratios.get(Setting(paths, pending, epsilon)) for epsilon in ALL_LEVELS["epsilon"])
            yield [paths, pending, *(NOT_RUN if cell is None else f"{cell:.2f}" for cell in cells)]
