from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from foreign_gp import foreign_gp, square_grid
from moving import exploit, pareto, thompson
from scipy.stats import chisquare, ks_2samp, kstest

from aegisbo import Optimizer
from aegisbo.search import nsga2
from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.space.cube import Continuous, Cube, Grid, OneHot
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.moves.anywhere import anywhere
from aegisbo.strategies.moves.pareto import Pareto
from aegisbo.strategies.presets import PAPER

PLANE = Cube((Continuous(), Continuous()))
MIXED = Cube((Grid(0, 4), OneHot(3), Grid(1, 64, 9, log=True)))


def evidence_on(cube: Cube, n: int, seed: int) -> Evidence:
    """A bowl with ripples, its lowest point inside."""
    rng = np.random.default_rng(seed)
    X = cube.fill(rng.random((n, cube.parameters)))
    y = 7.0 + 40.0 * np.sum((X - 0.4) ** 2, axis=1) + np.cos(9 * X).sum(axis=1)
    none = np.empty((0, cube.width))
    return Evidence(X, y, none, none, cube)


def belief_in(evidence: Evidence):
    """Our posterior, and scikit-learn's at the same hyper-parameters."""
    belief, memory = PAPER.surrogate.fit(evidence, {}, np.random.default_rng(0))
    return belief.gp, foreign_gp(evidence, memory)


def all_points(cube: Cube):
    return cube.every_point


# Exploit


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_exploit_finds_the_minimum_of_the_mean_in_the_users_box(seed):
    """The first choice of AEGiS, against a dense grid over the posterior mean of another library."""
    box = np.array([[-5.0, 10.0], [2.0, 3.0]])
    optimizer = Optimizer(box, strategy="aegis", preset="paper", seed=seed, n_initial=0)
    for u in np.random.default_rng(seed).random((12, 2)):
        x = box[:, 0] + u * (box[:, 1] - box[:, 0])
        optimizer.observe(x, float((x[0] - 1) ** 2 + 50 * (x[1] - 2.7) ** 2 + 5 * np.sin(x[0])))
    evidence = optimizer.evidence()
    trial = optimizer.ask()
    assert trial.note["move"] == "exploit"
    foreign, grid = foreign_gp(evidence, optimizer.memory), square_grid(301)
    on_grid = foreign.predict(grid)[0]
    u = (trial.x - box[:, 0]) / (box[:, 1] - box[:, 0])
    here = foreign.predict(u[None])[0][0]
    assert here == pytest.approx(trial.note["mean"], rel=1e-6)
    assert abs(here - on_grid.min()) < 1e-3 * np.ptp(on_grid)
    np.testing.assert_allclose(u, grid[on_grid.argmin()], atol=0.01)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_exploit_on_levels_and_choices_is_among_the_best_that_can_be_evaluated(seed):
    """Rounding a minimum does not always give the lowest point of a grid, but one of the lowest."""
    gp, foreign = belief_in(evidence_on(MIXED, 30, seed))
    x = exploit(gp, MIXED, PAPER.search, np.random.default_rng(seed))[0]
    everywhere = foreign.predict(all_points(MIXED))[0]
    assert (everywhere < foreign.predict(x[None])[0] - 1e-9).mean() <= 0.05


# Thompson sampling


@pytest.mark.long
def test_thompson_choices_are_distributed_like_minimizers_of_exact_samples():
    """With more features than the paper: a finite number of them makes smooth posteriors a little too narrow."""
    line = Cube((Continuous(),))
    gp, foreign = belief_in(evidence_on(line, 4, seed=7))
    grid = np.linspace(0, 1, 501)
    minimizers = grid[foreign.gp.sample_y(grid[:, None], 4000, random_state=0).argmin(axis=0)]
    search = EverywhereSearch(candidates=60, starts=2)
    chosen = [thompson(gp, line, search, 8000, np.random.default_rng(seed))[0, 0] for seed in range(400)]
    assert np.std(minimizers) > 0.1  # they are spread, so there is something to compare
    assert ks_2samp(np.round(chosen, 2), np.round(minimizers, 2)).pvalue > 0.01


# Pareto


@pytest.mark.parametrize(("cube", "n"), [(PLANE, 12), (Cube((Continuous(),) * 5), 30)])
def test_hardly_any_point_dominates_a_pareto_choice(cube, n):
    gp, foreign = belief_in(evidence_on(cube, n, seed=4))
    mu, sigma = foreign.predict(np.random.default_rng(0).random((20_000, cube.width)))
    shares = []
    for seed in range(20):
        x = pareto(gp, cube, Pareto(), np.random.default_rng(seed))[0]
        m, s = foreign.predict(x[None])
        shares.append(np.mean((mu <= m) & (sigma >= s) & ((mu < m) | (sigma > s))))
    assert max(shares) < 0.001
    assert np.mean(shares) < 0.0003


def test_pareto_choices_are_a_random_order_of_the_front():
    gp, foreign = belief_in(evidence_on(PLANE, 12, seed=4))
    first = np.array([pareto(gp, PLANE, Pareto(), np.random.default_rng(seed))[0] for seed in range(40)])
    front = pareto(gp, PLANE, Pareto(), np.random.default_rng(99))
    chosen, offered = foreign.predict(first)[0], foreign.predict(front)[0]
    assert ks_2samp(chosen, offered).pvalue > 0.01  # neither end of the front, greedy or uncertain, is preferred
    assert abs(np.corrcoef(np.arange(len(offered)), offered)[0, 1]) < 0.5


def test_pareto_on_levels_and_choices_is_not_dominated_by_what_can_be_evaluated():
    gp, foreign = belief_in(evidence_on(MIXED, 30, seed=3))
    mu, sigma = foreign.predict(all_points(MIXED))
    for seed in range(20):
        x = pareto(gp, MIXED, Pareto(), np.random.default_rng(seed))[0]
        np.testing.assert_array_equal(MIXED.round(x[None])[0], x)
        m, s = foreign.predict(x[None])
        assert not np.any((mu < m - 1e-6) & (sigma > s + 1e-6))


def test_pareto_searches_by_the_number_of_parameters(monkeypatch):
    populations = []
    real = nsga2.search

    def spy(objectives, d, rng, *, population, first=None):
        populations.append((d, population))
        return real(objectives, d, rng, population=population)

    monkeypatch.setattr(nsga2, "search", spy)
    gp, _ = belief_in(evidence_on(MIXED, 8, seed=5))
    pareto(gp, MIXED, Pareto(), np.random.default_rng(0))
    pareto(gp, MIXED, Pareto(population=40), np.random.default_rng(0))
    assert populations == [(5, 300), (5, 120)]


def test_members_of_the_front_that_can_hardly_be_better_come_last():
    evidence = evidence_on(PLANE, 12, seed=4)
    gp, foreign = belief_in(evidence)
    best = evidence.y.min()
    for seed in range(5):
        mu, sigma = foreign.predict(pareto(gp, PLANE, Pareto(hope=0.5), np.random.default_rng(seed)))
        hopeful = mu - 0.5 * sigma < best
        assert 0 < hopeful.sum() < len(hopeful)
        assert (np.diff(hopeful.astype(int)) <= 0).all()


# Anywhere


def test_anywhere_is_uniform():
    points = anywhere(PLANE, np.random.default_rng(0), 2000)
    assert points.shape == (2000, 2)
    for column in points.T:
        assert kstest(column, "uniform").pvalue > 0.01
    counts = Counter(MIXED.keys(anywhere(MIXED, np.random.default_rng(0), 12_000)))
    levels = np.zeros((5, 3))
    for (first, second, _), count in counts.items():
        levels[first, second] += count
    assert chisquare(levels.ravel()).pvalue > 0.01
