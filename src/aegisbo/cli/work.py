"""`aegisbo work`: one of many copies that share a study, started by any scheduler."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from aegisbo.cli.run_words import NO_VALUE, log, report
from aegisbo.cli.study_file import StudyFile
from aegisbo.cli.tables import Terminal
from aegisbo.errors import InvalidInput

if TYPE_CHECKING:
    from aegisbo.optimizer import Settings

EXAMPLES = """Examples:

- `aegisbo work run.db training:loss --space space.toml --budget 200`
- `srun --ntasks 32 aegisbo work run.db training:loss --space space.toml --budget 200`
- `aegisbo work run.db`

Every copy may be given the same words: the first one makes the study, the others join it. A study that exists knows all
of them. Copies need nothing of each other but the file: each may be started, stopped and killed at any time.
"""


def work(
    study: StudyFile,
    function: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODULE:FUNCTION]", help="A Python function, imported from here; unless given, as in the study."
        ),
    ] = None,
    command: Annotated[str | None, typer.Option(metavar="TEXT", help="A program instead, as for `minimize`.")] = None,
    value_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where the program leaves its value, as for `minimize`.")
    ] = None,
    space: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The parameters, in TOML; for a study that does not exist yet.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            parser=whole(1), metavar="N", help="Evaluations of all copies together; unless given, as in the study."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(parser=whole(1), metavar="N", help="Evaluations of this copy at a time.")] = 1,
    strategy: StrategyName = "aegis",
    preset: PresetName = None,
    n_initial: InitialPoints = None,
    seed: Seed = None,
    from_: From = None,
    given: Given = None,
    value_column: ValueColumn = "value",
    threads_per_worker: ThreadsPerWorker = None,
    worker_env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A variable in the environment of worker processes; `{slot}` counts."),
    ] = None,
    timeout: Annotated[float | None, typer.Option(parser=real(), metavar="S", help="Seconds for this copy.")] = None,
    trial_timeout: TrialTimeout = None,
    retries: Annotated[
        int,
        typer.Option(
            parser=whole(0), metavar="N", help="How often an evaluation is repeated whose worker or copy died."
        ),
    ] = 2,
    target: Target = None,
    give_up_after: GiveUpAfter = 20,
    lease: Annotated[
        float,
        typer.Option(
            parser=real(), metavar="S", help="Seconds without a sign of life after which others run what this copy ran."
        ),
    ] = 60.0,
    maximize: Maximize = False,
    noisy: Annotated[bool, typer.Option("--noisy", help="Values are noisy, as for `minimize`.")] = False,
    cost: Cost = None,
    constraint: ConstraintTexts = None,
    limit: LimitTexts = None,
    anyway: Anyway = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate trials of a study together with other copies of this command, until its budget is spent."""
    from aegisbo.runners.interrupt import STOPPED
    from aegisbo.runners.work import work as run

    about: dict[str, Any] = {
        "n_initial": n_initial,
        "seed": seed,
        "maximize": maximize,
        "noisy": noisy,
        "cost": cost,
        "preset": preset,
        "constraints": constraint or None,
        "limits": limit or None,
    }
    settings = _settings(space, strategy, about)
    run = log(not quiet and not sys.stderr.isatty())(run)  # for as long as it runs
    result = run(
        _function(study, function, command, value_file),
        study,
        settings,
        budget=budget,
        workers=workers,
        threads_per_worker=threads_per_worker,
        worker_env=assigned(worker_env, "--worker-env") or None,
        timeout=timeout,
        trial_timeout=trial_timeout,
        retries=retries,
        target=target,
        give_up_after=give_up_after or None,
        lease=lease,
        observed=earlier(from_, given, value_column),
        progress=False if quiet else None,
        anyway=anyway,
    )
    report(result, study, Terminal(soft_wrap=True))
    if not result.success and not result.ending.startswith(STOPPED):
        raise typer.Exit(NO_VALUE)


def _settings(space: Path | None, strategy: str, given: dict[str, Any]) -> Settings | None:
    """What the study must be; None if it says so itself."""
    from aegisbo.optimizer import Settings
    from aegisbo.space import read_space

    if space is not None:
        return Settings.checked(read_space(space), strategy=strategy, **given)
    extra = [name for name, value in {**given, "strategy": strategy != "aegis"}.items() if value not in (None, False)]
    if extra:
        raise InvalidInput(
            f"--{extra[0].removesuffix('s').replace('_', '-')} goes with --space: without it the study decides."
        )
    return None


def _function(study: Path, function: str | None, command: str | None, value_file: str | None) -> Callable[..., Any]:
    """What is to be minimized: as given, else as the study says."""
    if function is None and command is None and study.exists():
        from aegisbo.study.events import read_events

        calls = [event.body["call"] for event in read_events(study) if "call" in event.body]
        known = [call for call in calls if "function" in call or "command" in call]
        if not known:
            raise InvalidInput(f"{study} does not say what to minimize: give a function (module:name) or a --command.")
        function, command = known[-1].get("function"), known[-1].get("command")
        value_file = value_file or known[-1].get("value_file")
    return chosen(function, command, value_file)
