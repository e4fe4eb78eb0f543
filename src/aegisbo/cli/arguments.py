"""Arguments that several commands take, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import inf
from typing import Annotated, Any

import typer

from aegisbo.address import Place, base_of, place_of
from aegisbo.errors import InvalidInput


def whole(least: float = -inf, most: float = inf) -> Callable[[str], int]:
    """A parser for whole numbers within these bounds."""
    return lambda text: int(_read(text, int, "whole number", least, most))


def real(least: float = -inf) -> Callable[[str], float]:
    """A parser for numbers from `least` on, which may have decimals."""
    return lambda text: float(_read(text, float, "number", least, inf))


def _read(text: str, kind: Callable[[str], float], name: str, least: float, most: float) -> float:
    try:
        number = kind(text)
    except ValueError:
        number = None
    if number is None or not least <= number <= most:
        bounds = "" if least == -inf else f" from {least:g} on" if most == inf else f" from {least:g} to {most:g}"
        raise typer.BadParameter(f"{text!r} is no {name}{bounds}.")
    return number


def counted(help: str, least: float = 1, most: float = inf, metavar: str = "N") -> Any:
    """An option that takes a whole number within these bounds."""
    return typer.Option(parser=whole(least, most), metavar=metavar, help=help)


def placed(text: str, parse: Callable[[str], Place] = place_of) -> Place:
    """A parser for files and addresses; click would repeat one that cannot be read, with its password."""
    try:
        return parse(text)
    except InvalidInput as error:
        raise typer.BadParameter(str(error)) from None


def based(text: str) -> Place:
    """A parser for the address of a base."""
    return placed(text, base_of)


# Typer knows no unions, so commands say `Any` for a `Place`.
Study = Annotated[Any, typer.Argument(parser=placed, metavar="STUDY", help="A file, or an address on a server.")]
Jobs = Annotated[int, counted("Simulations at a time; changes no result.")]
Seed = Annotated[int, counted("Decides all random numbers.", 0)]
Instance = Annotated[int | None, counted("Which instance of a problem that has many, such as push4.", -inf)]
Instances = Annotated[str | None, typer.Option(metavar="N-M", help="Several instances, such as `1-51` or `1,4,7-9`.")]


def numbers_in(text: str, name: str) -> list[int]:
    """The numbers in a text such as 1,4,7-9; `name` is what errors call it."""
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part)  # more digits would not fit into memory
        if match is None:
            raise InvalidInput(f"{name} {text!r} cannot be read at {part!r}: write it like 1-51 or 1,4,7-9.")
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last:
            raise InvalidInput(f"{name} {text!r} runs backwards at {part!r}: write {last}-{first}.")
        numbers.extend(range(first, last + 1))
    return numbers


def as_ranges(numbers: list[int]) -> str:
    """Numbers as a user writes them: 3, 5, 8-10."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join("-".join(map(str, ends)) for ends in ranges)


def with_instances(problems: Iterable[str], instance: int | None, instances: str | None) -> list[str]:
    """The names of the problems, each with the numbers of the instances if any were asked for."""
    if instance is not None and instances is not None:
        raise InvalidInput(f"--instance {instance} and --instances {instances} exclude each other: leave one out.")
    if instances is not None:
        return [f"{problem}#{number}" for problem in problems for number in numbers_in(instances, "--instances")]
    return [problem if instance is None else f"{problem}#{instance}" for problem in problems]


def assigned(entries: list[str] | None, option: str) -> dict[str, str]:
    """The values of entries NAME=VALUE, by name; `option` is what errors call them."""
    texts: dict[str, str] = {}
    for entry in entries or []:
        name, equals, value = entry.partition("=")
        if not equals or not name:
            raise InvalidInput(f"{option} {entry!r} sets nothing: write NAME=VALUE.")
        if name in texts:
            raise InvalidInput(f"{option} {name!r} is given twice: leave one out.")
        texts[name] = value
    return texts
