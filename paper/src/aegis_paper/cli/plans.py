"""What `aegis-paper plans` prints: which runs the paper's tables and figures are made of."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from aegis_paper.plans import load_plan, plan_names
from aegisbo.cli.tables import plain_table


def print_plans() -> None:
    """One row per plan."""
    table = plain_table(["plan", "what it makes"], ["cells", "runs"])
    for plan in map(load_plan, plan_names()):
        cells = plan.cells()
        makes = "\n".join((plan.purpose, *(f"[dim]- {escape(each)}[/dim]" for each in plan.makes)))
        table.add_row(plan.name, makes, f"{len(cells):,}", f"{sum(cells.values()):,}")
    console = Console(highlight=False)
    console.print(table)
    console.print("\nA cell is a problem, a method and a number of workers. Plans share runs: none is done twice.")
