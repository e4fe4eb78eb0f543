"""The command line, in small files. Heavy parts load when a command runs, so that --help is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from aegisbo import __version__
from aegisbo.cli import (
    advise,
    credit,
    demo,
    edit,
    export,
    mcp,
    minimize,
    odds,
    pages,
    problems,
    replay,
    servers,
    show,
    simulate,
    strategies,
    work,
)
from aegisbo.cli.tables import Terminal
from aegisbo.errors import AegisError

BAD_INPUT = 2  # the code that typer itself uses for options it cannot read

app = typer.Typer(
    help="Tune what is slow to try, with workers that never wait.",
    epilog="Exit codes: 0 all went well; 1 an unexpected error; 2 something in the input cannot be used; "
    "3 no evaluation gave a value; 4 a replay came out differently; 130 interrupted (`minimize` and `work` then end "
    "with 0).",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
COMMANDS: dict[str, dict[Callable[..., None], str]] = {  # by the title above them in --help, with their examples
    "Run": {minimize.minimize: minimize.EXAMPLES, work.work: work.EXAMPLES},
    "Look at a study, also while it runs": {
        show.show: "Example: `aegisbo show run.db --best 5`",
        pages.report: "Example: `aegisbo report run.db`",
        pages.serve: "Example: `aegisbo serve run.db`",
        odds.odds: odds.EXAMPLES,
        advise.advise: advise.EXAMPLES,
        credit.credit: "Example: `aegisbo credit run.db`",
        replay.replay: "Example: `aegisbo replay run.db`",
        export.export: "Example: `aegisbo export run.db -o trials.csv`",
    },
    "Change a study, also while it runs": {
        edit.add: "Example: `aegisbo add run.db lr=1e-3 units=64 act=relu`",
        edit.set_: edit.EXAMPLES_OF_SET,
        edit.retry: "Example: `aegisbo retry run.db 3,5,8-10`",
        edit.forget: "Example: `aegisbo forget run.db 3,5,8-10`",
        mcp.mcp: mcp.EXAMPLES,
    },
    "Studies on a PostgreSQL server": {
        servers.studies: "Example: `aegisbo studies postgresql://host/base`",
        servers.copy: "Example: `aegisbo copy run.db 'postgresql://host/base?study=run7'`",
    },
    "Learn and compare": {
        demo.demo: "",
        simulate.simulate: simulate.EXAMPLES,
        strategies.strategies: "",
    },
}
for title, commands in COMMANDS.items():
    for command, example in commands.items():
        app.command(command.__name__.strip("_"), epilog=example, rich_help_panel=title)(command)
app.add_typer(problems.app, name="problems", rich_help_panel="Learn and compare")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aegisbo {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options that come before any command."""


def main() -> None:
    """Run the command line."""
    run_app(app)


def run_app(app: typer.Typer) -> None:
    """Run a command line; what the user can correct is said in one sentence, without a traceback."""
    try:
        app()
    except AegisError as error:
        Terminal(stderr=True, soft_wrap=True).print(f"Error: {error}", style="red")
        sys.exit(BAD_INPUT)
