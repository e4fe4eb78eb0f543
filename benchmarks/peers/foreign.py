"""What all peers have in common: ask and tell, and the start that they share with our strategies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from aegisbo import Space
from aegisbo.arrays import Array
from aegisbo.optimizer import Optimizer, Trial
from aegisbo.outcome import Outcome
from aegisbo.runners.protocol import Asked
from aegisbo.space.parameters import Params

Bounds = tuple[Any, ...]  # (low, high) of each coordinate, or its parameter: Int or Choice


class Method(Protocol):
    """Hands out points by number, beginning with `n_initial` points of our design, and takes in their values."""

    def ask(self) -> Asked: ...

    def tell(self, number: int, value: float, /) -> object: ...

    def observe(self, x: Array, y: float, /) -> object:
        """Take in a value that was known before the run."""


class Foreign:
    """What the peers have in common: the start that all share, and numbers for their points."""

    def __init__(self, bounds: Bounds, seed: int, n_initial: int | None) -> None:
        self.space = Space(bounds)
        self.initial = Optimizer(bounds, seed=seed, n_initial=n_initial)
        self.n_initial = n_initial or 0
        self.asked = 0

    def ask(self) -> Trial:
        number, self.asked = self.asked, self.asked + 1
        params = self.initial.ask().params if number < self.n_initial else None
        params = self.suggest(number, params)
        return Trial(number, self.space.arrange(params), params)

    def suggest(self, number: int, initial: Params | None) -> Params:
        """The next point, by name; the initial one if there is one."""
        raise NotImplementedError

    def tell(self, number: int, value: float) -> None:
        """Learn nothing."""

    def fail(self, number: int) -> None:
        """Learn nothing from an evaluation that failed."""

    def observe(self, x: Array, y: float) -> None:
        """Learn nothing."""


class Driven:
    """Another optimizer as the loop drives it, with what became of its trials."""

    pending: tuple[Trial, ...] = ()
    memory: Mapping[str, Any] = {}

    def __init__(self, peer: Any) -> None:
        self.peer = peer
        self.trials: list[Trial] = []

    def ask(self) -> Trial:
        self.trials.append(replace(self.peer.ask(), note={"move": "peer"}))
        return self.trials[-1]

    def end(self, number: int, ended: Outcome) -> None:
        self.trials[number] = self.trials[number].after(ended)
        self.told(number, ended)

    def told(self, number: int, ended: Outcome) -> None:
        """Tell the optimizer."""
        raise NotImplementedError
