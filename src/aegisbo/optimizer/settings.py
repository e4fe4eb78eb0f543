"""Settings: what defines a run, checked and written down in one place, from the caller to the study file."""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.limits import Limit, limits_of, names_of
from aegisbo.optimizer.objectives import KnownObjectives, Objective, Objectives, OnCube, objectives_of
from aegisbo.optimizer.policy import Policy, default_initial
from aegisbo.options import SETTINGS
from aegisbo.outcome import Outcome, Wanted, with_known
from aegisbo.printable import brief
from aegisbo.space import Params, Space
from aegisbo.space.space import SpaceLike
from aegisbo.space.widening import differences as space_differences
from aegisbo.stopping.rule import rule_named
from aegisbo.strategies.base import Strategy, does_several
from aegisbo.strategies.entry import equal
from aegisbo.strategies.registry import DEFAULT_PRESET, recipe_of, resolve

FORMAT = 1  # of stored settings and states
DEFAULT_RULE = "gain"  # by which evaluations are stopped early
ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # where an object lies in memory: another one in every process


@dataclass(frozen=True)
class Settings:
    """What defines a run: equal settings and equal results lead to equal choices.

    None leaves a choice open; `decided` makes it.
    """

    space: Space
    strategy: Strategy
    text: str | None = None  # from which the strategy can be made again; None for an object that has no text
    preset: str | None = None  # that goes with the text
    seed: int | None = None
    n_initial: int | None = None
    initial: tuple[Params, ...] | None = None
    maximize: bool = False
    noisy: bool = False
    cost: str | None = None  # "time" if evaluations that take less time are preferred
    limits: tuple[Limit, ...] = ()  # on what is measured
    objectives: tuple[Objective, ...] = ()  # if there are several; else the function returns one number
    stop_early: str | None = None  # the rule by which running evaluations are stopped
    steps: float | None = None  # the step at which an evaluation ends, if it is known
    resumable: bool = False  # whether an evaluation that was stopped may go on later

    def __post_init__(self) -> None:
        if self.n_initial is not None and self.n_initial > sys.maxsize:
            raise InvalidInput(f"n_initial is {brief(repr(self.n_initial))}, which is too large: give a smaller one.")

    @classmethod
    def checked(
        cls, space: Space | SpaceLike, strategy: str | Strategy = "aegis", preset: str | None = None, **given: Any
    ) -> Settings:
        """Settings from what a user gave for the fields above, each in any form that is allowed at the door.

        Raises:
            InvalidInput: a value cannot be used; the message names it and what to give instead.
        """
        space = space if isinstance(space, Space) else Space(space)
        constraints = given.pop("constraints", None)
        space = space if constraints is None else space.constrained(constraints)
        given = {name: SETTINGS[name].check(name, value) for name, value in given.items()}
        if given.get("initial") is not None:
            given["initial"] = tuple(_checked_initial(space, x) for x in listed(given["initial"], "initial"))
        given["limits"] = limits_of(given.get("limits") or (), space.parameters)
        given["objectives"] = objectives_of(given.get("objectives") or (), space)
        given["stop_early"] = _rule(given.get("stop_early"))
        settings = cls(space, *chosen(strategy, preset), **given)
        check_cost(settings.cost, settings.strategy)
        check_objectives(settings)
        points = len(settings.initial or ())
        if settings.n_initial is not None and settings.n_initial < points:
            raise InvalidInput(
                f"n_initial={settings.n_initial} is less than the {points} initial points: leave it out."
            )
        return settings

    @property
    def unwritten(self) -> Strategy | None:
        """The strategy if it cannot be written as text: whoever goes on with a run must give the object again."""
        return self.strategy if self.text is None else None

    @property
    def direction(self) -> Direction:
        """Which values are good."""
        return Direction(self.maximize, self.objectives)

    @property
    def directions(self) -> dict[str | None, Direction]:
        """The direction of each objective by name; of one number the only one, under None."""
        alone: dict[str | None, Direction] = {each.name: Direction(each.maximize) for each in self.objectives}
        return alone or {None: self.direction}

    @property
    def wanted(self) -> Wanted:
        """What an evaluation must measure."""
        known = () if self.known is None else tuple(self.known.functions)
        return Wanted(tuple(each.name for each in self.objectives), names_of(self.limits), known)

    @property
    def known(self) -> KnownObjectives | None:
        """The objectives that follow from the parameters; None if there are none."""
        functions = {each.name: each.known for each in self.objectives if each.known is not None}
        return KnownObjectives(functions, tuple(self.space.parameters)) if functions else None

    @property
    def on_cube(self) -> tuple[OnCube | None, ...]:
        """The known objectives as strategies see them, None for each of the others; empty if all are measured."""
        if self.known is None:
            return ()
        return tuple(
            None if each.known is None else OnCube(each.known, self.space, each.maximize) for each in self.objectives
        )

    def with_functions(self, objectives: Iterable[Objective]) -> Settings:
        """These settings with the functions of objectives of which they know only the names."""
        here = {objective.text: objective for objective in objectives}
        return replace(self, objectives=tuple(here.get(each.text, each) for each in self.objectives))

    def completed(self, params: Params, outcome: Outcome) -> Outcome:
        """The outcome of an evaluation at a point, with the objectives that follow from it."""
        if self.known is None or outcome.state != "done":
            return outcome
        return with_known(outcome, self.known(params), self.wanted)

    def decided(self) -> Settings:
        """These settings with every open choice made."""
        initial = self.initial or ()
        default = len(initial) or default_initial(self.space.cube.parameters)
        return replace(
            self,
            preset=DEFAULT_PRESET if self.preset is None and self.text is not None else self.preset,
            seed=secrets.randbits(32) if self.seed is None else self.seed,
            n_initial=default if self.n_initial is None else self.n_initial,
            initial=initial,
        )

    def policy(self) -> Policy:
        """How a run with these settings chooses its points, after those that were given."""
        if self.seed is None or self.n_initial is None or self.initial is None:
            return self.decided().policy()
        return Policy(self.strategy, self.seed, self.n_initial, latin=range(len(self.initial), self.n_initial))

    def describe(self) -> dict[str, Any]:
        """The settings in JSON's types; a strategy that cannot be written as text is named only."""
        described = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "text"}
        described |= {"space": self.space.describe(), "strategy": self.text}
        for name in ("limits", "objectives"):  # older versions know none of these
            texts = [each.text for each in described.pop(name)]
            described |= {name: texts} if texts else {}
        for name in ("stop_early", "steps"):
            if described[name] is None:
                del described[name]
        if not self.resumable:
            del described["resumable"]
        if self.text is None:
            described["strategy_object"] = ADDRESS.sub("", repr(self.strategy))
        return {"format": FORMAT, **as_stored(described)}

    @classmethod
    def from_description(
        cls,
        description: Mapping[str, Any],
        strategy: Strategy | None = None,
        space: Space | None = None,
        objectives: Objectives | Iterable[Objective] = (),
    ) -> Settings:
        """The settings that `describe` described.

        A strategy object and the functions among the constraints (of `space`) cannot be written, and are given again.

        Raises:
            InvalidInput: another version wrote it, or a strategy object is missing or not wanted.
        """
        if description.get("format") != FORMAT:
            raise InvalidInput(
                f"The state has format {description.get('format')!r}, not {FORMAT}: use the aegisbo that wrote it."
            )
        text = description["strategy"]
        if (text is None) == (strategy is None):
            remedy = "pass the object that the run had" if strategy is None else "leave the argument out"
            raise InvalidInput(f"The state was stored with strategy={text!r}, got {strategy!r}: {remedy}.")
        described = Space.from_description(description["space"])
        given = {field.name: description[field.name] for field in fields(cls) if field.name in description}
        given |= {
            "space": described if space is None else described.given(space.constraints),
            "strategy": text if strategy is None else strategy,
        }
        here = {objective.text: objective for objective in objectives_of(objectives, described)}
        given["objectives"] = [here.get(each, each) for each in given.get("objectives") or ()]
        return cls.checked(**given)

    def differences_from(self, recorded: Settings) -> list[str]:
        """In which words these settings contradict those of a run; what is left open contradicts nothing.

        A space that is only wider is no contradiction.
        """
        absent = {"objectives": [], "stop_early": False, "resumable": False}
        wanted, there = ({**absent, **each.describe()} for each in (self, recorded))
        names = [name for name, value in wanted.items() if value is not None and name != "space"]
        open_preset = self.text is not None and self.preset is None
        mine = resolve(str(self.text), recorded.preset) if open_preset else self.strategy
        if equal(mine, recorded.strategy):
            names = [name for name in names if name not in ("strategy", "preset", "strategy_object")]
        others = [
            f"{name} is {there.get(name)!r} in the study and {wanted[name]!r} in this call"
            for name in names
            if wanted[name] != there.get(name)
        ]
        spaces = space_differences(recorded.space, self.space)
        if spaces:
            spaces[-1] += " (bounds may only become wider, and further choices come last)"
        return spaces + others


def chosen(strategy: str | Strategy, preset: str | None) -> tuple[Strategy, str | None, str | None]:
    """The strategy that a user means, with the text and the preset from which it can be made again.

    Raises:
        InvalidInput: there is no such strategy or preset, or the object is none.
    """
    if isinstance(strategy, str):
        made = resolve(strategy, preset)
        return (made, strategy, preset) if preset is None or isinstance(preset, str) else (made, *_recipe(made))
    if isinstance(strategy, type) or not callable(getattr(strategy, "suggest", None)):
        raise InvalidInput(f"strategy must be a name or an object with a method suggest, got {strategy!r}.")
    if preset is not None:
        raise InvalidInput(
            f"preset={preset!r} goes with the name of a strategy, not with {strategy!r}: give it to the object, if it "
            "takes one."
        )
    return strategy, *_recipe(strategy)


def _recipe(strategy: Strategy) -> tuple[str | None, str | None]:
    """The text and the preset that make a strategy again, if there are such."""
    recipe = recipe_of(strategy)
    return (None, None) if recipe is None else (recipe.text, recipe.preset)


def check_cost(cost: object, strategy: Strategy) -> None:
    """Refuse a cost that is not known, or one that the strategy does not look at."""
    if cost is not None and cost != "time":
        raise InvalidInput(f"cost is {cost!r}: give 'time', or None if all evaluations cost the same.")
    if cost is not None and not getattr(strategy, "weighs_time", False):
        raise InvalidInput(f"cost={cost!r} goes with the strategy aegis: {strategy!r} does not look at times.")


def check_objectives(settings: Settings) -> None:
    """Refuse several objectives together with what is about one number."""
    if not settings.objectives:
        return
    if settings.maximize:
        raise InvalidInput("maximize=True is about one number: with objectives, say 'min' or 'max' of each.")
    if settings.stop_early is not None:
        raise InvalidInput("stop_early is about one number that evaluations report: with objectives, leave it out.")
    check_looks_at_several(settings.strategy)


def check_looks_at_several(strategy: Strategy) -> None:
    """Refuse a strategy that can choose for one number only."""
    if not does_several(strategy):
        raise InvalidInput(
            f"objectives go with the strategies aegis, thompson and random: {strategy!r} looks at one number only."
        )


def check_target(target: object, settings: Settings) -> None:
    """Refuse a value to stop at if there is none."""
    if target is not None and settings.objectives:
        raise InvalidInput(
            f"target is {target!r}, but there are several objectives: leave it out. A callback that raises "
            "StopIteration can end the run."
        )


def _rule(stop_early: bool | str | None) -> str | None:
    """The rule by which running evaluations are stopped, if they are."""
    if isinstance(stop_early, str):
        return rule_named(stop_early)
    return DEFAULT_RULE if stop_early else None


def _checked_initial(space: Space, x: Any) -> Params:
    """A point to start with, if the space allows it."""
    params = space.check(x)
    for constraint in space.broken(params):
        raise InvalidInput(f"initial holds {params}, which breaks the constraint {constraint}: leave it out.")
    return params


def listed(values: Any, name: str) -> list[Any]:
    """The values as a list."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name} must be a list of points, got {values!r}.")
    return list(values)


def as_stored(value: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that has been through JSON, so that a run goes on alike from memory and from a file."""
    return dict(json.loads(json.dumps(value)))
