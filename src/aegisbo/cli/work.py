"""`aegisbo work`: one of many copies that share a study, started by any scheduler."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegisbo.address import Place
from aegisbo.cli.arguments import Study
from aegisbo.cli.function import chosen
from aegisbo.cli.run_options import From, Given, Quiet, ValueColumn, as_arguments, earlier, spelled, with_options
from aegisbo.cli.run_words import NO_VALUE, log, report
from aegisbo.cli.tables import Terminal
from aegisbo.errors import InvalidInput
from aegisbo.options import OF_A_COPY, SETTINGS

if TYPE_CHECKING:
    from aegisbo.optimizer import Settings

EXAMPLES = """Examples:

- `aegisbo work run.db training:loss --space space.toml --budget 200`
- `srun --ntasks 32 aegisbo work run.db training:loss --space space.toml --budget 200`
- `aegisbo work run.db`

Every copy may be given the same words: the first one makes the study, the others join it. A study that exists knows all
of them. Copies need nothing of each other but the file: each may be started, stopped and killed at any time.
"""


@with_options("work", **OF_A_COPY)
def work(
    study: Study,
    function: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODULE:FUNCTION]", help="A Python function, imported from here (default: that of the study)."
        ),
    ] = None,
    command: Annotated[str | None, typer.Option(metavar="TEXT", help="A program instead, as for `minimize`.")] = None,
    value_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="File to which the program writes its value, as for `minimize`.")
    ] = None,
    space: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The parameters, in TOML; for a study that does not exist yet.")
    ] = None,
    *,
    from_: From = None,
    given: Given = None,
    value_column: ValueColumn = "value",
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Join a study as one of several copies, until its budget is spent."""
    from aegisbo.public.minimize import judged
    from aegisbo.runners.interrupt import STOPPED
    from aegisbo.runners.work import work as run

    arguments = as_arguments(options)
    decided = {name: arguments.pop(name) for name in SETTINGS if name in arguments}
    settings = _settings(space, decided)
    run = log(not quiet and not sys.stderr.isatty())(run)  # for as long as it runs
    result = run(
        _function(study, function, command, value_file),
        study,
        settings,
        observed=earlier(from_, given, value_column),
        judge=judged,
        progress=False if quiet else None,
        **arguments,
    )
    report(result, study, Terminal(soft_wrap=True))
    if not result.success and not result.ending.startswith(STOPPED):
        raise typer.Exit(NO_VALUE)


def _settings(space: Path | None, given: dict[str, Any]) -> Settings | None:
    """What the study must be; None if it says so itself."""
    from aegisbo.optimizer import Settings
    from aegisbo.space import read_space

    if space is not None:
        return Settings.checked(read_space(space), **given)
    for name, value in given.items():
        if value != SETTINGS[name].default:
            raise InvalidInput(f"{spelled(name)} goes with --space: without it the study decides.")
    return None


def _function(study: Place, function: str | None, command: str | None, value_file: str | None) -> Callable[..., Any]:
    """What is to be minimized: as given, else as the study says."""
    if function is None and command is None:
        from aegisbo.events import Joined, Opened
        from aegisbo.study.reading import exists, read_events

        if not exists(study):
            return chosen(function, command, value_file)
        calls = [event.call or {} for event in read_events(study) if isinstance(event, Opened | Joined)]
        known = [call for call in calls if "function" in call or "command" in call]
        if not known:
            raise InvalidInput(f"{study} does not say what to minimize: give a function (module:name) or a --command.")
        function, command = known[-1].get("function"), known[-1].get("command")
        value_file = value_file or known[-1].get("value_file")
    return chosen(function, command, value_file)
