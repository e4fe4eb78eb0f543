"""The moves of AEGiS where there are several objectives.

What is lowest with one objective adds most hypervolume with several: exploiting looks at the means of all objectives,
Thompson sampling at a sample path of each. Pending points count as measured, with the values that the move itself
expects there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array
from aegisbo.gp.paths import FEATURES
from aegisbo.strategies.beliefs import Beliefs
from aegisbo.strategies.exact import Exact
from aegisbo.strategies.front_improvement import Certain, FrontImprovement, Uncertain
from aegisbo.strategies.moves.exploit import Mean
from aegisbo.strategies.moves.move import Decision, Turn
from aegisbo.strategies.moves.pareto import Pareto, preferences, search_pareto_set
from aegisbo.strategies.moves.thompson import posterior_path
from aegisbo.strategies.per_second import Quickness
from aegisbo.strategies.product import by_lot, product


@dataclass(frozen=True)
class ExploitFront:
    """Maximize the hypervolume that the means of all objectives add."""

    def choose(self, turn: Turn) -> Decision:
        """The most promising first."""
        beliefs = turn.beliefs
        believed = tuple(Certain(Mean(belief.gp)) for belief in beliefs.each)
        added = FrontImprovement(believed, beliefs.left_by(beliefs.means(turn.evidence.pending)))
        return _most_added("exploit", added, beliefs, turn)


@dataclass(frozen=True)
class FrontOfPaths:
    """Maximize the hypervolume that a sample path of each objective adds."""

    def choose(self, turn: Turn) -> Decision:
        """The most promising first."""
        beliefs, pending = turn.beliefs.exploring, turn.evidence.pending
        drawn = [
            Mean(belief.gp) if isinstance(belief, Exact) else posterior_path(belief.gp, FEATURES, turn.rng)
            for belief in beliefs.each
        ]
        expected = np.stack([path.screen(pending) for path in drawn], axis=1).astype(np.float64)
        added = FrontImprovement(tuple(map(Certain, drawn)), beliefs.left_by(expected))
        return _most_added("thompson", added, beliefs, turn)


@dataclass(frozen=True)
class ParetoOfFronts(Pareto):
    """Pick a random member of the Pareto set of low means and high uncertainty, those with hope first.

    How low the means are is how far they lie beyond the front, in the objective in which they do so most: by so much
    each of them could be worse before a point of the front dominates them.
    """

    def choose(self, turn: Turn) -> Decision:
        """All members, in random order."""
        beliefs, evidence, rng = turn.beliefs.exploring, turn.evidence, turn.rng
        F = np.vstack([beliefs.F, beliefs.means(evidence.pending)])
        cube = evidence.cube

        def low_and_uncertain(Z: Array) -> Array:  # (n, width) -> (n, 2)
            mu, sd = beliefs.predict(Z)
            return np.stack([-beyond(mu, F), -np.sqrt((sd**2).sum(axis=1))], axis=1)

        worst = float((beliefs.reference - beliefs.F.min(axis=0)).max())
        archive = search_pareto_set(low_and_uncertain, worst, self.population, beliefs.chance, cube, rng)
        members = rng.permutation(archive.front)
        points = cube.round(archive.X[members])
        if factors := preferences(beliefs, evidence):
            points = points[by_lot(factors, points, rng)]
        mu, sd = beliefs.predict(points)
        hopeful = np.full(len(points), True) if self.hope is None else beyond(mu - self.hope * sd, F) > 0.0
        return Decision("pareto", np.concatenate([points[hopeful], points[~hopeful]]), beliefs)


def beyond(values: Array, F: Array) -> Array:  # (n, m), (k, m) -> (n,)
    """How much worse values could be in every objective before a row of F dominates them; below 0 if one does."""
    return np.asarray((F[None, :, :] - values[:, None, :]).max(axis=2).min(axis=1))


@dataclass(frozen=True)
class ImproveFront:
    """Maximize expected improvement of hypervolume, with pending points as predicted, where exploiting gains nothing.

    Args:
        least_promise: what the means must promise to be exploited, as a share of the hypervolume.
    """

    least_promise: float

    def instead(self, turn: Turn, decision: Decision) -> Decision | None:
        """Where most improvement is expected, per second if that is the price."""
        beliefs, pending = turn.beliefs, turn.evidence.pending
        if decision.move != "exploit" or not self._is_spent(decision.choices[:1], beliefs, pending):
            return None
        return _most_added("improve", believed_addition(beliefs, pending), beliefs, turn)

    def _is_spent(self, x: Array, beliefs: Beliefs, pending: Array) -> bool:
        """Whether the means at x (1, width) promise too little."""
        expected = beliefs.means(np.vstack([pending, x]))
        ideal = np.vstack([beliefs.F, expected]).min(axis=0)
        whole = float((beliefs.reference - ideal).prod())
        without, with_it = (beliefs.left_by(each).volume(ideal) for each in (expected[:-1], expected))
        return without - with_it < self.least_promise * (whole - without)


def believed_addition(beliefs: Beliefs, pending: Array) -> FrontImprovement:
    """Expected improvement of hypervolume when pending points (p, width) turn out as predicted."""
    believed = tuple(
        Certain(Mean(belief.gp)) if isinstance(belief, Exact) else Uncertain(belief.gp.believing(pending))
        for belief in beliefs.each
    )
    return FrontImprovement(believed, beliefs.left_by(beliefs.means(pending)))


def _most_added(move: str, added: FrontImprovement, beliefs: Beliefs, turn: Turn) -> Decision:
    """Where most is added to the front, per second if that is the price."""
    evidence = turn.evidence
    factors = () if evidence.price is None else (Quickness(evidence.price),)
    objective = product(added, *factors, chance=beliefs.factor)
    return Decision(move, turn.search(objective, evidence.cube, turn.rng, beliefs.X), beliefs)
