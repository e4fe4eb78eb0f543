"""The one place that decides who chooses the next point, and from which random numbers.

`Optimizer` and the Optuna sampler both ask here. The first points are spread over the space; once there are results to
learn from, the strategy chooses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from reprlib import repr as brief
from typing import cast

import numpy as np
from numpy.random import Generator, default_rng

from aegisbo.arrays import Array, as_vector
from aegisbo.errors import OF_NONSENSE, AegisError, InvalidInput, NoModel, SpaceExhausted, StudyError
from aegisbo.events import StoredMemory
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.search.designs import maximin_latin_hypercube, sobol
from aegisbo.space.allowed import pulled_back
from aegisbo.space.cube import ABSENT, Cube
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion
from aegisbo.strategies.belief import Belief, Believer
from aegisbo.strategies.beliefs import Beliefs
from aegisbo.strategies.hurry import in_time
from aegisbo.strategies.model_based import ModelBased
from aegisbo.strategies.moves.anywhere import anywhere

ROUNDING = 1e-9  # by how much a coordinate may leave the cube
LONGEST = 2**15  # points of a sequence that are searched for allowed ones
DRAWS = 256  # random allowed points, to repair a suggestion that breaks a constraint or is taken


class Role(IntEnum):
    """What a random number is for. Stored runs are continued and replayed by these numbers: never change one."""

    DESIGN = 0
    SEQUENCE = 1
    STRATEGY = 2
    ASIDE = 3  # a model asked outside a choice; in the Optuna sampler, a parameter by itself, with its name added
    HURRY = 4
    REPAIR = 5


def default_initial(parameters: int) -> int:
    """How many points are spread out before the strategy takes over: two for each parameter, as in the paper."""
    return 2 * parameters


@dataclass(frozen=True)
class Policy:
    """How a run chooses its points."""

    strategy: Strategy
    seed: int
    n_initial: int  # the trials with smaller numbers are spread out
    latin: range = range(0)  # the trials that form one Latin hypercube; later ones continue a Sobol sequence

    def suggest(self, number: int, evidence: Evidence, memory: Memory) -> Suggestion:
        """The point for the trial with this number.

        Raises:
            SpaceExhausted: every point of a finite space is evaluated or under evaluation, and none can be repeated.
            NoTime: probably no evaluation would finish in the time that is left.
            InvalidInput: the strategy, which may be a user's own, returned no point of the cube.
            StudyError: the strategy cannot continue from a stored memory.
        """
        if not self._may_repeat(evidence):
            require_free_point(evidence)
        cube = evidence.cube
        if number < self.n_initial or len(evidence.y) < cube.parameters + 1:
            x = self._initial_point(number, cube, evidence.taken)
            return self._in_time(Suggestion(x, memory, {"move": "initial"}), None, number, evidence)
        with one_blas_thread(), _understood(memory):
            suggestion = self.strategy.suggest(evidence, memory, self.rng(Role.STRATEGY, number))
        _require_point(suggestion, self.strategy, cube)
        suggestion = _allowed(suggestion, evidence, self.rng(Role.REPAIR, number))
        return self._in_time(suggestion, self.strategy, number, evidence)

    def _may_repeat(self, evidence: Evidence) -> bool:
        """Whether the strategy may repeat points, so that a finite space is never exhausted."""
        enough = len(evidence.y) > evidence.cube.parameters
        return evidence.noisy and enough and bool(getattr(self.strategy, "repeats", False))

    def _in_time(
        self, suggestion: Suggestion, strategy: Strategy | None, number: int, evidence: Evidence
    ) -> Suggestion:
        """The suggestion, or another one if there is no time for it."""
        if evidence.timing is None:
            return suggestion
        with one_blas_thread():
            return in_time(suggestion, strategy, evidence, self.rng(Role.HURRY, number))

    def _initial_point(self, number: int, cube: Cube, taken: Array) -> Array:  # (m, width) -> (width,)
        """The initial point of this number; another one if it is taken, as on a branch with few points."""
        x = cube.unused(self.spread(number, cube), taken)
        if cube.branches is None or not _is_among(x, taken):
            return x
        draws = anywhere(cube, self.rng(Role.REPAIR, number), DRAWS)
        return next((z for z in draws if not _is_among(z, taken)), x)

    def spread(self, number: int, cube: Cube) -> Array:  # (width,)
        """The point of the space-filling sequence for the trial with this number, whatever is known."""
        d = cube.parameters
        if cube.rules is not None:
            return self._spread_within(number, cube)
        if number in self.latin:
            U = _latin_hypercube(self.seed, len(self.latin), d)[[number - self.latin.start]]
        else:
            U = sobol(1, d, self.rng(Role.SEQUENCE), skip=number - self.latin.stop)
        return np.asarray(cube.fill(self._guessed(number, U, cube))[0])

    def _guessed(self, number: int, U: Array, cube: Cube) -> Array:  # (m, parameters) -> (m, parameters)
        """Points of a sequence, denser where the best one is expected; the first one is in the middle of the guess."""
        if cube.guess is None:
            return U
        return cube.guess.centered(U) if number == self.latin.start else cube.guess.drawn(U)

    def _spread_within(self, number: int, cube: Cube) -> Array:  # (width,)
        """The allowed point of that number in the Sobol sequence; a random one if constraints leave too few of it."""
        looked_at = 64
        while looked_at <= LONGEST:
            U = sobol(looked_at, cube.parameters, self.rng(Role.SEQUENCE))
            Z = cube.fill(self._guessed(number, U, cube))
            inside = np.flatnonzero(cube.allowed(Z))
            if cube.guess is not None and not len(inside):  # the middle of the guess is not allowed
                Z = cube.fill(cube.guess.drawn(U))
                inside = np.flatnonzero(cube.allowed(Z))
            if len(inside) > number:
                return np.asarray(Z[inside[number]])
            looked_at *= 8
        return np.asarray(anywhere(cube, self.rng(Role.DESIGN, number))[0])

    def smoothed(self, evidence: Evidence, memory: Memory, number: int) -> Array | None:  # as evidence.y
        """The values at the finished points without their noise; None if there is no model to smooth them."""
        try:
            belief = self.believed(evidence, memory, number)
        except NoModel:
            return None
        with one_blas_thread():
            return belief.smoothed(evidence.X)

    def believed(self, evidence: Evidence, memory: Memory, number: int) -> Belief | Beliefs:
        """What the strategy's model believes; the same model smooths noisy values.

        Raises:
            NoModel: the strategy has none, or there are too few values.
        """
        if not isinstance(self.strategy, Believer):
            raise NoModel(f"The strategy {self.strategy!r} has no model: use another, such as aegis.")
        require_enough_values(evidence)
        with one_blas_thread(), _understood(memory):
            return cast(
                "Belief | Beliefs", self.strategy.believe(evidence.askable, memory, self.rng(Role.ASIDE, number))
            )

    def belief_of_choice(self, evidence: Evidence, memory: Memory, number: int) -> Belief | Beliefs:
        """The belief from which the strategy, which must have a model, chooses the trial with this number."""
        strategy, rng = cast("ModelBased", self.strategy), self.rng(Role.STRATEGY, number)
        with one_blas_thread(), _understood(memory):
            return strategy.belief_of_choice(evidence.askable, memory, rng)

    def rng(self, role: Role, *address: int) -> Generator:
        """Random numbers by address, so that no draw depends on who asked or finished before."""
        return default_rng([self.seed, role, *(address or (0,))])


@contextmanager
def _understood(memory: Memory) -> Iterator[None]:
    """Say so if a strategy cannot read its stored memory, since the file may come from anywhere."""
    try:
        yield
    except AegisError:
        raise
    except OF_NONSENSE as error:
        if not isinstance(memory, StoredMemory):
            raise
        raise StudyError(
            f"The strategy cannot continue from its stored memory ({type(error).__name__}: {error}): "
            "restore the study from a copy."
        ) from error


def _is_among(z: Array, points: Array) -> bool:  # (width,), (m, width)
    return bool((points == z).all(axis=1).any())


def _allowed(suggestion: Suggestion, evidence: Evidence, rng: Generator) -> Suggestion:
    """The suggestion; if it breaks a constraint, the last allowed point on the way to it from a nearby allowed one."""
    cube, z = evidence.cube, np.atleast_2d(suggestion.x)
    if cube.allowed(z)[0]:
        return suggestion
    draws = anywhere(cube, rng, DRAWS)
    nearest = draws[[int(((draws - z) ** 2).sum(axis=1).argmin())]]
    x = cube.unused(cube.round(pulled_back(cube, nearest, z))[0], evidence.taken)
    return replace(suggestion, x=x, note={**suggestion.note, "constraints": "moved"})


def require_free_point(evidence: Evidence) -> None:
    """Raise `SpaceExhausted` if every point of a finite space is evaluated or under evaluation."""
    cube = evidence.cube
    if cube.size < math.inf and cube.exhausted(evidence.taken):
        which = "points" if cube.rules is None else "points that keep the constraints"
        raise SpaceExhausted(f"All {cube.size} {which} are evaluated or pending: widen the space or stop.")


def require_enough_values(evidence: Evidence) -> None:
    """Raise `NoModel` if there are too few values for a model."""
    values, least = len(evidence.y), evidence.cube.parameters + 1
    if values < least:
        raise NoModel(f"There is no model yet: it takes {least} values, and there are {values}.")


def _require_point(suggestion: object, strategy: Strategy, cube: Cube) -> None:
    if not isinstance(suggestion, Suggestion):
        raise InvalidInput(f"The strategy {strategy!r} must return a Suggestion, got {brief(suggestion)}.")
    try:
        x = as_vector(suggestion.x, "A point of the cube", cube.width)
    except InvalidInput as error:
        raise InvalidInput(f"The strategy {strategy!r} suggested no point: {error}") from None
    inside = (x >= -ROUNDING) & (x <= 1.0 + ROUNDING)
    if not (inside | (cube.branches is not None and x == ABSENT)).all():
        raise InvalidInput(f"The strategy {strategy!r} left the unit cube with {x.tolist()}: clip points to [0, 1].")


@lru_cache(maxsize=8)
def _latin_hypercube(seed: int, n: int, d: int) -> Array:  # (n, d)
    return maximin_latin_hypercube(n, d, default_rng([seed, Role.DESIGN, 0]))
