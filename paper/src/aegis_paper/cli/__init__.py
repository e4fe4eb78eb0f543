"""The command line `aegis-paper`: one small file a command. Heavy parts load when a command runs."""

from __future__ import annotations

import typer

from aegis_paper.cli import cost, problems, results, run
from aegisbo.cli import run_app

app = typer.Typer(
    help="Repeat the paper's experiments, and compare them with what was published.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command(epilog=run.EXAMPLES)(run.run)
app.command()(run.plans)
app.command()(cost.cost)
app.command(epilog=results.TABLE_EXAMPLES)(results.table)
app.command(epilog=results.FIGURE_EXAMPLES)(results.figure)
app.command()(results.compare)
app.command()(results.claims)
app.command()(problems.picture)
app.command("build-profet")(problems.build_profet)


def main() -> None:
    """Run the command line."""
    run_app(app)
