"""What `aegis-paper compare` prints: published medians and ours side by side, with the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from aegis_paper.comparison import Pair, agreement, compare_all
from aegis_paper.published import RUNS, paper_name
from aegis_paper.scores import Results
from aegis_paper.statistics import Verdict, span
from aegis_paper.tables import NOT_RUN, number
from aegisbo.cli.tables import plain_table
from aegisbo.errors import InvalidInput

LEGEND = (
    "Medians of the regret after 200 evaluations. lower and higher: ours is, by more than chance and a factor of 1.5 "
    f"allow. Published are medians of {RUNS} runs; preset paper is what the paper says, reference what its code did."
)
COLORS = {Verdict.AGREES: "green", Verdict.LOWER: "cyan", Verdict.HIGHER: "yellow", Verdict.OPEN: "dim"}


def print_comparison(
    results: Results, tables: Iterable[tuple[str, int]], presets: Sequence[str], console: Console
) -> None:
    """All tables of which something has been run."""
    found = compare_all(results, tables, presets)
    if not found:
        raise InvalidInput(
            f"{results.records.file} has no runs of these tables: make some with `aegis-paper run PLAN --out FILE`."
        )
    for (study, workers), pairs in found.items():
        console.print(f"[bold]Plan {study}, q = {workers}[/bold]", cells(pairs, presets), sep="\n")
        console.print("\n[bold]Published medians that ours agree with[/bold]", totals(pairs, presets), sep="\n")
        console.print()
        for line in differences(pairs):
            console.print(line, markup=False)
        console.print()
    console.print(LEGEND)


def no_such_table(plan: str | None, workers: Sequence[int], tables: Iterable[tuple[str, int]]) -> InvalidInput:
    """What to say of numbers of workers for which the paper has no table, of this plan or of any."""
    asked, tables = " or ".join(map(str, workers)), [*tables]
    numbers = sorted({number for study, number in tables if plan in (None, study)})
    elsewhere = [f"{study} has {number}" for study, number in tables if number in workers]
    remedy = f"choose {', '.join(map(str, numbers))}"
    if elsewhere:
        remedy += f", or another plan: {', '.join(elsewhere)}"
    return InvalidInput(f"The paper has no table of {plan or 'any plan'} with q = {asked}: {remedy}.")


def cells(pairs: Sequence[Pair], presets: Sequence[str]) -> Table:
    """Under the name of each method one row per published median: what we found with each preset, n and the verdict."""
    table = plain_table(["method and problem"], ["published"])
    for preset in presets:
        table.add_column(preset.replace(":", ":\n"), justify="right", no_wrap=True)
        table.add_column("n", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
    previous = None
    for pair in pairs:
        cell = pair.published
        if cell.strategy != previous:
            table.add_row(f"[bold]{paper_name(cell.strategy, cell.study)}[/bold]")
            previous = cell.strategy
        ours = (text for preset in presets for text in _ours(pair, preset))
        table.add_row(f"  {cell.problem}", number(cell.median), *ours)
    return table


def totals(pairs: Sequence[Pair], presets: Sequence[str]) -> Table:
    """For each method and preset: how many medians agree, of how many, from how many runs."""
    table = plain_table(["method"], presets)
    for strategy in dict.fromkeys(pair.published.strategy for pair in pairs):
        rows = [pair for pair in pairs if pair.published.strategy == strategy]
        name = paper_name(strategy, rows[0].published.study)
        table.add_row(name, *(total(rows, preset) for preset in presets))
    return table


def differences(pairs: Sequence[Pair]) -> list[str]:
    """The disagreements of each method and preset, one line per reason."""
    problems: dict[tuple[str, str, str], list[str]] = {}
    for pair in pairs:
        for preset, ours in pair.ours.items():
            if ours.verdict in (Verdict.LOWER, Verdict.HIGHER):
                name = paper_name(pair.published.strategy, pair.published.study)
                why = ours.reason or "no reason is known"
                problems.setdefault((preset, f"{name} {ours.verdict}", why), []).append(pair.published.problem)
    return [f"{preset}: {what} on {', '.join(names)}: {why}." for (preset, what, why), names in problems.items()]


def _ours(pair: Pair, preset: str) -> tuple[str, str, str]:
    ours = pair.ours.get(preset)
    if ours is None:
        return NOT_RUN, "", ""
    color = COLORS[ours.verdict]
    return number(ours.median), str(ours.n), f"[{color}]{ours.verdict}[/{color}]"


def total(pairs: Sequence[Pair], preset: str) -> str:
    """How many medians of a preset agree, of how many, from how many runs."""
    agreed, judged = agreement(pairs, preset)
    return f"{agreed} of {len(judged)} (n = {span(each.n for each in judged)})" if judged else NOT_RUN
