"""`aegis-paper picture` and `build-profet`: what the problems look like, and how the trained ones are made."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from aegisbo.cli.arguments import Instance, Instances, whole, with_instances
from aegisbo.cli.problems import Name, Point, point_from
from aegisbo.cli.writing import require_writable
from aegisbo.errors import InvalidInput


def picture(
    name: Name,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="A .png, .svg, .pdf or .gif file.")
    ],
    x: Point = None,
    instance: Instance = None,
    instances: Instances = None,
) -> None:
    """Draw a push at a point (push4, push8; a .gif moves), or problems of two coordinates as maps."""
    from aegis_paper.problems.landscape_picture import draw_landscapes
    from aegis_paper.problems.push import Push
    from aegis_paper.problems.push_picture import draw_push
    from aegisbo.simulation.problems import get

    shown = [get(each) for each in with_instances([name], instance, instances)]
    require_writable(output)
    first = shown[0]
    if isinstance(first.function, Push):
        if len(shown) > 1:
            raise InvalidInput(f"{len(shown)} pushes do not fit into one picture: choose one with --instance.")
        point = point_from(first, x)
        draw_push(first.function, point, f"{first.name}, value {first(point):.3g}", output)
    else:
        draw_landscapes(shown, output)
    typer.echo(f"Wrote {output}", err=True)


def build_profet(
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Holds svm_data.npz, xgboost_data.npz and fcnet_net42.npz; their layout: paper/docs/problems.md.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="An .npz file.")],
    units: Annotated[
        int, typer.Option(parser=whole(1), metavar="N", help="Width of the networks; the originals have 500.")
    ] = 150,
    seed: Annotated[int, typer.Option(parser=whole(0), metavar="N", help="Decides all random numbers.")] = 0,
) -> None:
    """Train 51 instances each of SVM, FC-NET and XGBoost (minutes; half an hour with 500 units)."""
    from aegis_paper.problems.profet_bayes_net import Chain
    from aegis_paper.problems.profet_build import BUILDERS, build_all
    from aegis_paper.problems.profet_network import Network
    from aegis_paper.problems.profet_store import write_networks
    from aegisbo.simulation.problem import INSTANCES

    require_writable(output)
    console = Console(stderr=True)
    networks = build_all(data, Chain(units=units), seed)
    total = len(BUILDERS) * INSTANCES
    sets: dict[str, list[Network]] = defaultdict(list)
    for name, network in track(networks, "Training", total, console=console, disable=not console.is_terminal):
        sets[name].append(network)
    write_networks(output, sets)
    typer.echo(f"Wrote {output}: {INSTANCES} instances each of {', '.join(sets)}", err=True)
