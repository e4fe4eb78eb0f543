"""`aegisbo odds`: whether going on is worth it."""

from __future__ import annotations

from typing import Annotated

import typer

from aegisbo.cli.arguments import Seed, Study, counted

EXAMPLES = """Examples:

- `aegisbo odds run.db`
- `aegisbo odds run.db --evaluations 60 --workers 8 --better 0.5%`
"""


def odds(
    study: Study,
    evaluations: Annotated[
        int | None,
        counted("Further evaluations (default: what is left of the budget, or half as many again as there were)."),
    ] = None,
    workers: Annotated[int | None, counted("Workers (default: as many as the study had).")] = None,
    better: Annotated[
        str,
        typer.Option(
            metavar="AMOUNT",
            help="What counts: `1%` of the distance from the best value to the median of the first ones, or an amount "
            "in the units of the value.",
        ),
    ] = "1%",
    seed: Seed = 0,
) -> None:
    """Estimate the chance that further evaluations find something better.

    Functions that agree with the results are searched on from here. What they promise counts as much as the
    promises of this study have been worth.
    """
    from aegisbo.review.odds import odds as ask

    found = ask(study, evaluations, workers=workers, better=better, seed=seed)
    typer.echo("\n".join([found.text, *found.details]))
