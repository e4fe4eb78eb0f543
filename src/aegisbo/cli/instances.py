"""Which instances of a family of problems: `--instance 3`, `--instances 1-51` or `--instances 1,4,7-9`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from aegisbo.cli.number_list import numbers_in
from aegisbo.cli.numbers import whole
from aegisbo.errors import InvalidInput

Instance = Annotated[
    int | None,
    typer.Option(parser=whole(), metavar="N", help="Which instance of a problem that has many, such as push4."),
]
Instances = Annotated[str | None, typer.Option(metavar="N-M", help="Several instances, such as `1-51` or `1,4,7-9`.")]


def with_instances(problems: Iterable[str], instance: int | None, instances: str | None) -> list[str]:
    """The names of the problems, each with the numbers of the instances if any were asked for."""
    if instance is not None and instances is not None:
        raise InvalidInput(f"--instance {instance} and --instances {instances} exclude each other: leave one out.")
    if instances is not None:
        return [f"{problem}#{number}" for problem in problems for number in numbers_in(instances, "--instances")]
    return [problem if instance is None else f"{problem}#{instance}" for problem in problems]
