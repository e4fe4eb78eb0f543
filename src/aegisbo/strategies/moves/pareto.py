"""A member of the Pareto set of low mean and high uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Mask
from aegisbo.search import nsga2
from aegisbo.search.blocks import by_blocks
from aegisbo.search.inner_search import Acquisition
from aegisbo.space.allowed import draw
from aegisbo.space.cube import Cube
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.beliefs import Beliefs
from aegisbo.strategies.chance import Chance
from aegisbo.strategies.moves.move import Decision, Turn
from aegisbo.strategies.per_second import Quickness
from aegisbo.strategies.product import Risk, by_lot


@dataclass(frozen=True)
class Pareto:
    """Pick a random member of the approximate Pareto set (lines 11 and 12), those with hope first.

    Given a price, one that takes half as long is twice as likely; given a guess, one that it makes twice as likely.
    """

    population: int = nsga2.POPULATION_PER_COORDINATE  # for each parameter
    # A member has hope if its mean less this many standard deviations lies below the best value measured; those are
    # preferred. None: every member will do, as in the paper, also one that is merely unknown.
    hope: float | None = None

    def choose(self, turn: Turn) -> Decision:
        """All members, in random order."""
        belief, evidence, rng = turn.belief.exploring, turn.evidence, turn.rng
        cube = evidence.cube
        archive = self.members(belief, cube, rng)
        members = rng.permutation(archive.front)
        if factors := preferences(belief, evidence):
            members = members[by_lot(factors, cube.round(archive.X[members]), rng)]
        hopeful = self.hopeful(archive.F[members], belief.lowest)
        ordered = np.concatenate([members[hopeful], members[~hopeful]])
        return Decision("pareto", cube.round(archive.X[ordered]), belief)

    def hopeful(self, F: Array, best: float) -> Mask:
        """Which members, with rows (mean, −standard deviation) of F (m, 2), could well be better than `best`."""
        return np.full(len(F), True) if self.hope is None else F[:, 0] + self.hope * F[:, 1] < best

    def members(self, belief: Belief, cube: Cube, rng: Generator) -> nsga2.Archive:
        """All points that a search for the Pareto set of low mean and high uncertainty came upon."""

        def low_and_uncertain(Z: Array) -> Array:  # (m, width) -> (m, 2)
            mu, var = belief.gp.predict(Z)
            return np.stack([mu, -np.sqrt(var)], axis=1)

        return search_pareto_set(low_and_uncertain, belief.worst, self.population, belief.chance, cube, rng)


def preferences(belief: Belief | Beliefs, evidence: Evidence) -> list[Acquisition]:
    """−log of what makes one member more likely than another, if anything does."""
    price = [] if evidence.price is None else [Quickness(evidence.price)]
    return [*price, *([] if belief.tilt is None else [Risk(belief.tilt, alone=True)])]


def search_pareto_set(
    low_and_uncertain: nsga2.Objectives,
    worst: float,
    population: int,
    chance: Chance | None,
    cube: Cube,
    rng: Generator,
) -> nsga2.Archive:
    """All points that a search for the Pareto set of two objectives came upon, with a population for each parameter.

    Where an evaluation may fail, a failure is as bad as `worst`, and nothing is uncertain there.
    """
    population *= cube.parameters
    failure = np.array([worst, 0.0])  # it teaches nothing of the values

    def objectives(Z: Array) -> Array:  # (m, width) -> (m, 2)
        Z = cube.round(Z)
        F = low_and_uncertain(Z)
        if chance is not None:
            F = failure + np.exp(chance.log_value(Z))[:, None] * (F - failure)
        if cube.rules is not None:  # every allowed point dominates all others
            beyond = np.maximum(failure, F.max(axis=0)) + 1.0 + cube.violation(Z)[:, None]
            F = np.where(cube.allowed(Z)[:, None], F, beyond)
        return np.asarray(F)

    first = None if cube.rules is None else draw(cube, rng, population)
    return nsga2.search(lambda Z: by_blocks(objectives, Z), cube.width, rng, population=population, first=first)
