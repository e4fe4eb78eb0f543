"""Near the lowest means instead of the luckiest values, where values are noisy and the model explains them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import Generator, default_rng

from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.moves.local import Local
from aegisbo.strategies.moves.local_mean import LocalMean
from aegisbo.strategies.moves.move import Turn
from aegisbo.strategies.presets import ADAPTIVE

MIDDLE, LUCKY = np.array([0.3, 0.4]), np.array([0.9, 0.85])


class Lot(Generator):
    """Falls on whoever asks."""

    def random(self, *args: object, **kwargs: object) -> object:
        return super().random(*args, **kwargs) if args or kwargs else 0.0


def lucky_bowl(height: float = 1.0, noisy: bool = True) -> Evidence:
    """A bowl with noise that grows with the value, and a value far from its middle that is the lowest by luck."""
    rng = default_rng(3)
    X = np.vstack([rng.random((60, 2)), LUCKY])
    y = height * ((X - MIDDLE) ** 2).sum(axis=1) * np.exp(0.3 * rng.standard_normal(61)) + 1e-6 * rng.random(61)
    y[-1] = y.min() - 0.001 * height
    if height == 0.0:
        y = rng.standard_normal(61)
    none = np.empty((0, 2))
    return Evidence(X=X, y=y, failed=none, pending=none, cube=Cube((Continuous(), Continuous())), noisy=noisy)


def turn_of(evidence: Evidence) -> Turn:
    belief = Aegis().believe(evidence, {}, default_rng(1))
    assert isinstance(belief, Belief)
    return Turn(belief, evidence, ADAPTIVE.search, Lot(default_rng(2).bit_generator), {})


@pytest.mark.parametrize(
    ("evidence", "by_means"),
    [(lucky_bowl(), True), (lucky_bowl(noisy=False), False), (lucky_bowl(height=0.0), False)],
    ids=["noisy", "without noise", "nothing but noise"],
)
def test_one_of_the_two_applies(evidence: Evidence, by_means: bool) -> None:
    turn = turn_of(evidence)
    one, other = (LocalMean(), Local()) if by_means else (Local(), LocalMean())
    assert other.choose(turn) is None
    assert turn.memory == {}
    decision = one.choose(turn)
    assert decision is not None
    assert decision.move == "local"


def test_it_does_not_go_where_luck_was() -> None:
    evidence = lucky_bowl()
    decision = LocalMean().choose(turn_of(evidence))
    assert decision is not None
    assert np.linalg.norm(decision.choices[0] - MIDDLE) < 0.15
    by_values = Local().choose(turn_of(replace(evidence, noisy=False)))
    assert by_values is not None
    assert np.linalg.norm(by_values.choices[0] - MIDDLE) > 2 * np.linalg.norm(decision.choices[0] - MIDDLE)


def test_a_model_explains_what_it_predicts_from_the_others() -> None:
    """Against posteriors that were made without each value."""
    for evidence in (lucky_bowl(), lucky_bowl(height=0.0)):
        belief = turn_of(evidence).belief
        gp, y = belief.gp, belief.gp.y + belief.gp.constant
        L = np.tril(gp.factor.L)
        K = L @ L.T
        errors = []
        for k in range(len(y)):
            others = np.delete(np.arange(len(y)), k)
            weights = np.linalg.solve(K[np.ix_(others, others)], gp.y[others])
            errors.append(gp.y[k] - K[k, others] @ weights)
        assert belief.explains == (np.var(errors) < 0.5 * np.var(y))
