"""The command line: one small file per command. Heavy parts load when a command runs, so that --help is quick."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from aegisbo import __version__
from aegisbo.cli import (
    advise,
    demo,
    edit,
    export,
    minimize,
    pages,
    problems,
    replay,
    show,
    simulate,
    strategies,
    work,
)
from aegisbo.cli.tables import Terminal
from aegisbo.errors import AegisError

BAD_INPUT = 2  # the code that typer itself uses for options it cannot read

app = typer.Typer(
    help="Minimize expensive functions with workers that never wait.",
    epilog="Exit codes: 0 all went well; 1 an unexpected error; 2 something in the input cannot be used; "
    "3 no evaluation gave a value; 4 a replay came out differently; 130 interrupted (`minimize` and `work` then end "
    "with 0).",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command(epilog=minimize.EXAMPLES)(minimize.minimize)
app.command(epilog=work.EXAMPLES)(work.work)
app.command(epilog=edit.EXAMPLE_OF_ADD)(edit.add)
app.command("set", epilog=edit.EXAMPLES_OF_SET)(edit.set_)
app.command()(show.show)
app.command()(pages.report)
app.command()(pages.serve)
app.command(epilog=advise.EXAMPLES)(advise.advise)
app.command()(edit.retry)
app.command()(edit.forget)
app.command()(replay.replay)
app.command()(export.export)
app.command()(demo.demo)
app.command(epilog=simulate.EXAMPLES)(simulate.simulate)
app.command()(strategies.strategies)
app.add_typer(problems.app, name="problems")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aegisbo {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
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
