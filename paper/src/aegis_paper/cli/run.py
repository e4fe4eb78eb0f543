"""`aegis-paper run` and `aegis-paper plans`: the runs that the paper's tables and figures are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

INTERRUPTED = 130
FAILED = 1
SEVERAL = "Only these; separate them with blanks, or repeat the option."

EXAMPLES = """Examples:

- `aegis-paper run synthetic --runs 11 --workers 8 --jobs 8 --out records`
- `aegis-paper run ablation --problems "Branin Hartmann6" --methods aegis-no-ts --jobs 2 --out records`
- `aegis-paper run push --problems push4#1-11 --runs 1 --dask tcp://10.0.0.1:8786 --out records`
- `aegis-paper run my_plan.toml --out records`
"""


def plans() -> None:
    """List the plans, their runs, and which tables and figures of the paper they make."""
    from aegis_paper.plan import load_plan, plan_names
    from aegisbo.cli.tables import plain_table

    table = plain_table(["plan", "what it makes"], ["cells", "runs"])
    for plan in map(load_plan, plan_names()):
        cells = plan.cells()
        makes = "\n".join((plan.purpose, *(f"[dim]- {escape(each)}[/dim]" for each in plan.makes)))
        table.add_row(plan.name, makes, f"{len(cells):,}", f"{sum(cells.values()):,}")
    console = Console(highlight=False)
    console.print(table)
    console.print("\nA cell is a problem, a method and a number of workers. Plans share runs: none is done twice.")


def run(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A name from `aegis-paper plans`, or a .toml file.")],
    out: Annotated[
        Path, typer.Option(metavar="DIR", file_okay=False, help="Keeps the records; what is there is not done again.")
    ],
    runs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs of each cell, instead of the plan's number.")
    ] = None,
    problems: Annotated[list[str] | None, typer.Option(metavar="NAMES", help=SEVERAL)] = None,
    methods: Annotated[list[str] | None, typer.Option(metavar="NAMES", help=SEVERAL)] = None,
    workers: Annotated[
        list[int] | None, typer.Option(min=1, metavar="Q", help="Only this many simulated workers; may be repeated.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="paper, reference or modern, instead of the plan's.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Runs at a time; changes no result.")] = 1,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler to run on, instead of local processes.")
    ] = None,
) -> None:
    """Do the runs of a plan that are not in DIR yet.

    Stop it as you like, with Ctrl-C or worse: every finished run is on disk, and the same command goes on from there.
    """
    from aegis_paper.cli.campaign import conduct
    from aegis_paper.plan import load_plan

    chosen = load_plan(plan).only({"problems": _words(problems), "methods": _words(methods), "workers": workers or []})
    if runs is not None:
        chosen = chosen.with_all(runs=runs)
    if preset is not None:
        chosen = chosen.with_all(preset=preset)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        failures = conduct(chosen, out, jobs, dask, console)
    except KeyboardInterrupt:
        console.print(f"Interrupted. Finished runs are in {escape(str(out))}: the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None
    if failures:
        raise typer.Exit(FAILED)


def _words(texts: list[str] | None) -> list[str]:
    return [word for text in texts or [] for word in text.split()]
