"""`aegisbo paper`: the paper's experiments, one file a command."""

from __future__ import annotations

import typer

from aegisbo.cli import paper_cost, paper_results, paper_run

app = typer.Typer(
    help="Repeat the paper's experiments, and hold them against what was published.", no_args_is_help=True
)
app.command(epilog=paper_run.EXAMPLES)(paper_run.run)
app.command()(paper_run.plans)
app.command()(paper_cost.cost)
app.command(epilog=paper_results.TABLE_EXAMPLES)(paper_results.table)
app.command(epilog=paper_results.FIGURE_EXAMPLES)(paper_results.figure)
app.command()(paper_results.compare)
app.command()(paper_results.claims)
