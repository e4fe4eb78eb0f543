"""`aegisbo retry` and `aegisbo forget`: second thoughts about the trials of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from aegisbo.cli.number_list import as_ranges, numbers_in
from aegisbo.cli.study_file import StudyFile


def retry(
    study: StudyFile,
    numbers: Annotated[
        str | None,
        typer.Argument(metavar="[NUMBERS]", help="Trials such as `3`, `3-17` or `3,5,8-10`."),
    ] = None,
) -> None:
    """Let trials be run again, all without a value or those named.

    Whoever drives this study next (`minimize`, or copies of `work`) runs them first, with the same numbers and points.
    If a named trial has a value, it is dropped. The file keeps a record of everything that happened.
    """
    from aegisbo.study import retry as run

    changed = run(study, None if numbers is None else numbers_in(numbers, "NUMBERS"))
    if not changed:
        typer.echo("Nothing to retry: no trial has ended without a value.")
        return
    typer.echo(f"{_trials(changed)} pending again: whoever drives this study next runs what is pending first.")


def forget(
    study: StudyFile,
    numbers: Annotated[str, typer.Argument(metavar="NUMBERS", help="Trials such as `3`, `3-17` or `3,5,8-10`.")],
) -> None:
    """Drop trials as if they had never been asked for.

    They teach the model nothing, are never the best, and do not count towards the budget. The file keeps a record of
    everything that happened.
    """
    from aegisbo.study import forget as run

    changed = run(study, numbers_in(numbers, "NUMBERS"))
    typer.echo(f"{_trials(changed)} forgotten: no result and no evaluation counts any more.")


def _trials(numbers: Sequence[int]) -> str:
    """The subject of a sentence, with its verb."""
    one = len(numbers) == 1
    return f"{'Trial' if one else f'{len(numbers)} trials:'} {as_ranges(list(numbers))} {'is' if one else 'are'}"
