"""Strategies by name: the one list that the optimizer, the command line and the experiments read.

A name may carry parameters, as in `aegis:gamma=0.2,epsilon=faster`. They are the fields of the strategy's class; what
values are allowed is said there.

Another package offers a strategy through an entry point of the group `aegisbo.strategies`. The name of the entry point
is the name of the strategy; what it refers to is a dataclass, or a function without arguments that makes a strategy. A
field called `preset` receives the preset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cached_property
from inspect import getdoc
from typing import Any, NamedTuple, TypeGuard

from aegisbo.errors import AegisError, InvalidInput, UnknownName
from aegisbo.plugins import Plugins
from aegisbo.strategies import parameter_text
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Strategy
from aegisbo.strategies.baselines import Random
from aegisbo.strategies.believer import KrigingBeliever
from aegisbo.strategies.checks import BadParameter
from aegisbo.strategies.expected_improvement import ExpectedImprovement
from aegisbo.strategies.penalization import LocalPenalization, Playbook
from aegisbo.strategies.presets import DEFAULT_PRESET, Preset, name_or_preset
from aegisbo.strategies.thompson import Thompson

__all__ = ["DEFAULT_PRESET", "STRATEGIES", "Entry", "Recipe", "entry_named", "names", "recipe_of", "resolve"]


@dataclass(frozen=True)
class Entry:
    """How a named strategy is made."""

    summary: str
    make: Callable[..., Strategy]
    fixed: Mapping[str, Any] = field(default_factory=dict)  # fields that the name decides

    @property
    def parameters(self) -> tuple[str, ...]:
        """What may follow the name."""
        return tuple(self._kinds)

    @property
    def uses_preset(self) -> bool:
        """Whether the strategy depends on the preset."""
        return any(each.name == "preset" for each in self._fields)

    @property
    def required(self) -> tuple[str, ...]:
        """What must follow the name."""
        return tuple(each.name for each in self._fields if each.name in self._kinds and _default(each) is MISSING)

    def read(self, key: str, text: str) -> Any:
        """The value of a parameter that is written as `text`."""
        return parameter_text.read(key, text, self._kinds[key])

    def check_read(self, values: Mapping[str, Any]) -> None:
        """Refuse what could not be read, if the strategy itself has not."""
        for key, value in values.items():
            parameter_text.check_read(key, value, self._kinds[key])

    def written(self, name: str, strategy: Strategy) -> str | None:
        """The text that stands for a strategy under this name; None if there is none."""
        if any(getattr(strategy, key) != value for key, value in self.fixed.items()):
            return None
        pairs = []
        for each in self._fields:
            value = getattr(strategy, each.name)
            if each.name in self.fixed or each.name == "preset" or _equal(value, _default(each)):
                continue
            text = parameter_text.write(value)
            if text is None or each.name not in self._kinds:
                return None
            pairs.append(f"{each.name}={text}")
        return f"{name}:{','.join(pairs)}" if pairs else name

    @cached_property
    def _fields(self) -> tuple[Field[Any], ...]:
        return tuple(each for each in fields(self.make) if each.init) if _is_dataclass(self.make) else ()

    @cached_property
    def _kinds(self) -> dict[str, parameter_text.Kinds]:
        """The fields that a text can set, with the types that they may have."""
        kinds = parameter_text.kinds_of(self.make) if _is_dataclass(self.make) else {}
        settable = (each.name for each in self._fields if each.name != "preset" and each.name not in self.fixed)
        return {name: kinds[name] for name in settable if kinds[name]}


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
    "random": Entry("a Latin hypercube of n points, or a Sobol sequence", Random),
}
_PLUGINS: Plugins[Callable[..., Strategy]] = Plugins("aegisbo.strategies", (Callable,), "class or function")  # type: ignore[arg-type]


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
        read = {key: entry.read(key, value) for key, value in pairs.items()}
        strategy = entry.make(**entry.fixed, **given, **read)
        entry.check_read(read)
    except BadParameter as error:
        if error.name not in pairs:
            raise
        pair = f"{error.name}={pairs[error.name]}" if pairs[error.name] else error.name
        raise InvalidInput(f"{pair!r} in strategy {text!r}: {error.name} must be {error.allowed}.") from error
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Strategy {text!r} cannot be made: {error}") from error
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
        return _equal(resolve(*recipe), strategy)
    except AegisError:  # a value that has no unambiguous text, such as one with a comma
        return False


def _equal(a: object, b: object) -> bool:
    try:
        return bool(a == b)
    except ValueError:  # arrays, in fields that no text can set
        return False


def _is_dataclass(make: object) -> TypeGuard[type]:
    return isinstance(make, type) and is_dataclass(make)


def _default(each: Field[Any]) -> Any:
    return each.default if each.default_factory is MISSING else each.default_factory()
