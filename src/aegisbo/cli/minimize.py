"""`aegisbo minimize`: a Python function or any program, on this machine or a cluster."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from aegisbo.cli.arguments import placed
from aegisbo.cli.function import chosen
from aegisbo.cli.pages import served
from aegisbo.cli.run_options import From, Given, Quiet, ValueColumn, as_arguments, earlier, with_options
from aegisbo.cli.run_words import INTERRUPTED, NO_VALUE, log, report
from aegisbo.cli.tables import Terminal
from aegisbo.errors import InvalidInput

EXAMPLE_SPACE = """\
# One table for each parameter, in this order. Optional, before the tables: constraints = ["units * lr < 2"]
# Optional, in a table: when = {act = "relu"}. The parameter then exists only for this value. A list such as
# ["relu", "tanh"] means one of several; for numbers write a range: when = {units = ">= 64"} or {units = "32 to 64"}.
# Also optional: guess = 1e-3 or guess = [1e-4, 1e-2], where you expect the best value; guess = "relu" of a choice.
[lr]
type = "real"          # low, high, log = false
low = 1e-6
high = 0.1
log = true

[units]
type = "int"           # low, high, log = false, step = 1
low = 16
high = 512

[act]
type = "choice"        # values
values = ["relu", "tanh"]
"""

EXAMPLES = """Examples:

- `aegisbo minimize --example-space > space.toml`
- `aegisbo minimize training:loss --space space.toml --budget 200 --workers 8 --study run.db`
- `aegisbo minimize --command "./simulate --lr {lr} --units {units}" --space space.toml --budget 50`

A function gets the parameters by name and returns the value; with `--limit "latency <= 5"` it returns
`value, {"latency": 3.2}`. A program gets them in place of `{name}`, and prints the value as its last line; a limited
quantity goes on a line of its own, `latency=3.2`. With several objectives, such as `--objective "accuracy max"`, a
function returns all by name, and a program prints each on a line of its own. Run the same command again to continue a
study.
"""


@with_options("minimize", budget=100, executor="processes")
def minimize(
    function: Annotated[
        str | None, typer.Argument(metavar="[MODULE:FUNCTION]", help="A Python function, imported from here.")
    ] = None,
    command: Annotated[str | None, typer.Option(metavar="TEXT", help="A program to run instead.")] = None,
    value_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A file to which the program writes its value; `{folder}` is its own folder.",
        ),
    ] = None,
    space: Annotated[Path | None, typer.Option(metavar="FILE", help="The parameters, in a TOML file.")] = None,
    example_space: Annotated[bool, typer.Option("--example-space", help="Print an example of such a file.")] = False,
    study: Annotated[
        Any,
        typer.Option(
            parser=placed, metavar="STUDY", help="Record the run in this file or at this address, or continue it."
        ),
    ] = None,
    *,
    from_: From = None,
    given: Given = None,
    value_column: ValueColumn = "value",
    serve: Annotated[bool, typer.Option("--serve", help="Show the run as a live page; needs --study.")] = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Tune a Python function or a program."""
    if example_space:
        typer.echo(EXAMPLE_SPACE, nl=False)
        return
    from aegisbo.public.minimize import minimize as run
    from aegisbo.runners.interrupt import STOPPED
    from aegisbo.space import read_space

    if space is None:
        raise InvalidInput("--space is missing: name a space file; `aegisbo minimize --example-space` prints one.")
    if serve and study is None:
        raise InvalidInput("--serve shows a study: name its file with --study.")
    parameters = read_space(space)
    run = served(study if serve else None)(run)
    run = log(not quiet and not sys.stderr.isatty())(run)  # for as long as it runs
    result = run(
        chosen(function, command, value_file),
        parameters,
        study=study,
        observed=earlier(from_, given, value_column),
        progress=False if quiet else None,
        **as_arguments(options),
    )
    serial, lets_pass = options["executor"] == "serial", options["raise_errors"] is False
    raising = ("--raise-errors" if lets_pass else "") if serial else "--executor serial"
    report(result, study, Terminal(soft_wrap=True), raising)
    if not result.success:
        raise typer.Exit(INTERRUPTED if result.ending.startswith(STOPPED) else NO_VALUE)
