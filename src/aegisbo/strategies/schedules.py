"""How much to explore: ε, the share of exploratory moves, by the number of parameters."""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

from aegisbo.strategies.checks import BadParameter, share

Schedule = Callable[[int], float]  # ε(d)


def by_sqrt(d: int) -> float:
    """2/√d, the paper's choice."""
    return min(2.0 / sqrt(d), 1.0)


def halved(d: int) -> float:
    """1/√d: half the paper's exploration, for a surrogate that can be trusted more."""
    return 1.0 / sqrt(d)


def faster(d: int) -> float:
    """2/(d − 2): exploration falls faster with the dimension."""
    return 2.0 / (max(d, 4) - 2)


def slower(d: int) -> float:
    """2/ln(d + 3): exploration falls more slowly with the dimension."""
    return min(2.0 / log(d + 3), 1.0)


SCHEDULES: dict[str, Schedule] = {"sqrt": by_sqrt, "half": halved, "faster": faster, "slower": slower}


def exploration(epsilon: str | float, d: int) -> float:
    """ε for d parameters; a number is the same in every dimension."""
    return SCHEDULES[epsilon](d) if isinstance(epsilon, str) else epsilon


def epsilon(name: str, value: object) -> str | float:
    """The name of a schedule, or a number from 0 to 1 (a check, see `checks`)."""
    if isinstance(value, str) and value in SCHEDULES:
        return value
    try:
        return float(share(name, value))
    except BadParameter:
        raise BadParameter(name, value, f"{', '.join(SCHEDULES)} or a number from 0 to 1") from None
