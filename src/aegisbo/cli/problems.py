"""`aegisbo problems`: the benchmark problems and their values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from aegisbo.cli.arguments import Instance
from aegisbo.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from aegisbo.arrays import Array
    from aegisbo.simulation.problem import Family, Problem

app = typer.Typer(invoke_without_command=True)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A problem of `aegisbo problems`; push4#3 is its instance 3.")
]
Point = Annotated[
    str | None,
    typer.Option(
        "--x", metavar="VALUES", help="A point of the box (0.2,0.7) or all parameters by name (C=1,gamma=0.01)."
    ),
]


@app.callback()
def problems(
    context: typer.Context,
    cost: Annotated[bool, typer.Option("--cost", help="Measure how long an evaluation takes; some need data.")] = False,
) -> None:
    """List the benchmark problems."""
    if context.invoked_subcommand is not None:
        return
    from aegisbo.cli.tables import plain_table
    from aegisbo.simulation.problems import broken, families, get, names, with_fronts

    unavailable: dict[str, list[str]] = {}  # names, by the reason

    def row(problem: Problem | Family, *cells: str) -> list[str]:
        seconds = [_cost(problem, unavailable)] if cost else []
        sides = box(problem.bounds).replace(", ", ",")  # so that a line ends between two sides
        return [problem.name, str(problem.d), *cells, *seconds, sides]

    table = plain_table(["name"], ["d", "instances", "minimum", *["cost"] * cost])
    table.add_column("box", overflow="fold")
    known: list[Problem | Family] = [*map(get, names()), *families()]
    for problem in known:
        minimum, count = getattr(problem, "minimum", None), getattr(problem, "count", 1)
        table.add_row(*row(problem, str(count), _known(minimum)))
    fronts = plain_table(["name"], ["d", "objectives", "hypervolume", "reference", *["cost"] * cost])
    fronts.add_column("box", overflow="fold")
    for problem in map(get, with_fronts()):
        front = problem.front
        assert front is not None  # as of all of them
        reference = ", ".join(f"{value:.4g}" for value in front.reference.values())
        fronts.add_row(*row(problem, str(len(front.reference)), _known(front.hypervolume), reference))
    console = Console(highlight=False)
    console.print(table)
    console.print(
        "\nSeveral objectives, and the hypervolume of their fronts up to a reference point:", fronts, sep="\n"
    )
    for name, reason in broken().items():
        unavailable.setdefault(reason, []).append(name)
    for reason, affected in unavailable.items():
        console.print(f"\n{', '.join(affected)}: {reason}", markup=False, soft_wrap=True)
    console.print("\nWhere the minimum is unknown, scores are the values themselves.")


@app.command("eval")
def evaluate(name: Name, x: Point = None, instance: Instance = None) -> None:
    """Print the value of a problem at a point, or its objectives; the point in natural units goes to standard error."""
    from aegisbo.simulation.problems import get

    problem = get(name, instance)
    point = point_from(problem, x)
    settings = ", ".join(f"{parameter} = {value:.6g}" for parameter, value in problem.settings(point).items())
    typer.echo(f"{problem.name} at {settings}", err=True)
    value = problem(point)
    typer.echo("\n".join(f"{name}={value[name]!r}" for name in problem.objectives) or repr(value))


def _known(answer: float | None) -> str:
    return "unknown" if answer is None else f"{answer:.6g}"


def box(bounds: Sequence[tuple[float, float]]) -> str:
    """The box in short: equal sides in a row become a power."""
    sides = ((f"[{low:.4g}, {high:.4g}]", len(list(equal))) for (low, high), equal in groupby(bounds))
    return escape(" × ".join(side if count == 1 else f"{side}^{count}" for side, count in sides))


def _cost(problem: Problem | Family, unavailable: dict[str, list[str]]) -> str:
    """The time of an evaluation: the median over some points on the diagonal.

    A problem that lacks a package is noted with the reason instead.
    """
    import numpy as np

    from aegisbo.simulation.problem import Family

    seconds = []
    try:
        function = problem.instance(1) if isinstance(problem, Family) else problem
        low, high = np.array(function.bounds).T
        for fraction in np.linspace(0.1, 0.9, 9):
            start = perf_counter()
            function(low + fraction * (high - low))
            seconds.append(perf_counter() - start)
    except MissingExtra as error:
        unavailable.setdefault(str(error), []).append(problem.name)
        return "–"
    typical = median(seconds)
    return f"{1e3 * typical:.1f} ms" if typical >= 1e-3 else f"{1e6 * typical:.0f} μs"


def point_from(problem: Problem, text: str | None) -> Array:  # (d,)
    """The point that an option --x describes."""
    import numpy as np

    names = [parameter.name for parameter in problem.parameters]
    if text is None:
        raise InvalidInput(f"{problem.name} needs a point: add --x with values for {', '.join(names)}.")
    named = [part.partition("=") for part in text.split(",")]
    try:
        if "=" in text:
            return problem.point({name.strip(): float(value) for name, _, value in named})
        return np.array([float(name) for name, _, _ in named])
    except InvalidInput:
        raise
    except ValueError:
        raise InvalidInput(f"--x {text!r} holds something that is no number: give {', '.join(names)}.") from None
