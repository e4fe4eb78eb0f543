"""Strategies by name: the one list that the optimiser, the command line and the experiments read.

A name may carry parameters, as in `aegis:gamma=0.2,epsilon=faster`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Strategy
from aegisbo.strategies.baselines import Random
from aegisbo.strategies.believer import KrigingBeliever
from aegisbo.strategies.expected_improvement import ExpectedImprovement
from aegisbo.strategies.penalization import LocalPenalization, Playbook
from aegisbo.strategies.presets import DEFAULT_PRESET, Preset, preset_named
from aegisbo.strategies.schedules import Always, Schedule, by_sqrt, faster, halved, slower
from aegisbo.strategies.thompson import Thompson

__all__ = ["DEFAULT_PRESET", "STRATEGIES", "Entry", "resolve"]

Parser = Callable[[str], Any]


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise ValueError("a number from 0 to 1")
    return share


def _schedule(text: str) -> Schedule:
    named = {"sqrt": by_sqrt, "half": halved, "faster": faster, "slower": slower}
    if text in named:
        return named[text]
    try:
        return Always(_share(text))
    except ValueError:
        raise ValueError("sqrt, half, faster, slower or a number from 0 to 1") from None


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("a whole number from 1 upwards")
    return int(text)


def _switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError("on or off")
    return text == "on"


@dataclass(frozen=True)
class Entry:
    """How a named strategy is made, and which parameters may follow its name."""

    summary: str
    make: Callable[..., Strategy]
    parameters: Mapping[str, Parser] = field(default_factory=dict)
    uses_preset: bool = True  # and so can be told to switch the guard


AEGIS = {"epsilon": _schedule, "gamma": _share}

STRATEGIES: dict[str, Entry] = {
    "aegis": Entry("exploit, Thompson-sample or pick from the Pareto set", Aegis, AEGIS),
    "aegis-rs": Entry("AEGiS with random points instead of the Pareto set", partial(Aegis, explore="uniform"), AEGIS),
    "aegis-no-exploit": Entry("AEGiS that never exploits", partial(Aegis, exploits=False), {"gamma": _share}),
    "aegis-no-ts": Entry("AEGiS without Thompson sampling", partial(Aegis, gamma=0.0), {"epsilon": _schedule}),
    "aegis-no-pf": Entry("AEGiS without the Pareto set", partial(Aegis, gamma=1.0), {"epsilon": _schedule}),
    "thompson": Entry("always minimise a posterior sample", Thompson),
    "ei": Entry("expected improvement, blind to pending points", ExpectedImprovement),
    "kriging-believer": Entry("expected improvement, pending points as predicted", KrigingBeliever),
    "local-penalization": Entry("expected improvement, soft edges around pending points", LocalPenalization),
    "playbook": Entry("expected improvement, cones around pending points", Playbook),
    "random": Entry("a Latin hypercube of n points, or a Sobol sequence", Random, {"n": _count}, uses_preset=False),
}


def resolve(text: str, preset: str | Preset) -> Strategy:
    """The strategy that `text` describes: a name, or name:parameter=value,parameter=value."""
    name, _, rest = text.partition(":")
    if name not in STRATEGIES:
        raise UnknownName("strategy", name, STRATEGIES)
    entry, chosen = STRATEGIES[name], preset_named(preset) if isinstance(preset, str) else preset
    given = _parse(text, rest, entry)
    if not entry.uses_preset:
        return entry.make(**given)
    guard = given.pop("guard", chosen.guard)
    return entry.make(preset=replace(chosen, guard=guard), **given)


def _parse(text: str, rest: str, entry: Entry) -> dict[str, Any]:
    parsers = {**entry.parameters, "guard": _switch} if entry.uses_preset else entry.parameters
    given: dict[str, Any] = {}
    for pair in filter(None, rest.split(",")):
        key, _, value = pair.partition("=")
        if key not in parsers:
            raise UnknownName("strategy parameter", key, parsers)
        if key in given:
            raise InvalidInput(f"{key} stands twice in strategy {text!r}: leave one out.")
        try:
            given[key] = parsers[key](value)
        except ValueError as error:
            raise InvalidInput(f"{pair!r} in strategy {text!r}: {key} must be {error}.") from error
    return given


@dataclass(frozen=True)
class Recipe:
    """A strategy as text."""

    text: str
    preset: str | None


def recipe_of(strategy: Strategy) -> Recipe | None:
    """The text that describes a strategy."""
    return None
