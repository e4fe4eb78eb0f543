"""Choices lean towards a guess: each move chooses the best of a dense grid, by the definition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from moving import believed, turn_of
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.space import Choice, Int, Real, Space
from aegisbo.strategies.base import Evidence, Suggestion
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.hurry import in_time
from aegisbo.strategies.log_expected_improvement import log_expected_improvement
from aegisbo.strategies.moves.elsewhere import Box, descend
from aegisbo.strategies.moves.exploit import Exploit
from aegisbo.strategies.moves.improve import most_improved
from aegisbo.strategies.moves.local import Local
from aegisbo.strategies.moves.move import Turn
from aegisbo.strategies.moves.pareto import Pareto
from aegisbo.strategies.moves.thompson import SamplePath, posterior_path
from aegisbo.strategies.pending import believed_improvement
from aegisbo.strategies.presets import ADAPTIVE, MODERN
from aegisbo.strategies.registry import resolve
from aegisbo.strategies.tilt import STRENGTH, Tilt, Tilted, tilt_of
from aegisbo.strategies.timing import Timing

SPACE = Space({"x": Real(-5, 10, guess=9), "y": Real(2, 3)})
NONE = np.empty((0, 2))
GRID = np.stack(np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201)), axis=-1).reshape(-1, 2)


def evidence(n: int = 12, space: Space = SPACE) -> Evidence:
    X = np.random.default_rng(0).random((n, 2))
    y = ((X - 0.4) ** 2).sum(axis=1) + 0.1 * np.cos(9 * X).sum(axis=1)
    return Evidence(X, y, NONE, NONE, space.cube)


@pytest.fixture(scope="module")
def belief() -> Belief:
    known = evidence()
    plain = believed(MODERN.surrogate.fit(known, {}, np.random.default_rng(0))[0].gp)
    return replace(plain, tilt=tilt_of(known))


def log_pi(Z: Array) -> Array:
    return np.log(0.05 + 0.95 * np.exp(-0.5 * ((Z[:, 0] - 14 / 15) / 0.1) ** 2))


def lowered(belief: Belief, values: Array, Z: Array) -> Array:
    """The definition, written out."""
    return values - STRENGTH / 12 * np.sqrt(belief.gp.predict(Z)[1]) * (log_pi(Z) - log_pi(belief.good_points()[:1]))


def test_its_power_falls_with_the_number_of_values() -> None:
    powers = [tilt.power for n in (0, 1, 10, 1000) if (tilt := tilt_of(evidence(n)))]
    assert powers == [STRENGTH, STRENGTH, STRENGTH / 10, STRENGTH / 1000]
    assert tilt_of(evidence(3, Space([Real(0, 1), Real(0, 1)]))) is None


def test_its_power_falls_with_the_number_of_parameters_that_are_guessed() -> None:
    """Four errors of the same size in log π, of either sign, add up to two."""
    four = Space(
        [Real(0, 1, guess=0.5), Choice(["a", "b"], guess="a"), Real(0, 1), Int(1, 9, guess=2), Real(2, 3, guess=3)]
    )
    X = np.full((10, four.cube.width), 0.5)
    tilt = tilt_of(Evidence(X, np.arange(10.0), X[:0], X[:0], four.cube))
    assert tilt is not None
    assert tilt.power == pytest.approx(STRENGTH / 10 / 2)


def test_exploiting_lowers_the_mean_where_it_was_guessed(belief: Belief) -> None:
    turn = turn_of(belief, SPACE.cube, np.random.default_rng(1), MODERN.search)
    x = Exploit().choose(turn).choices[:1]
    assert lowered(belief, belief.gp.mean(x), x)[0] <= lowered(belief, belief.gp.mean(GRID), GRID).min() + 1e-6
    plain = Exploit().choose(replace(turn, believed=replace(belief, tilt=None))).choices[0]
    assert x[0, 0] > plain[0]


def test_thompson_sampling_lowers_the_path_where_it_was_guessed(belief: Belief) -> None:
    turn = turn_of(belief, SPACE.cube, np.random.default_rng(2), MODERN.search)
    x = SamplePath(500).choose(turn).choices[:1]
    path = posterior_path(belief.gp, 500, np.random.default_rng(2))
    on_grid = lowered(belief, path.value_and_gradient(GRID)[0], GRID)
    assert lowered(belief, path.value_and_gradient(x)[0], x)[0] <= on_grid.min() + 1e-6


def test_the_gradient_is_that_of_differences(belief: Belief) -> None:
    assert belief.tilt is not None
    tilted = Tilted(
        posterior_path(belief.gp, 500, np.random.default_rng(3)), belief.tilt, belief.gp, belief.good_points()[:1]
    )
    Z = np.random.default_rng(4).uniform(0.05, 0.95, (30, 2))
    value, gradient = tilted.value_and_gradient(Z)
    np.testing.assert_allclose(tilted.screen(Z), value, atol=1e-4)  # in single precision
    for k, step in enumerate(1e-5 * np.eye(2)):
        slope = (tilted.value_and_gradient(Z + step)[0] - tilted.value_and_gradient(Z - step)[0]) / 2e-5
        np.testing.assert_allclose(gradient[:, k], slope, rtol=1e-3, atol=1e-4)


def test_to_the_first_order_that_is_what_the_factor_does_to_expected_improvement() -> None:
    mu, sd, power = 0.3, 0.2, 1e-3
    (value,), (by_mu,), _ = log_expected_improvement(np.array([mu]), np.array([sd**2]), mu)
    moved = log_expected_improvement(np.array([mu - power * sd]), np.array([sd**2]), mu)[0][0]
    assert moved - value == pytest.approx(-by_mu * power * sd, rel=1e-2)
    assert -by_mu * sd == pytest.approx(1.25, abs=0.01)  # and 1 is about that, where a mean is as good as the best


def test_improvement_is_multiplied_by_the_guess(belief: Belief) -> None:
    assert belief.tilt is not None
    improvement = believed_improvement(belief, NONE)
    x = most_improved(improvement, belief, SPACE.cube, MODERN.search, np.random.default_rng(5))[:1]

    def product(Z: Array) -> Array:
        return -improvement.screen(Z) + STRENGTH / 12 * log_pi(Z)

    assert product(x)[0] >= product(GRID).max() - 1e-4
    box, rng = Box(np.array([0.3, 0.2]), np.array([0.9, 0.9])), np.random.default_rng(6)
    found, promise = box.most_improved(improvement, belief.factor, rng)
    inside = product(GRID[box.holds(GRID)])
    assert np.log(promise) == pytest.approx(float(product(found[:1])[0]), abs=1e-4)
    assert np.log(promise) >= inside.max() - 1e-3


def test_members_of_the_pareto_set_are_drawn_as_often_as_the_guess_says(belief: Belief) -> None:
    def towards(known: Belief, seed: int) -> float:
        turn = turn_of(known, SPACE.cube, np.random.default_rng(seed))
        return float(Pareto(population=20).choose(turn).choices[0, 0])

    with_it, without = (
        np.mean([towards(known, seed) for seed in range(12)]) for known in (belief, replace(belief, tilt=None))
    )
    assert with_it > without + 0.1


def test_what_to_explore_with_leans_as_well() -> None:
    known = evidence(14)
    for preset in ("paper", "modern", "adaptive"):
        strategy = resolve("aegis", preset)
        found = strategy.believe(known, {}, np.random.default_rng(0))
        assert found.tilt is not None
        assert found.exploring.tilt == found.tilt
        assert found.chance is None  # predictions know nothing of it
        assert found.factor is found.tilt


@pytest.mark.parametrize(
    "name", ["aegis", "thompson", "ei", "kriging-believer", "local-penalization", "playbook", "local-quadratic"]
)
def test_strategies_with_a_model_say_how_much_they_lean(name: str) -> None:
    known = replace(evidence(12), pending=np.array([[0.2, 0.7]]))
    suggestion = resolve(name, "modern").suggest(known, {}, np.random.default_rng(7))
    tilt = tilt_of(known)
    assert tilt is not None
    assert suggestion.note["guess"] == pytest.approx(float(np.exp(tilt.log_value(suggestion.x[None])[0])))
    plain = resolve(name, "modern").suggest(
        replace(known, cube=replace(known.cube, guess=None)), {}, np.random.default_rng(7)
    )
    assert "guess" not in plain.note
    assert (suggestion.x != plain.x).any()


@pytest.mark.long
def test_several_objectives_lean_as_well() -> None:
    one = evidence(14)
    known = replace(one, y=np.stack([one.y, ((one.X - 0.6) ** 2).sum(axis=1)], axis=1))
    strategy = resolve("aegis", "adaptive")
    beliefs = strategy.believe(known, {}, np.random.default_rng(0))
    assert beliefs.factor == tilt_of(known)
    assert beliefs.exploring.factor == beliefs.factor
    suggestions = [strategy.suggest(known, {}, np.random.default_rng(seed)) for seed in range(4)]
    plain = replace(known, cube=replace(known.cube, guess=None))
    others = [strategy.suggest(plain, {}, np.random.default_rng(seed)) for seed in range(4)]
    assert all("guess" in each.note for each in suggestions)
    assert np.mean([each.x[0] for each in suggestions]) > np.mean([each.x[0] for each in others])


def test_an_unlikely_choice_is_not_excluded() -> None:
    """After enough values the model decides, whatever was guessed."""
    space = Space({"x": Real(0, 1), "kind": Choice(["a", "b"], guess="a")})
    rng = np.random.default_rng(8)
    X = space.cube.fill(rng.random((60, 2)))
    y = (X[:, 0] - 0.3) ** 2 - X[:, 2]  # "b" is better by far
    known = Evidence(X, y, np.empty((0, 3)), np.empty((0, 3)), space.cube)
    assert [resolve("aegis", ADAPTIVE.name).suggest(known, {}, np.random.default_rng(k)).x[2] for k in range(3)] == [
        1.0
    ] * 3


def locally(known: Evidence, rng: Generator) -> object:
    turn = Turn(resolve("aegis").believe(known, {}, np.random.default_rng(0)), known, ADAPTIVE.search, rng, {})
    return Local().choose(turn)


def elsewhere(known: Evidence, rng: Generator) -> object:
    X = evidence(50).X
    two_valleys = np.minimum(((X - 0.2) ** 2).sum(axis=1), 0.05 + 2 * ((X - 0.75) ** 2).sum(axis=1))
    known = replace(known, X=X, y=two_valleys)
    return descend(resolve("aegis").believe(known, {}, np.random.default_rng(0)), known, rng)


def hurried(known: Evidence, rng: Generator) -> object:
    timing = Timing(known.X, np.exp(1.0 + 4.0 * known.X[:, 0]), limit=15.0)  # seconds
    late = Suggestion(np.array([0.9, 0.5]))
    return in_time(late, resolve("aegis"), replace(known, timing=timing), rng)


@pytest.mark.parametrize("choose", [locally, elsewhere, hurried])
def test_other_moves_ask_the_guess(choose: Callable[[Evidence, Generator], object], monkeypatch) -> None:
    asked = []
    log_value = Tilt.log_value
    monkeypatch.setattr(Tilt, "log_value", lambda self, Z: (asked.append(len(Z)), log_value(self, Z))[1])
    for seed in range(12):  # `local` is drawn by lot
        if choose(evidence(20), np.random.default_rng(seed)) is not None:
            break
    assert sum(asked) > 50  # more than a note needs
