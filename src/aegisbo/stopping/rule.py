"""What a rule is asked about a running evaluation, and which evaluations no rule may stop."""

from __future__ import annotations

from typing import Protocol

from aegisbo.errors import UnknownName
from aegisbo.stopping.curves import Curves
from aegisbo.stopping.gain import Gain
from aegisbo.stopping.ranks import Ranks


class StoppingRule(Protocol):
    """Decides by what all evaluations have reported. Equal curves give an equal answer."""

    @property
    def anytime(self) -> bool:
        """Whether it is also asked when others have ended; else only when the evaluation itself reports."""

    def objection(self, number: int, curves: Curves) -> str:
        """Why the evaluation, by its last report, is not worth its worker any more; empty if it is."""

    def gains(self, number: int, curves: Curves) -> bool:
        """Whether one that was stopped there is worth a worker before a new one begins."""


RULES: dict[str, StoppingRule] = {"gain": Gain(), "ranks": Ranks()}


def objection(rule: str, number: int, curves: Curves) -> str:
    """Why a running evaluation is not worth its worker any more; empty if it is.

    The first one of a run and the best one so far always are.
    """
    if number not in curves.of or number == curves.first or _leads(number, curves):
        return ""
    return RULES[rule].objection(number, curves)


def worth_resuming(rule: str, number: int, curves: Curves) -> bool:
    """Whether an evaluation that was stopped, by its last report there, should go on before a new one begins."""
    return number in curves.of and (_leads(number, curves) or RULES[rule].gains(number, curves))


def decides_anytime(rule: str | None) -> bool:
    """Whether a rule, if there is one, may change its mind when others have ended."""
    return rule is not None and RULES[rule].anytime


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
