"""What a rule is asked about a running evaluation, and which evaluations no rule may stop."""

from __future__ import annotations

from typing import Protocol

from aegisbo.errors import UnknownName
from aegisbo.stopping.curves import Curves
from aegisbo.stopping.ranks import Ranks


class StoppingRule(Protocol):
    """Decides by what all evaluations have reported. Equal curves give an equal answer."""

    def objection(self, number: int, curves: Curves) -> str:
        """Why the evaluation that has just reported is not worth its worker any more; empty if it is."""


RULES: dict[str, StoppingRule] = {"ranks": Ranks()}


def objection(rule: str, number: int, curves: Curves) -> str:
    """Why a running evaluation is not worth its worker any more; empty if it is.

    The first one of a run and the best one so far always are.
    """
    if number not in curves.of or number == curves.first or _leads(number, curves):
        return ""
    return RULES[rule].objection(number, curves)


def _leads(number: int, curves: Curves) -> bool:
    """Whether no other evaluation has reported something better last."""
    mine = curves.of[number].values[-1]
    others = [curve.values[-1] if curve.end is None else curve.end for k, curve in curves.of.items() if k != number]
    return all(mine < value for value in others)


def rule_named(name: str) -> str:
    """The name of a rule, if there is one.

    Raises:
        UnknownName: there is none; the message names those that there are.
    """
    if name not in RULES:
        raise UnknownName("rule to stop early", name, RULES)
    return name
