from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from moving import KINDS, offer
from scipy.stats import binomtest

from aegisbo import Optimizer
from aegisbo.space.cube import Continuous, Cube, OneHot
from aegisbo.strategies.aegis import Aegis, Stage
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.registry import resolve
from aegisbo.strategies.schedules import SCHEDULES, by_sqrt, exploration, faster, slower

BOX = [(-5, 10), (2, 3), (0, 1e-3), (-1, 1), (100, 101), (-7, -6)]
EXPLORING = {"thompson", "pareto"}


@pytest.fixture
def moves_are_free(monkeypatch):
    """The moves return a point at once: here it matters only which of them is called."""
    for place, name in enumerate(KINDS, start=1):
        offer(monkeypatch, name, lambda turn, place=place: np.full((1, turn.evidence.cube.width), place / 10))


def started(strategy: str, d: int) -> Optimizer:
    """An optimizer whose next ask is the first that looks at a model."""
    optimizer = Optimizer(BOX[:d], strategy=strategy, preset="paper", seed=0, n_initial=0)
    for u in np.random.default_rng(1).random((d + 1, d)):
        optimizer.observe(optimizer.space.from_unit(u), float(np.sum(u**2)))
    return optimizer


def asked(optimizer: Optimizer, count: int) -> list[str]:
    return [optimizer.ask().note["move"] for _ in range(count)]


def learn(optimizer: Optimizer, u: float) -> None:
    """Some result comes in."""
    optimizer.observe(optimizer.space.from_unit(np.full(optimizer.space.cube.width, u)), u)


# The schedules


@pytest.mark.parametrize(
    ("schedule", "shares"),
    [
        (by_sqrt, [0.8944, 0.8165, 0.7559, 0.7071, 0.6325]),
        (faster, [0.6667, 0.5000, 0.4000, 0.3333, 0.2500]),
        (slower, [0.9618, 0.9102, 0.8686, 0.8341, 0.7797]),
    ],
)
def test_schedules_are_those_of_the_paper(schedule, shares):
    assert [round(schedule(d), 4) for d in (5, 6, 7, 8, 10)] == shares
    assert [schedule(d) for d in (1, 2, 3, 4)] == [1.0] * 4


def test_exploration_is_that_of_the_strategy_or_else_of_the_preset():
    for d in (1, 3, 9):
        assert Aegis(preset="paper").exploration(d) == by_sqrt(d)
        assert Aegis(preset="modern").exploration(d) == 1 / np.sqrt(d)
        assert Aegis(preset="paper", epsilon="slower").exploration(d) == slower(d) == exploration("slower", d)
        assert Aegis(preset="paper", epsilon=0.0).exploration(d) == 0.0  # a zero is an answer, too


def test_the_dimension_is_the_number_of_parameters(monkeypatch, moves_are_free):
    asked_for = []
    monkeypatch.setitem(SCHEDULES, "spy", lambda d: asked_for.append(d) or 0.5)
    cube = Cube((OneHot(3), Continuous(), OneHot(4)))
    X, none = cube.fill(np.random.default_rng(0).random((6, 3))), np.empty((0, cube.width))
    strategy = Aegis(preset="paper", epsilon="spy")
    strategy.suggest(Evidence(X, X[:, 3], none, none, cube), {"opened_at": 0}, np.random.default_rng(0))
    assert asked_for == [3]


# Which move: Algorithm 1, lines 4, 5, 7 and 10


def last_of(strategy, r, d, *, first=False, opening=False):
    """The name of the move that the coin r picks, whatever is tried before it."""
    kind = type(strategy.moves(r, d, Stage(first, opening))[-1])
    return next(name for name, each in KINDS.items() if each is kind)


@pytest.mark.parametrize(
    ("epsilon", "gamma"), [(0.8, 0.5), (0.25, 0.2), (1.0, 0.3), (0.0, 0.5), (0.5, 0.0), (0.5, 1.0)]
)
def test_the_coin_divides_the_moves_as_in_algorithm_1(epsilon, gamma):
    strategy = Aegis(epsilon=epsilon, gamma=gamma)
    coins = (np.arange(10_000) + 0.5) / 10_000
    moves = [last_of(strategy, r, 6) for r in coins]
    epsilon_t, epsilon_p = gamma * epsilon, (1 - gamma) * epsilon
    definition = [
        "exploit" if r < 1 - (epsilon_t + epsilon_p) else "thompson" if r < 1 - epsilon_p else "pareto" for r in coins
    ]
    assert moves == definition
    assert Counter(definition)["thompson"] == round(10_000 * epsilon_t)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_while_opening_the_share_of_exploitation_goes_to_the_others(gamma):
    moves = Counter(
        last_of(Aegis(epsilon="faster", gamma=gamma), r, 10, opening=True) for r in np.arange(0.0005, 1, 0.001)
    )
    assert (moves["exploit"], moves["thompson"], moves["pareto"]) == (0, 1000 * gamma, 1000 * (1 - gamma))


@pytest.mark.parametrize("coin", [0.0, 0.5, np.nextafter(1.0, 0.0)])
def test_an_ablated_move_is_never_made_whatever_the_coin_and_the_rounding(coin):
    for epsilon in np.linspace(0, 1, 101):
        for opening in (False, True):
            for gamma, absent in ((0.0, "thompson"), (1.0, "pareto")):
                strategy = Aegis(epsilon=epsilon, gamma=gamma)
                assert last_of(strategy, coin, 6, opening=opening) != absent
    assert last_of(Aegis(exploits=False), coin, 10, first=True, opening=True) in EXPLORING


EXPLOITING = 1 - 2 / np.sqrt(6)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("aegis", {"exploit": EXPLOITING, "thompson": 1 / np.sqrt(6), "pareto": 1 / np.sqrt(6)}),
        ("aegis:gamma=0.2,epsilon=faster", {"exploit": 0.5, "thompson": 0.1, "pareto": 0.4}),
        ("aegis-rs", {"exploit": EXPLOITING, "thompson": 1 / np.sqrt(6), "uniform": 1 / np.sqrt(6)}),
        ("aegis-no-exploit", {"thompson": 0.5, "pareto": 0.5}),
        ("aegis-no-ts", {"exploit": EXPLOITING, "pareto": 2 / np.sqrt(6)}),
        ("aegis-no-pf", {"exploit": EXPLOITING, "thompson": 2 / np.sqrt(6)}),
    ],
)
def test_moves_are_made_as_often_as_the_paper_says(moves_are_free, name, shares):
    optimizer = started(name, 6)
    optimizer.ask()
    learn(optimizer, 0.5)  # the opening is over
    notes = [optimizer.ask().note for _ in range(300)]
    counts = Counter(note["move"] for note in notes)
    assert set(counts) == set(shares)
    for move, share in shares.items():
        assert binomtest(counts[move], 300, share).pvalue > 0.001
    assert len({note["coin"] for note in notes}) == 300


def test_the_coin_belongs_to_the_trial_whether_or_not_a_fit_came_before(moves_are_free):
    quiet, busy = started("aegis", 3), started("aegis", 3)
    for _ in range(5):
        learn(busy, 0.5)
        assert quiet.ask().note["coin"] == busy.ask().note["coin"]


def test_each_move_is_made_by_its_own_function(moves_are_free):
    points = {"exploit": 0.1, "thompson": 0.2, "pareto": 0.3, "uniform": 0.4}
    for name in ("aegis", "aegis-rs"):
        optimizer = started(name, 6)
        for trial in (optimizer.ask() for _ in range(20)):
            np.testing.assert_allclose(optimizer.space.to_unit(trial.x), points[trial.note["move"]])


# The first points


@pytest.mark.parametrize("d", [1, 2, 4, 5, 6])
def test_the_first_choice_exploits_and_the_rest_of_a_first_batch_explores(moves_are_free, d):
    moves = asked(started("aegis", d), 40)
    assert moves[0] == "exploit"
    assert set(moves[1:]) == EXPLORING


@pytest.mark.parametrize("end", ["tell", "fail", "observe"])
def test_a_result_ends_the_opening(moves_are_free, end):
    optimizer = started("aegis:epsilon=0.2", 3)
    assert set(asked(optimizer, 20)[1:]) == EXPLORING
    match end:
        case "tell":
            optimizer.tell(7, 1.0)
        case "fail":
            optimizer.fail(7, "diverged")
        case "observe":
            learn(optimizer, 0.7)
    moves = Counter(asked(optimizer, 40))
    assert set(moves) == EXPLORING | {"exploit"}
    assert moves["exploit"] > 20


def test_a_lost_trial_is_no_result(moves_are_free):
    optimizer = started("aegis:epsilon=0", 2)
    asked(optimizer, 3)
    optimizer.expire(1)
    assert set(asked(optimizer, 10)) <= EXPLORING


@pytest.mark.parametrize("d", [2, 4, 6])
def test_one_worker_exploits_first_and_then_by_the_coin(moves_are_free, d):
    optimizer = started("aegis", d)
    moves = []
    for _ in range(40):
        trial = optimizer.ask()
        moves.append(trial.note["move"])
        optimizer.tell(trial, 1.0)
        epsilon = by_sqrt(d)
        assert len(moves) == 1 or (moves[-1] == "exploit") == (trial.note["coin"] < 1 - epsilon)
    assert moves[0] == "exploit"
    assert ("exploit" in moves[1:]) == (d > 4)


@pytest.mark.parametrize(
    ("name", "first", "others"),
    [
        ("aegis-rs", "exploit", {"thompson", "uniform"}),
        ("aegis-no-ts", "exploit", {"pareto"}),
        ("aegis-no-pf", "exploit", {"thompson"}),
    ],
)
def test_the_opening_of_the_variants(moves_are_free, name, first, others):
    moves = asked(started(name, 6), 30)
    assert moves[0] == first
    assert set(moves[1:]) == others


def test_no_exploit_does_not_exploit_even_at_first(moves_are_free):
    firsts = set()
    for seed in range(20):
        optimizer = Optimizer(BOX[:2], strategy="aegis-no-exploit", seed=seed)
        for _ in range(4):
            optimizer.tell(optimizer.ask(), float(seed))
        firsts.add(optimizer.ask().note["move"])
    assert firsts == EXPLORING


def test_variants_are_aegis_with_one_thing_changed():
    for preset in ("paper", "modern"):
        assert resolve("aegis-no-ts", preset) == Aegis(preset=preset, gamma=0.0)
        assert resolve("aegis-no-pf", preset) == Aegis(preset=preset, gamma=1.0)
        assert resolve("aegis-no-exploit", preset) == Aegis(preset=preset, exploits=False)
        assert resolve("aegis-rs", preset) == Aegis(preset=preset, explore="uniform")
