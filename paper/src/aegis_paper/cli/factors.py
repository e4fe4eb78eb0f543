"""What `aegis-paper factors` prints: what each part of AEGiS does to the regret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console

from aegis_paper.effects import ALL_LEVELS, PLAN, Effect, Setting, effects, grid
from aegis_paper.plans import load_plan
from aegis_paper.scores import Results
from aegis_paper.statistics import LEVEL
from aegis_paper.tables import NOT_RUN
from aegisbo.cli.tables import plain_table
from aegisbo.errors import InvalidInput

CHANGES = "Regret when one thing is changed, q = {}"
CHANGE_HEADS = ("instead of the paper's", "pairs", "lower", "higher", "ratio", "p")
COMBINATIONS = "Regret relative to the paper's AEGiS, geometric mean (* p < 0.05 with Holm's correction), q = {}"
COMBINATION_HEADS = ("paths", "pending", *(f"ε = {epsilon}" for epsilon in ALL_LEVELS["epsilon"]))


def print_factors(results: Results, workers: Sequence[int], console: Console) -> None:
    """For each of these numbers of workers: the effects of the levels, then all combinations beside each other."""
    load_plan(PLAN).only({"workers": workers})  # refuses others than the plan has
    found = {each: effects(results, each) for each in workers}
    if not any(found.values()):
        asked = " and ".join(map(str, workers))
        options = "".join(f" --workers {each}" for each in workers)
        raise InvalidInput(
            f"{results.records.file} has no runs of plan {PLAN} with {asked} workers: make them with `aegis-paper "
            f"run {PLAN}{options} --out FILE`."
        )
    for each, changes in found.items():
        if changes:
            _print(CHANGES.format(each), CHANGE_HEADS, 1, map(change_row, changes), console)
            _print(COMBINATIONS.format(each), COMBINATION_HEADS, 2, combination_rows(grid(results, each)), console)


def _print(title: str, heads: Sequence[str], texts: int, rows: Iterable[Sequence[str]], console: Console) -> None:
    """A table, the first columns of which are text."""
    table = plain_table(heads[:texts], heads[texts:])
    for row in rows:
        table.add_row(*row)
    console.print(f"[bold]{title}[/bold]", table, sep="\n")


def change_row(effect: Effect) -> list[str]:
    """What was changed, and what came of it."""
    counts = map(str, (effect.pairs, effect.lower, effect.higher))
    return [effect.what, *counts, f"{effect.ratio:.2f}", f"{effect.p:.2g}"]


def combination_rows(combinations: Mapping[Setting, Effect]) -> Iterator[list[str]]:
    """One row for each kind of paths and view of pending points, one number for each share of exploration."""
    for paths in ALL_LEVELS["paths"]:
        for pending in ALL_LEVELS["pending"]:
            cells = (combinations.get(Setting(paths, pending, epsilon)) for epsilon in ALL_LEVELS["epsilon"])
            yield [paths, pending, *map(_ratio, cells)]


def _ratio(effect: Effect | None) -> str:
    return NOT_RUN if effect is None else f"{effect.ratio:.2f}{'*' if effect.p < LEVEL else ' '}"
