"""Whether what the user has guessed held: where the best point lies, and what was found at the guess and elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log

import numpy as np

from aegisbo.arrays import Mask
from aegisbo.printable import so_many
from aegisbo.review.convergence import convergence
from aegisbo.review.record import Record
from aegisbo.space import Params, Space
from aegisbo.space.parameters import Choice, Parameter
from aegisbo.space.text import spelled

AT_IT = log(0.5)  # a point is at the guess if that is worth at least so much there, for each parameter: log π


@dataclass(frozen=True)
class Guessed:
    """How a guess turned out."""

    held: tuple[str, ...]  # parameters whose best value is at the guess
    missed: tuple[str, ...]  # and the others, each with its best value and the guess
    best: Mapping[str, tuple[int, float]]  # how many values were measured "at the guess" or "elsewhere", and the best

    @property
    def text(self) -> str:
        """The same in words."""
        return " ".join(self._told())

    def _told(self) -> Iterator[str]:
        held, missed = ", ".join(self.held), "; ".join(self.missed)
        if not missed:
            yield "The best point lies where it was guessed."
        elif held:
            yield f"The best point lies where it was guessed for {held}, but not for {missed}."
        else:
            yield f"The best point does not lie where it was guessed: {missed}."
        for where, (count, value) in self.best.items():
            yield f"The best of {so_many(count, 'value')} {where} is {value:.6g}."


def guessed(record: Record) -> Guessed | None:
    """How the guess turned out; None if nothing has a value, or nothing was guessed that exists at the best point."""
    space, center = record.optimizer.space, record.center
    if space.cube.guess is None or center is None:
        return None
    there = {name: parameter for name, parameter in space.parameters.items() if name in center.params}
    holds = dict(zip(space.parameters, _at_guess(space, [center.params])[0].tolist(), strict=True))
    told = {name: parameter for name, parameter in there.items() if parameter.guess is not None}
    held = tuple(name for name in told if holds[name])
    missed = tuple(
        f"{name} ({_said(center.params[name])}, guessed {_guess(each)})"
        for name, each in told.items()
        if not holds[name]
    )
    return Guessed(held, missed, {} if record.objectives else _compared(record)) if told else None


def _compared(record: Record) -> dict[str, tuple[int, float]]:
    """The best value at the guess and elsewhere, of those that may be the best."""
    values = {step.number: step.value for step in convergence(record) if step.counts and step.value is not None}
    if not values:
        return {}
    at_it = _at_guess(record.optimizer.space, [record.trials[number].params for number in values]).all(axis=1)
    measured, found = np.array([*values.values()]), {}
    for where, rows in {"at the guess": at_it, "elsewhere": ~at_it}.items():
        if rows.any():
            some = measured[rows]
            found[where] = (len(some), float(some.max() if record.maximize else some.min()))
    return found


def _at_guess(space: Space, points: list[Params]) -> Mask:  # (m, parameters)
    assert space.cube.guess is not None
    return np.asarray(space.cube.guess.of_each(np.array([space.encoded(each) for each in points])) >= AT_IT)


def _said(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(spelled(value))


def _guess(parameter: Parameter) -> str:
    """The guess in words."""
    if isinstance(parameter, Choice):
        weights = parameter.guess or {}
        return " or ".join(_said(value) for value, weight in weights.items() if weight >= max(weights.values()) / 2)
    return " to ".join(map(_said, parameter.guess)) if isinstance(parameter.guess, tuple) else _said(parameter.guess)
