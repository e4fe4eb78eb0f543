from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moving import KINDS, offer

from aegisbo import Choice, Int, Optimizer
from aegisbo.errors import SpaceExhausted
from aegisbo.space.cube import Continuous, Cube, Grid
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.duplicates import avoid_duplicates, is_taken
from aegisbo.strategies.registry import resolve

PLANE = Cube((Continuous(), Continuous()))
LENGTHSCALE = np.array([0.01, 2.0])
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def evidence_of(X, failed=(), pending=(), cube=PLANE) -> Evidence:
    X, failed, pending = (np.reshape(points, (-1, cube.width)).astype(float) for points in (X, failed, pending))
    return Evidence(X, X.sum(axis=1), failed, pending, cube)


def fallbacks(*pairs):
    """Named choices, and a list that fills with the names as they are used."""
    used = []

    def make(name, choices):
        def choose():
            used.append(name)
            return choices

        return name, choose

    return iter([make(name, choices) for name, choices in pairs]), used


# When a point is taken


@given(st.integers(0, 2**32), st.sampled_from([[0.3], [0.01, 2.0, 0.5]]))
def test_a_point_is_taken_within_a_ten_thousandth_of_the_length_scales(seed, lengthscale):
    rng = np.random.default_rng(seed)
    taken = rng.random((6, 3))
    directions = rng.normal(size=(30, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    lengths = 1e-4 * rng.uniform(0.5, 1.5, size=(30, 1))
    choices = taken[rng.integers(6, size=30)] + lengths * directions * lengthscale
    scales = np.broadcast_to(lengthscale, 3)
    nearest = [min(math.hypot(*((z - x) / scales)) for x in taken) for z in choices]
    assert [is_taken(z, taken, np.array(lengthscale)) for z in choices] == [distance < 1e-4 for distance in nearest]
    assert 0 < sum(distance < 1e-4 for distance in nearest) < 30


def test_nothing_is_taken_where_nothing_is_known():
    assert not is_taken(CORNERS[0], np.empty((0, 2)), LENGTHSCALE)


# What is chosen instead


def test_a_free_choice_is_kept_and_nothing_else_is_computed():
    others, used = fallbacks(("pareto", CORNERS))
    x, instead = avoid_duplicates(CORNERS, others, evidence_of([[0.5, 0.5]]), LENGTHSCALE, np.random.default_rng(0))
    np.testing.assert_array_equal(x, CORNERS[0])
    assert (instead, used) == (None, [])


@pytest.mark.parametrize("where", ["X", "failed", "pending"])
def test_the_next_choice_of_the_same_move_comes_first(where):
    evidence = evidence_of(**{"X": [[0.5, 0.5]], where: CORNERS[:2] + np.array([0, 1e-7])})
    others, used = fallbacks(("pareto", CORNERS))
    x, instead = avoid_duplicates(CORNERS, others, evidence, LENGTHSCALE, np.random.default_rng(0))
    np.testing.assert_array_equal(x, CORNERS[2])
    assert (instead, used) == ("next", [])


def test_the_next_choice_may_come_late():
    choices = np.random.default_rng(0).random((1000, 2))
    evidence = evidence_of(np.delete(choices, [700, 900], axis=0))
    x, instead = avoid_duplicates(choices, fallbacks()[0], evidence, LENGTHSCALE, np.random.default_rng(0))
    np.testing.assert_array_equal(x, choices[700])
    assert instead == "next"


def test_then_the_other_moves_in_their_order():
    evidence = evidence_of(CORNERS[:2], failed=CORNERS[2])
    others, used = fallbacks(("pareto", CORNERS[[2, 0]]), ("thompson", CORNERS[[1, 3, 2]]), ("never", CORNERS))
    x, instead = avoid_duplicates(CORNERS[:2], others, evidence, LENGTHSCALE, np.random.default_rng(0))
    np.testing.assert_array_equal(x, CORNERS[3])
    assert (instead, used) == ("thompson", ["pareto", "thompson"])


def test_then_random_points():
    others, used = fallbacks(("pareto", CORNERS[:1]))
    x, instead = avoid_duplicates(CORNERS, others, evidence_of(CORNERS), LENGTHSCALE, np.random.default_rng(0))
    assert (instead, used) == ("random", ["pareto"])
    assert not is_taken(x, CORNERS, LENGTHSCALE)


def test_the_last_point_of_a_large_grid_is_found_though_no_random_draw_hits_it():
    cube = Cube((Grid(1, 100), Grid(1, 100)))
    everything = cube.every_point
    last = everything[7123]
    x, instead = avoid_duplicates(
        everything[:1],
        fallbacks()[0],
        evidence_of(np.delete(everything, 7123, axis=0), cube=cube),
        np.array([1.0]),
        np.random.default_rng(0),
    )
    np.testing.assert_array_equal(x, last)
    assert instead == "random"


# Within a strategy


@pytest.mark.parametrize(
    ("move", "order"),
    [
        ("exploit", ["next", "pareto", "thompson", "random"]),
        ("thompson", ["next", "random"]),
        ("pareto", ["next", "thompson", "random"]),
        ("uniform", ["next", "pareto", "thompson", "random"]),
    ],
)
def test_moves_fall_back_in_their_order(monkeypatch, move, order):
    """Take one choice after the other; the note says what came instead."""
    offers = {"exploit": [0.1, 0.2], "thompson": [0.3, 0.4], "pareto": [0.5, 0.6], "uniform": [0.7, 0.8]}
    for name, places in offers.items():
        offer(monkeypatch, name, np.array([[u, u] for u in places]))
    monkeypatch.setattr(Aegis, "moves", lambda *_: (KINDS[move](),))
    strategy = resolve("aegis:guard=on", "paper")
    rng = np.random.default_rng(1)
    X, pending, seen = rng.random((5, 2)), [], []
    for _ in range(2 * len(order)):
        suggestion = strategy.suggest(evidence_of(X, pending=pending), {}, np.random.default_rng(0))
        assert suggestion.note["move"] == move
        seen.append(suggestion.note.get("guard"))
        pending.append(suggestion.x)
    assert list(dict.fromkeys(seen)) == [None, *order]
    assert len({tuple(x) for x in pending}) == len(pending)


def test_the_note_is_about_the_point_that_replaces(monkeypatch):
    X = np.random.default_rng(2).random((6, 2))
    taken, free = X[0], np.array([0.9, 0.05])
    offer(monkeypatch, "exploit", np.array([taken, free]))
    rngs = [np.random.default_rng(0) for _ in range(2)]
    on, off = (
        resolve(f"aegis:guard={switch}", "paper").suggest(evidence_of(X), {}, rng)
        for switch, rng in zip(("on", "off"), rngs, strict=True)
    )
    np.testing.assert_array_equal(on.x, free)
    np.testing.assert_array_equal(off.x, taken)
    assert "guard" not in off.note
    assert off.note["mean"] == pytest.approx(X[0].sum(), abs=0.01)  # where it was measured
    assert on.note["mean"] != off.note["mean"]
    assert on.note["std"] > 4 * off.note["std"]


@pytest.mark.parametrize("name", ["aegis", "aegis-rs", "thompson", "ei", "kriging-believer", "playbook"])
def test_a_small_space_is_used_up_without_repeating_a_point(name):
    space = {"a": Int(-1, 1), "b": Choice(["u", "v"]), "c": Int(2, 8, step=3)}
    optimizer = Optimizer(space, strategy=f"{name}:guard=on", seed=0)
    for number in range(18):
        trial = optimizer.ask()
        if number % 3:  # every third one never ends
            optimizer.tell(trial, float(trial.params["a"] ** 2 + trial.params["c"]))
    assert len({tuple(trial.params.values()) for trial in optimizer.trials}) == 18
    assert any("guard" in trial.note for trial in optimizer.trials)
    with pytest.raises(SpaceExhausted, match="All 18 points"):
        optimizer.ask()


def test_the_paper_preset_lets_points_repeat():
    optimizer = Optimizer([Int(0, 3), Int(0, 3)], strategy="ei", preset="paper", seed=0)
    for _ in range(12):
        trial = optimizer.ask()
        optimizer.tell(trial, float(sum(trial.x)))
    assert len({tuple(trial.x) for trial in optimizer.trials}) < 12
    assert not any("guard" in trial.note for trial in optimizer.trials)
