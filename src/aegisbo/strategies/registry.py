"""Strategies by name: the one list that the optimizer, the command line and the experiments read.

A name may carry parameters, as in `aegis:gamma=0.2,epsilon=faster`. They are the fields of the strategy's class; what
values are allowed is said there.

Another package offers a strategy through an entry point of the group `aegisbo.strategies`. The name of the entry point
is the name of the strategy; what it refers to is a dataclass, or a function without arguments that makes a strategy. A
field called `preset` receives the preset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from inspect import getdoc
from types import FunctionType
from typing import NamedTuple

from aegisbo.errors import AegisError, InvalidInput, UnknownName
from aegisbo.plugins import Plugins
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Strategy
from aegisbo.strategies.baselines import Random
from aegisbo.strategies.believer import KrigingBeliever
from aegisbo.strategies.checks import BadParameter
from aegisbo.strategies.entry import Entry, equal
from aegisbo.strategies.expected_improvement import ExpectedImprovement
from aegisbo.strategies.local_quadratic import LocalQuadratic
from aegisbo.strategies.penalization import LocalPenalization, Playbook
from aegisbo.strategies.presets import DEFAULT_PRESET, Preset, name_or_preset
from aegisbo.strategies.thompson import Thompson

__all__ = ["DEFAULT_PRESET", "STRATEGIES", "Entry", "Recipe", "entry_named", "names", "recipe_of", "resolve"]


STRATEGIES: dict[str, Entry] = {
    "aegis": Entry("exploit, Thompson-sample or pick from the Pareto set", Aegis),
    "aegis-rs": Entry("AEGiS with random points instead of the Pareto set", Aegis, {"explore": "uniform"}),
    "aegis-no-exploit": Entry("AEGiS that never exploits", Aegis, {"exploits": False, "epsilon": None}),
    "aegis-no-ts": Entry("AEGiS without Thompson sampling", Aegis, {"gamma": 0.0}),
    "aegis-no-pf": Entry("AEGiS without the Pareto set", Aegis, {"gamma": 1.0}),
    "thompson": Entry("always minimize a posterior sample", Thompson),
    "ei": Entry("expected improvement, blind to pending points", ExpectedImprovement),
    "kriging-believer": Entry("expected improvement, pending points as predicted", KrigingBeliever),
    "local-penalization": Entry("expected improvement, soft edges around pending points", LocalPenalization),
    "playbook": Entry("expected improvement, cones around pending points", Playbook),
    "local-quadratic": Entry("expected improvement near the best point, for one narrow valley", LocalQuadratic),
    "random": Entry("a Latin hypercube of n points, or a Sobol sequence", Random),
}
_PLUGINS: Plugins[Callable[..., Strategy]] = Plugins(
    "aegisbo.strategies", (type, FunctionType, partial), "class or function"
)


class Recipe(NamedTuple):
    """What a study stores of a strategy: `resolve(*recipe)` makes it again."""

    text: str  # name:parameter=value,...
    preset: str | None  # None: the strategy uses none


def names() -> tuple[str, ...]:
    """The names of all strategies: our own, then those of other packages; nothing is loaded for this."""
    return (*STRATEGIES, *(name for name in _PLUGINS.names() if name not in STRATEGIES))


def entry_named(name: str) -> Entry:
    """The strategy of this name; our own go before those of other packages.

    Raises:
        UnknownName: there is none.
        AegisError: another package offers it, but cannot be loaded.
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    make = _PLUGINS.get(name)
    if make is None:
        raise UnknownName("strategy", name, names())
    return _entry_of(make)


def resolve(text: str, preset: str | Preset | None = None) -> Strategy:
    """The strategy that a text describes.

    Args:
        text: a name, or name:parameter=value,parameter=value.
        preset: which surrogate and which inner search, by name or as an object; None for the default one.

    Raises:
        InvalidInput: the name, a parameter, its value or the preset cannot be used.
    """
    name, _, rest = text.partition(":")
    entry = entry_named(name)
    chosen = name_or_preset("preset", DEFAULT_PRESET if preset is None else preset)
    pairs = dict(_pairs(text, rest, entry))
    for key in entry.required:
        if key not in pairs:
            raise InvalidInput(f"Strategy {text!r} lacks {key}: write {name}:{key}=...")
    given = {"preset": chosen} if entry.uses_preset else {}
    try:
        strategy = entry.made(pairs, **given)
    except BadParameter as error:
        if error.name not in pairs:
            raise
        pair = f"{error.name}={pairs[error.name]}" if pairs[error.name] else error.name
        raise InvalidInput(f"{pair!r} in strategy {text!r}: {error.name} must be {error.allowed}.") from error
    except Exception as error:
        if name in STRATEGIES and not isinstance(error, TypeError | ValueError):
            raise
        raise InvalidInput(f"Strategy {text!r} cannot be made: {type(error).__name__}: {error}") from error
    if not callable(getattr(strategy, "suggest", None)):
        raise AegisError(f"{name!r} makes {strategy!r}, which has no method suggest: tell the authors of its package.")
    return strategy


def recipe_of(strategy: Strategy) -> Recipe | None:
    """The text and the preset that make a strategy again.

    Returns:
        None if it cannot be written as text: its class is not in the list, or it has a preset or another value that
        has no name.
    """
    preset = getattr(strategy, "preset", None)
    if preset is not None and not isinstance(preset, str):
        return None
    texts = [entry.written(name, strategy) for name, entry in _entries_of(type(strategy))]
    recipes = [Recipe(text, preset) for text in texts if text is not None]
    again = [recipe for recipe in recipes if _makes(recipe, strategy)]
    return min(again, key=lambda recipe: recipe.text.count("="), default=None)


def _pairs(text: str, rest: str, entry: Entry) -> Iterator[tuple[str, str]]:
    """The parameters in a text, as text."""
    if rest and not entry.parameters:
        raise InvalidInput(f"Strategy {text.partition(':')[0]!r} takes no parameters: leave out {rest!r}.")
    seen = set()
    for pair in filter(None, rest.split(",")):
        key, _, value = pair.partition("=")
        if key not in entry.parameters:
            raise UnknownName("strategy parameter", key, entry.parameters)
        if key in seen:
            raise InvalidInput(f"{key} stands twice in strategy {text!r}: leave one out.")
        seen.add(key)
        yield key, value


def _entry_of(make: Callable[..., Strategy]) -> Entry:
    return Entry((getdoc(make) or "").partition("\n")[0].rstrip("."), make)


def _entries_of(kind: type) -> Iterator[tuple[str, Entry]]:
    """All names under which strategies of a class are made."""
    yield from ((name, entry) for name, entry in STRATEGIES.items() if entry.make is kind)
    yield from ((name, _entry_of(kind)) for name in _PLUGINS.names_of(kind) if name not in STRATEGIES)


def _makes(recipe: Recipe, strategy: Strategy) -> bool:
    try:
        return equal(resolve(*recipe), strategy)
    except AegisError:  # a value that has no unambiguous text, such as one with a comma
        return False
