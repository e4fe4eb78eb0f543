"""What all peers have in common: ask and tell, and the start that they share with our strategies."""

from __future__ import annotations

from typing import Any, Protocol

from aegisbo import Optimizer, Space
from aegisbo.arrays import Array
from aegisbo.optimizer import Trial
from aegisbo.space.parameters import Params

Bounds = tuple[Any, ...]  # (low, high) of each coordinate, or its parameter: Int or Choice


class Method(Protocol):
    """Hands out points by number, beginning with `n_initial` points of our design, and takes in their values."""

    def ask(self) -> Trial: ...

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
        return Trial(number, self.space.arrange(params), params, note={"move": "peer"})

    def suggest(self, number: int, initial: Params | None) -> Params:
        """The next point, by name; the initial one if there is one."""
        raise NotImplementedError

    def tell(self, number: int, value: float) -> None:
        """Learn nothing."""

    def fail(self, number: int) -> None:
        """Learn nothing from an evaluation that failed."""

    def observe(self, x: Array, y: float) -> None:
        """Learn nothing."""
