"""The command line `aegis-paper`: `commands` has the options, and a small file per command what it does."""

from __future__ import annotations

import typer

from aegis_paper.cli import commands, problems
from aegisbo.cli import run_app

app = typer.Typer(
    help="Repeat the paper's experiments, and compare them with what was published.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command(epilog=commands.RUN_EXAMPLES)(commands.run)
app.command()(commands.plans)
app.command()(commands.cost)
app.command(epilog=commands.TABLE_EXAMPLES)(commands.table)
app.command(epilog=commands.FIGURE_EXAMPLES)(commands.figure)
app.command()(commands.compare)
app.command()(commands.counts)
app.command()(commands.factors)
app.command()(commands.claims)
app.command()(commands.report)
app.command()(problems.picture)
app.command("build-profet")(problems.build_profet)


def main() -> None:
    """Run the command line."""
    run_app(app)
