"""The moves of AEGiS with several objectives, against their definitions, and whole runs with everything there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng

from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.arrays import Array
from aegisbo.search.hypervolume import hypervolume
from aegisbo.space import Space
from aegisbo.strategies import Aegis, Evidence, Preset
from aegisbo.strategies.beliefs import Beliefs
from aegisbo.strategies.moves.move import Turn
from aegisbo.strategies.moves.on_fronts import ExploitFront, FrontOfPaths, ImproveFront, ParetoOfFronts, beyond
from aegisbo.strategies.presets import MODERN, on_fronts

CUBE = Space([(0.0, 1.0)] * 2).cube
NOBODY = np.empty((0, 2))


def bowls(X: Array) -> Array:  # (n, 2) -> (n, 2)
    return np.stack([((X - 0.2) ** 2).sum(axis=1), ((X - 0.8) ** 2).sum(axis=1)], axis=1)


def turn(pending: Array = NOBODY, n: int = 12) -> Turn:
    X = default_rng(3).random((n, 2))
    evidence = Evidence(X, bowls(X), NOBODY, pending, CUBE)
    beliefs, memory = Aegis(preset="modern").fitted(evidence, {}, default_rng(1), default_rng(2))
    return Turn(beliefs, evidence, MODERN.search, default_rng(4), dict(memory))


def added(beliefs: Beliefs, means: Array, pending: Array) -> Array:
    """How much each row of means adds to the hypervolume of the front and of the pending points."""
    known = np.vstack([beliefs.F, beliefs.means(pending)])
    before = hypervolume(known, beliefs.reference)
    return np.array([hypervolume(np.vstack([known, row]), beliefs.reference) - before for row in means])


@pytest.mark.parametrize("pending", [NOBODY, np.array([[0.5, 0.5], [0.35, 0.35]])])
def test_exploiting_finds_the_point_whose_means_add_most(pending: Array) -> None:
    now = turn(pending)
    choice = ExploitFront().choose(now).choices[:1]
    anywhere = now.beliefs.means(default_rng(5).random((500, 2)))
    best = added(now.beliefs, anywhere, pending).max()
    assert best > 0.0
    assert added(now.beliefs, now.beliefs.means(choice), pending)[0] > 0.97 * best


def test_a_second_exploitation_leaves_the_first_alone() -> None:
    first = ExploitFront().choose(turn()).choices[:1]
    second = ExploitFront().choose(turn(first)).choices[:1]
    assert np.linalg.norm(first - second) > 0.05


@pytest.mark.long
def test_paths_differ_and_lie_near_the_true_front() -> None:
    now = turn(n=40)
    chosen = np.array([FrontOfPaths().choose(now).choices[0] for _ in range(4)])
    assert len(np.unique(chosen, axis=0)) == 4
    assert np.abs(chosen[:, 0] - chosen[:, 1]).max() < 0.2  # the true set is the diagonal from 0.2 to 0.8


def test_beyond_says_by_how_much_a_value_may_be_worse() -> None:
    rng = default_rng(6)
    F, values = rng.random((10, 3)), rng.random((20, 3))
    for value, much in zip(values, beyond(values, F), strict=True):
        for step, dominated in ((1e-9, True), (-1e-9, False)):
            assert (value + much + step >= F).all(axis=1).any() == dominated


def test_members_of_the_pareto_set_with_hope_come_first() -> None:
    now = turn()
    choices = ParetoOfFronts(population=20, hope=2.0).choose(now).choices
    mu, sd = now.beliefs.predict(choices)
    hopeful = beyond(mu - 2.0 * sd, now.beliefs.F) > 0.0
    assert hopeful[0]
    assert (np.diff(hopeful.astype(int)) <= 0).all()


def test_improving_takes_over_where_means_promise_nothing() -> None:
    now = turn()
    decision = ExploitFront().choose(now)
    assert ImproveFront(least_promise=1e-9).instead(now, decision) is None
    instead = ImproveFront(least_promise=1e9).instead(now, decision)
    assert instead is not None
    assert instead.move == "improve"


SPACES: dict[str, Any] = {
    "plain": [(0.0, 1.0)] * 3,
    "mixed": {"a": Real(1e-3, 1.0, log=True), "k": Int(1, 5), "c": Choice(["x", "y"])},
}


def numbers(values: list[Any], rng: np.random.Generator) -> dict[str, float]:
    """Three objectives of anything."""
    x = np.array([float({"x": 0.0, "y": 1.0}.get(v, v)) if isinstance(v, str) else float(v) for v in values])
    return {
        "low": float((x**2).sum()),
        "high": float(-((x - 0.6) ** 2).sum()),
        "size": float(x[0] + rng.normal() * 0.01),
    }


@pytest.mark.long
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    "options",
    [{}, {"noisy": True}, {"cost": "time"}, {"limits": ["size <= 0.5"]}, {"preset": "paper"}, {"strategy": "thompson"}],
    ids=lambda options: str(*options) or "default",
)
def test_whole_runs_with_three_objectives(space: str, options: dict[str, Any]) -> None:
    objectives = {"low": "min", "high": "max", "size": "min"}
    opt = Optimizer(SPACES[space], objectives=objectives, seed=1, n_initial=6, **options)
    rng = default_rng(0)
    for k in range(8):
        pair = [opt.ask(), opt.ask()]
        for trial in pair:
            if k == 4:
                opt.fail(trial, "a failure")
            else:
                opt.tell(trial, numbers(list(trial.params.values()), rng), seconds=1.0 + k)
    found = opt.result()
    assert found.front
    for trial in found.front:
        for other in found.trials:
            if other.state == "done" and not options:
                m, o = trial.measured, other.measured
                worse = (o["low"] <= m["low"], o["high"] >= m["high"], o["size"] <= m["size"])
                assert not all(worse) or o == m


@pytest.mark.long
def test_it_beats_points_at_random_on_two_bowls() -> None:
    def volume(strategy: str) -> float:
        opt = Optimizer([(0.0, 1.0)] * 4, objectives={"f": "min", "g": "min"}, strategy=strategy, seed=0)
        for _ in range(40):
            trial = opt.ask()
            f, g = bowls(trial.x[None])[0]
            opt.tell(trial, {"f": float(f), "g": float(g)})
        return hypervolume(np.array([[t.measured["f"], t.measured["g"]] for t in opt.trials]), np.full(2, 1.44))

    # The front is f = 1.44 t², g = 1.44 (1 − t)²: it dominates 5/6 of the square.
    reached = volume("aegis")
    assert reached > 0.97 * 1.44**2 * 5 / 6
    assert reached > volume("random") * 1.1


def test_a_preset_keeps_its_model_and_search_with_several_objectives() -> None:
    several: Preset = on_fronts(MODERN)
    assert (several.surrogate, several.search) == (MODERN.surrogate, MODERN.search)
    assert several.several
    assert Aegis(preset=several).exploration(2) == 0.15  # whatever the dimension
    assert Aegis(preset=several, epsilon="half").exploration(4) == 0.5  # unless it is told otherwise
