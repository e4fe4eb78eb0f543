"""`aegisbo problems`: the benchmark problems, their values, their pictures, and how the trained ones are made."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import track

from aegisbo.cli.instances import Instance, Instances, with_instances
from aegisbo.errors import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from aegisbo.arrays import Array
    from aegisbo.problems import Problem

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
def problems(context: typer.Context) -> None:
    """List the benchmark problems."""
    if context.invoked_subcommand is not None:
        return
    from aegisbo.cli.tables import plain_table
    from aegisbo.problems import families, get, names

    table = plain_table(["name"], ["d", "instances", "minimum", "cost"])
    table.add_column("box", overflow="fold")
    for problem in map(get, names()):
        table.add_row(problem.name, str(problem.d), "1", f"{problem.minimum:.6g}", cost(problem), box(problem.bounds))
    for family in families():
        try:
            seconds = cost(family.instance(1))
        except MissingExtra as error:
            seconds = f"{error}"[f"{error}".index("pip") :]
        table.add_row(family.name, str(family.d), str(family.count), "unknown", escape(seconds), box(family.bounds))
    console = Console(highlight=False)
    console.print(table)
    console.print(
        "\nCosts are of one evaluation, measured now. Unknown minima are not below 0, which the paper takes for them."
    )


@app.command("eval")
def evaluate(name: Name, x: Point = None, instance: Instance = None) -> None:
    """Print the value of a problem at a point; what the point stands for goes to standard error."""
    from aegisbo.problems import get

    problem = get(name, instance)
    point = _point(problem, x)
    settings = ", ".join(f"{parameter} = {value:.6g}" for parameter, value in problem.settings(point).items())
    typer.echo(f"{problem.name} at {settings}", err=True)
    typer.echo(repr(problem(point)))


@app.command()
def show(
    name: Name,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="A .png, .svg, .pdf or .gif file.")
    ],
    x: Point = None,
    instance: Instance = None,
    instances: Instances = None,
) -> None:
    """Draw a push at a point (push4, push8; a .gif moves), or problems of two coordinates as maps."""
    from aegisbo.problems import get
    from aegisbo.problems.landscape_picture import draw_landscapes
    from aegisbo.problems.push import Push
    from aegisbo.problems.push_picture import draw_push

    shown = [get(each) for each in with_instances([name], instance, instances)]
    _check_writable(output)
    first = shown[0]
    if isinstance(first.function, Push):
        if len(shown) > 1:
            raise InvalidInput(f"{len(shown)} pushes do not fit into one picture: choose one with --instance.")
        point = _point(first, x)
        draw_push(first.function, point, f"{first.name}, value {first(point):.3g}", output)
    else:
        draw_landscapes(shown, output)
    typer.echo(f"Wrote {output}", err=True)


@app.command("build-profet")
def build_profet(
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Holds svm_data.npz, xgboost_data.npz and fcnet_net42.npz; docs/problems.md says what is in them.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="An .npz file.")],
    units: Annotated[
        int, typer.Option(min=1, metavar="N", help="Width of the networks; the originals have 500.")
    ] = 150,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Decides all random numbers.")] = 0,
) -> None:
    """Train 51 instances each of SVM, FC-NET and XGBoost (minutes; half an hour with 500 units)."""
    from aegisbo.problems.base import INSTANCES
    from aegisbo.problems.profet_bayes_net import Chain
    from aegisbo.problems.profet_build import BUILDERS, build_all
    from aegisbo.problems.profet_network import Network
    from aegisbo.problems.profet_store import write_networks

    _check_writable(output)
    console = Console(stderr=True)
    networks = build_all(data, Chain(units=units), seed)
    total = len(BUILDERS) * INSTANCES
    sets: dict[str, list[Network]] = defaultdict(list)
    for name, network in track(networks, "Training", total, console=console, disable=not console.is_terminal):
        sets[name].append(network)
    write_networks(output, sets)
    typer.echo(f"Wrote {output}: {INSTANCES} instances each of {', '.join(sets)}", err=True)


def box(bounds: Sequence[tuple[float, float]]) -> str:
    """The box in short: equal sides in a row become a power."""
    sides = ((f"[{low:.4g}, {high:.4g}]", len(list(equal))) for (low, high), equal in groupby(bounds))
    return escape(" × ".join(side if count == 1 else f"{side}^{count}" for side, count in sides))


def cost(problem: Problem) -> str:
    """The time of an evaluation: the median over some points of the diagonal."""
    import numpy as np

    low, high = np.array(problem.bounds).T
    seconds = []
    for fraction in np.linspace(0.1, 0.9, 9):
        start = perf_counter()
        problem(low + fraction * (high - low))
        seconds.append(perf_counter() - start)
    typical = median(seconds)
    return f"{1e3 * typical:.1f} ms" if typical >= 1e-3 else f"{1e6 * typical:.0f} μs"


def _point(problem: Problem, text: str | None) -> Array:
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


def _check_writable(file: Path) -> None:
    if not os.access(file.parent, os.W_OK):
        raise InvalidInput(f"{file} cannot be written: give a file in a folder that exists and is yours.")
