"""Numbers as options: what cannot be read is named together with what could be."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import typer


def whole(least: float = -inf, most: float = inf) -> Callable[[str], int]:
    """What reads a whole number within these bounds."""
    return lambda text: int(_read(text, int, "whole number", least, most))


def real(least: float = -inf) -> Callable[[str], float]:
    """What reads a number from the least on, which may have decimals."""
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
