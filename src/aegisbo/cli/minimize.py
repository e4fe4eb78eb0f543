"""`aegisbo minimize`: a Python function or any program, on this machine or a cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from aegisbo.cli.assignments import assigned, earlier
from aegisbo.cli.function import chosen
from aegisbo.cli.numbers import real, whole
from aegisbo.cli.run_options import (
    Anyway,
    ConstraintTexts,
    Cost,
    From,
    Given,
    GiveUpAfter,
    InitialPoints,
    LimitTexts,
    Maximize,
    PresetName,
    Quiet,
    Seed,
    StrategyName,
    Target,
    ThreadsPerWorker,
    TrialTimeout,
    ValueColumn,
)
from aegisbo.cli.run_words import INTERRUPTED, NO_VALUE, log, report
from aegisbo.cli.tables import Terminal
from aegisbo.errors import InvalidInput

EXAMPLE_SPACE = """\
# One table per parameter, in the order given. With when = {act = "relu"} a parameter is there only where this holds;
# also act = ["relu", "tanh"] for one of several, and units = ">= 64" or "32 to 64" for numbers. What points must
# fulfill to be evaluated may stand here, before the tables: constraints = ["units * lr < 2"]
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

A function is called with the parameters by name. A program gets them where `{name}` stands in its arguments, as
environment variables `AEGISBO_name`, and in the JSON file that `AEGISBO_PARAMETERS` names; `AEGISBO_SLOT` counts the
workers from 0. The last line that it prints must be one number; with `--limit "latency <= 5"` it also prints a line
such as `latency=3.2`, and a function returns `value, {"latency": 3.2}`. Running the same command again continues the
study.
"""


def minimize(
    function: Annotated[
        str | None, typer.Argument(metavar="[MODULE:FUNCTION]", help="A Python function, imported from here.")
    ] = None,
    command: Annotated[str | None, typer.Option(metavar="TEXT", help="A program to run instead, see below.")] = None,
    value_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Where the program leaves its value, if not in its last line; `{folder}` is a folder of each "
            "evaluation's own.",
        ),
    ] = None,
    space: Annotated[Path | None, typer.Option(metavar="FILE", help="The parameters, in TOML.")] = None,
    example_space: Annotated[bool, typer.Option("--example-space", help="Print such a file and leave.")] = False,
    budget: Annotated[int, typer.Option(parser=whole(1), metavar="N", help="Evaluations in all.")] = 100,
    workers: Annotated[
        int | None, typer.Option(parser=whole(1), metavar="N", help="Evaluations at a time; one per core unless given.")
    ] = None,
    study: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record the run in this file, or continue it.")
    ] = None,
    strategy: StrategyName = "aegis",
    preset: PresetName = None,
    n_initial: InitialPoints = None,
    seed: Seed = None,
    from_: From = None,
    given: Given = None,
    value_column: ValueColumn = "value",
    executor: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="`processes`, `threads`, `serial`, the address of a Dask scheduler, `ray`, or `slurm`, with settings "
            "as in `slurm:minutes=30,memory_gb=8`.",
        ),
    ] = "processes",
    threads_per_worker: ThreadsPerWorker = None,
    worker_env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A variable in the environment of worker processes, such as `CUDA_VISIBLE_DEVICES={slot}`; `{slot}` "
            "counts them from 0. May be given several times.",
        ),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(parser=real(), metavar="S", help="Seconds for the whole run.")
    ] = None,
    trial_timeout: TrialTimeout = None,
    retries: Annotated[
        int, typer.Option(parser=whole(0), metavar="N", help="How often an evaluation is repeated whose worker died.")
    ] = 2,
    target: Target = None,
    give_up_after: GiveUpAfter = 20,
    raise_errors: Annotated[
        bool | None,
        typer.Option(
            "--raise-errors/--no-raise-errors",
            help="Whether the first exception of the function ends the run; unless given, with `serial` only.",
            show_default=False,
        ),
    ] = None,
    maximize: Maximize = False,
    noisy: Annotated[
        bool,
        typer.Option("--noisy", help="Values are noisy: the best is the best posterior mean, not the luckiest value."),
    ] = False,
    cost: Cost = None,
    constraint: ConstraintTexts = None,
    limit: LimitTexts = None,
    anyway: Anyway = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Show the run as a live page, as `aegisbo serve` does; needs --study.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Minimize a Python function or any program, with workers that never wait for each other."""
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
    run = _live(study if serve else None)(run)
    run = log(not quiet and not sys.stderr.isatty())(run)  # for as long as it runs
    result = run(
        chosen(function, command, value_file),
        parameters,
        budget=budget,
        workers=workers,
        strategy=strategy,
        preset=preset,
        n_initial=n_initial,
        seed=seed,
        study=study,
        executor=executor,
        threads_per_worker=threads_per_worker,
        worker_env=assigned(worker_env, "--worker-env") or None,
        timeout=timeout,
        trial_timeout=trial_timeout,
        retries=retries,
        target=target,
        give_up_after=give_up_after or None,
        raise_errors=raise_errors,
        observed=earlier(from_, given, value_column),
        progress=False if quiet else None,
        maximize=maximize,
        noisy=noisy,
        cost=cost,
        constraints=constraint or (),
        limits=limit or (),
        anyway=anyway,
    )
    serial, lets_pass = executor == "serial", raise_errors is False
    raising = ("--raise-errors" if lets_pass else "") if serial else "--executor serial"
    report(result, study, Terminal(soft_wrap=True), raising)
    if not result.success:
        raise typer.Exit(INTERRUPTED if result.ending.startswith(STOPPED) else NO_VALUE)


@contextmanager
def _live(study: Path | None) -> Iterator[None]:
    """Show a study as a page while this lasts."""
    if study is None:
        yield
        return
    from aegisbo.cli.serve import served

    with served(study) as address:
        typer.echo(f"{address} shows the run while it lasts; afterwards `aegisbo serve {study}` does.", err=True)
        yield
