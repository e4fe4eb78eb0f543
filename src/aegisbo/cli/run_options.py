"""Command-line options: those made from the table of a run's options, and others that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegisbo.cli.arguments import assigned, real, whole
from aegisbo.errors import InvalidInput
from aegisbo.options import NONE_AT_ZERO, OPTIONS, SETTINGS, Flag

if TYPE_CHECKING:
    from aegisbo.study import Earlier

TABLE = OPTIONS | SETTINGS
EARLIER = "Earlier results"
FAILING = ("trial_timeout", "retries", "give_up_after", "raise_errors")

From = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="A study (file or address) or a CSV file with earlier results. Repeatable.",
        rich_help_panel=EARLIER,
    ),
]
Given = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="The value of a parameter that --from or --space lacks.",
        rich_help_panel=EARLIER,
    ),
]
ValueColumn = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The column of a CSV file with the values (default value).",
        show_default=False,
        rich_help_panel=EARLIER,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]


def with_options(command: str, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a flag for each run option: after its own options, before its keyword-only ones.

    `defaults` are those that differ from a call in Python.
    """

    def decorate(fun: Callable[..., None]) -> Callable[..., None]:
        own = signature(fun, eval_str=True).parameters.values()
        first = [each for each in own if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
        last = [each for each in own if each.kind is Parameter.KEYWORD_ONLY]
        made = [
            _parameter(name, each.flag, command, defaults.get(name, each.default))
            for name, each in TABLE.items()
            if each.flag is not None and each.flag.only in ("", command)
        ]
        fun.__signature__ = Signature([*first, *made, *last])  # type: ignore[attr-defined]
        return fun

    return decorate


def spelled(name: str) -> str:
    """The flag of an option."""
    flag = TABLE[name].flag
    return f"--{(flag.name if flag else '') or name.replace('_', '-')}"


def as_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of flags as a call in Python takes them."""
    taken = dict(given)
    for name, value in given.items():
        if value == 0 and name in NONE_AT_ZERO:
            taken[name] = None
        elif value in (None, []):
            taken[name] = TABLE[name].default
        elif name == "worker_env":
            taken[name] = assigned(value, spelled(name))
    return taken


def earlier(sources: list[str] | None, given: list[str] | None, value: str) -> list[Earlier] | None:
    """The earlier results that options name; None if there are none."""
    from aegisbo.study import Earlier

    texts = assigned(given, "--given")
    if not sources and (texts or value != "value"):
        raise InvalidInput("--given and --value-column go with --from: name the file that they are about.")
    return [Earlier(source, texts, value) for source in sources or []] or None


def _title(name: str) -> str:
    """The heading of an option in --help."""
    if name in SETTINGS:
        return "How points are chosen"
    return "If evaluations fail" if name in FAILING else "How it runs"


def _parameter(name: str, flag: Flag, command: str, default: Any) -> Parameter:
    readers: dict[type, Any] = {int: whole(flag.least), float: real()}
    words = flag.copies if flag.copies and command == "work" else flag.help
    if default not in (None, False, ()):
        words = f"{words.removesuffix('.')} (default {default})."
    about = typer.Option(
        spelled(name),
        parser=readers.get(flag.of),
        metavar=flag.takes or None,
        help=words,
        show_default=False,
        rich_help_panel=_title(name),
    )
    kind: Any = list[str] if flag.of is list else flag.of
    shown = None if flag.of is list else default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=shown, annotation=Annotated[kind | None, about])
