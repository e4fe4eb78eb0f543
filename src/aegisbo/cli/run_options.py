"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from aegisbo.cli.numbers import real, whole

StrategyName = Annotated[str, typer.Option(metavar="NAME", help="See `aegisbo strategies`.")]
PresetName = Annotated[str | None, typer.Option(metavar="NAME", help="Which surrogate, such as `paper`.")]
InitialPoints = Annotated[
    int | None, typer.Option(parser=whole(0), metavar="N", help="Points spread out at the start; 2d unless given.")
]
Seed = Annotated[int | None, typer.Option(parser=whole(0), metavar="N", help="Decides all random numbers.")]
ThreadsPerWorker = Annotated[
    int | None,
    typer.Option(
        parser=whole(1), metavar="N", help="BLAS and OpenMP threads of a worker process; a share of the cores."
    ),
]
TrialTimeout = Annotated[float | None, typer.Option(parser=real(), metavar="S", help="Seconds for one evaluation.")]
Target = Annotated[float | None, typer.Option(parser=real(), metavar="Y", help="A value that is good enough to stop.")]
GiveUpAfter = Annotated[
    int, typer.Option(parser=whole(0), metavar="N", help="End if so many evaluations gave no value at all; 0: never.")
]
Cost = Annotated[
    str | None,
    typer.Option(metavar="time", help="`time`: prefer points that are evaluated quickly, where that pays."),
]
ConstraintTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--constraint",
        metavar="TEXT",
        help="What points must fulfill to be evaluated, such as `a < b` or `x + 2*y <= 3`. May be given several times.",
    ),
]
LimitTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="TEXT",
        help="What must hold of a quantity that is measured beside the value, such as `latency <= 5`. May be given "
        "several times.",
    ),
]
From = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Earlier results to learn from: a study or a CSV file. What fits is used. May be given several times.",
    ),
]
Given = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="What a parameter was that --from lacks; or, of one that --space lacks, whose results are used.",
    ),
]
ValueColumn = Annotated[str, typer.Option(metavar="NAME", help="The column of a plain CSV file with the values.")]
Maximize = Annotated[bool, typer.Option("--maximize", help="Look for the largest value instead.")]
Anyway = Annotated[bool, typer.Option("--anyway", help="Go on with a study although the function has changed since.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]
