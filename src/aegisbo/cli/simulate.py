"""`aegisbo simulate`: strategies side by side on benchmark problems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from aegisbo.cli.arguments import Instance, Instances, Jobs, Seed, counted, real, with_instances
from aegisbo.cli.writing import require_writable, write_whole

PROBLEMS = ["Hartmann6"]
STRATEGIES = ["aegis"]
STANDARD_OUTPUT = Path("-")

EXAMPLES = """Examples:

- `aegisbo simulate --problem Branin --strategy aegis --strategy thompson --workers 4 --budget 60`
- `aegisbo simulate --strategy all --runs 11 --jobs 2 --json runs.json`
- `aegisbo simulate --strategy aegis --strategy aegis:gamma=0.2,epsilon=faster --law pareto`
- `aegisbo simulate --problem push4 --instances 1-51 --runs 1 --strategy aegis --strategy random`
- `aegisbo simulate --strategy random --runs 1 --json - | python -m json.tool`
"""


def simulate(
    problem: Annotated[
        list[str], typer.Option(metavar="NAME", help="What to minimize, see `aegisbo problems`; repeat for several.")
    ] = PROBLEMS,
    instance: Instance = None,
    instances: Instances = None,
    strategy: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="Who chooses the points, see `aegisbo strategies`; repeat for several, which are compared with the "
            "first, or say `all`.",
        ),
    ] = STRATEGIES,
    workers: Annotated[int, counted("Evaluations at a time.")] = 8,
    runs: Annotated[int, counted("Repetitions, each from its own initial points.")] = 5,
    budget: Annotated[int, counted("Evaluations per run, with the initial ones.")] = 200,
    law: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="Job times: `half-normal`, `pareto`, `exponential` or `constant`, of mean 1, or a file of seconds.",
        ),
    ] = "half-normal",
    suggestion: Annotated[
        float,
        typer.Option(parser=real(0.0), metavar="S", help="Time that a suggestion takes on the clock of the jobs."),
    ] = 0.0,
    seed: Seed = 0,
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="Variant of all strategies, such as `paper`.")
    ] = None,
    jobs: Jobs = 1,
    json: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write all runs with every evaluation; `-` for standard output (tables then go to standard error).",
        ),
    ] = None,
) -> None:
    """Compare strategies on benchmark problems, with simulated workers.

    Workers live on a virtual clock with job times drawn from a law, so any number of them fits on one core.
    A run starts with 2d points of a Latin hypercube, which take no time. All strategies share the initial points and
    the job times of run 0, of run 1, and so on, and are compared run by run.
    """
    from aegisbo.cli import simulations
    from aegisbo.strategies.registry import DEFAULT_PRESET

    if json not in (None, STANDARD_OUTPUT):
        require_writable(json)
    specs = simulations.plan(
        with_instances(problem, instance, instances),
        strategy,
        runs,
        workers=workers,
        budget=budget,
        law=law,
        suggestion=suggestion,
        seed=seed,
        preset=DEFAULT_PRESET if preset is None else preset,
    )
    records = simulations.execute(specs, jobs)
    simulations.show(records, simulations.checkpoints(budget), Console(stderr=json == STANDARD_OUTPUT, highlight=False))
    if json == STANDARD_OUTPUT:
        typer.echo(simulations.as_json(records))
    elif json is not None:
        write_whole(json, simulations.as_json(records) + "\n")
