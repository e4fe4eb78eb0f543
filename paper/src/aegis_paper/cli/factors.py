"""What `aegis-paper factors` prints: what each part of AEGiS does to the regret."""

from __future__ import annotations

from rich.console import Console

from aegis_paper.effects import ALL_LEVELS, PLAN, Setting, effects, grid
from aegis_paper.scores import Results
from aegisbo.cli.tables import plain_table
from aegisbo.errors import InvalidInput


def print_factors(results: Results, workers: int, console: Console) -> None:
    """The effects of the levels, then all combinations beside each other."""
    found = effects(results, workers)
    if not found:
        raise InvalidInput(
            f"{results.records.file} has no runs of plan {PLAN} with {workers} workers: make them with `aegis-paper "
            f"run {PLAN} --workers {workers} --out FILE`."
        )
    table = plain_table(["instead of the paper's"], ["pairs", "lower", "higher", "ratio", "p"])
    for effect in found:
        table.add_row(
            effect.what,
            str(effect.pairs),
            str(effect.lower),
            str(effect.higher),
            f"{effect.ratio:.2f}",
            f"{effect.p:.2g}",
        )
    console.print(f"[bold]Regret when one thing is changed, q = {workers}[/bold]", table, sep="\n")
    ratios = grid(results, workers)
    table = plain_table(["paths", "pending"], [f"ε = {epsilon}" for epsilon in ALL_LEVELS["epsilon"]])
    for paths in ALL_LEVELS["paths"]:
        for pending in ALL_LEVELS["pending"]:
            cells = (ratios.get(Setting(paths, pending, epsilon)) for epsilon in ALL_LEVELS["epsilon"])
            table.add_row(paths, pending, *("-" if cell is None else f"{cell:.2f}" for cell in cells))
    console.print(f"[bold]Regret relative to the paper's AEGiS, geometric mean, q = {workers}[/bold]", table, sep="\n")
