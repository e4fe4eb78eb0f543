"""Problems by name, and the groups of names that can be run together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from aegisbo.simulation import problems
from aegisbo.simulation.problems import Problem
from aegisbo.simulation.synthetic import SYNTHETIC
from benchmarks.problems import basins
from benchmarks.problems.bbob import FUNCTIONS, LARGE, bbob, family_of, name_of, numbers_of
from benchmarks.problems.functions import OWN
from benchmarks.problems.mixint import PREFIX as MIXINT
from benchmarks.problems.mixint import MixInt, mixint
from benchmarks.problems.tables import PREFIX, TABLES, Table, table

QUICK = {"problems": ["bbob", "tables", "bowls", "funnels", "basins"], "instances": 2, "seeds": [0]}
# Methods are developed on the first instances and half of the tables, and confirmed on what nobody has looked at.
INSTANCES = {"develop": range(1, 6), "confirm": range(6, 11)}


@cache
def problem_named(name: str) -> Problem | Table | MixInt:
    if name in OWN:
        return OWN[name]
    if name.startswith("bbob-"):
        return bbob(name)
    if name.startswith(PREFIX):
        return table(name)
    if name.startswith(MIXINT):
        return mixint(name)
    if name.startswith(("bowl-", "funnels-")):
        return basins.instance(name)
    return problems.get(name)


def groups(chosen: str, count: int, dimensions: Iterable[int]) -> dict[str, list[str]]:
    """Names by group.

    Args:
        chosen: `develop` or `confirm`; matters for BBOB, tables, bowls and funnels.
        count: how many instances of that set, at most five.
        dimensions: of BBOB and bbob-largescale.
    """
    numbers = INSTANCES[chosen][:count]
    return {
        "synthetic": [problem.name for problem in SYNTHETIC],
        # Families come from other packages, such as aegis-paper. One instance stands for all; any other may be named.
        "instances": [f"{family.name}#3" for family in problems.families()],
        "own": list(OWN),
        # The instance varies last: whenever a campaign is stopped, most functions have been met equally often.
        "bbob": [name_of(function, i, d) for i in numbers for d in dimensions for function in FUNCTIONS],
        "largescale": [name_of(f, i, d, large=True) for i in numbers for d in dimensions for f in FUNCTIONS],
        "tables": [PREFIX + name for name in TABLES[chosen]],
        "mixint": [f"{MIXINT}f{function}-i{i}-d{d}" for i in numbers for d in dimensions for function in FUNCTIONS],
        "bowls": [f"bowl-i{i}-d4" for i in numbers],
        "funnels": [f"funnels-i{i}-d4" for i in numbers],
        "basins": ["Eggholder", "Shekel4", "Hartmann6"],
    }


def without_instance(name: str) -> str:
    """What the instances of a problem have in common: `bbob-f10-d5`."""
    return re.sub(r"-i\d+-d", "-d", name)


def group_of(name: str) -> str:
    """The group that a problem is reported in: of BBOB, the family of functions."""
    if name.startswith("bbob-"):
        return f"{'large, ' if name.startswith(LARGE) else ''}{family_of(name)} d={numbers_of(name)[2]}"
    if name.startswith(MIXINT):
        return f"mixint d={problem_named(name).d}"
    for prefix, group in ((PREFIX, "tables"), ("bowl-", "bowls"), ("funnels-", "funnels")):
        if name.startswith(prefix):
            return group
    if "#" in name:
        return "instances"
    return "own" if name in OWN else "synthetic"
