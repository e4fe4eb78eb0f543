"""Expected improvement: the sequential strategy, and the objective that its asynchronous relatives share."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.posterior import GP
from aegisbo.search.inner_search import InnerSearch
from aegisbo.space.cube import Cube
from aegisbo.strategies.acquisition import Penalty, log_expected_improvement
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.model_based import Decision, ModelBased
from aegisbo.strategies.moves import best_points
from aegisbo.strategies.surrogates import Belief


@dataclass(frozen=True)
class Improvement:
    """−log of expected improvement times penalty: same maximisers as the product, but never flat far from the best."""

    gp: GP
    best: float
    penalty: Penalty | None = None

    def screen(self, Z: Array) -> Array:
        """In double precision: a variance is a small difference of large numbers."""
        value = log_expected_improvement(*self.gp.predict(Z), self.best)[0]
        return -(value if self.penalty is None else value + self.penalty.log_value_and_gradient(Z)[0])

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at Z (m, d)."""
        mu, var, grad_mu, grad_var = self.gp.predict_and_gradient(Z)
        value, by_mu, by_var = log_expected_improvement(mu, var, self.best)
        gradient = by_mu[:, None] * grad_mu + by_var[:, None] * grad_var
        if self.penalty is not None:
            log_penalty, grad_penalty = self.penalty.log_value_and_gradient(Z)
            value, gradient = value + log_penalty, gradient + grad_penalty
        return -value, -gradient


def improve(improvement: Improvement, cube: Cube, search: InnerSearch, rng: Generator) -> Array:
    """Maximise an improvement: choices (k, width), the best first."""
    return search(improvement, cube, rng, best_points(improvement.gp))


@dataclass(frozen=True, kw_only=True)
class ExpectedImprovement(ModelBased):
    """Maximise expected improvement over the best value measured (eq. 3); made for one worker."""

    move = "ei"

    def improvement(self, belief: Belief, pending: Array, rng: Generator) -> Improvement:
        """What is optimised; this one does not look at pending points."""
        return Improvement(belief.gp, belief.best)

    def decide(self, belief: Belief, evidence: Evidence, memory: Memory, rng: Generator) -> Decision:
        """Maximise the improvement that this strategy believes in."""
        accounting, searching = rng.spawn(2)
        objective = self.improvement(belief, evidence.pending, accounting)
        return Decision(improve(objective, evidence.cube, self.preset.search, searching), {"move": self.move}, memory)
