"""Pending points are seen in the first batch and never again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from aegis_paper.reference.registry import resolve

from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies import registry
from aegisbo.strategies.base import Evidence

METHODS = ("kriging-believer", "local-penalization", "playbook")
PENDING = frozenset({"pending"})


@pytest.fixture
def evidence() -> Evidence:
    rng = np.random.default_rng(0)
    X = rng.random((8, 2))
    y = np.sin(6 * X[:, 0]) + (X[:, 1] - 0.4) ** 2
    return Evidence(X, y, np.empty((0, 2)), rng.random((3, 2)), Cube((Continuous(), Continuous())))


@pytest.mark.parametrize("method", METHODS)
def test_in_the_first_batch_nothing_differs_from_the_paper(method: str, evidence: Evidence) -> None:
    ours, paper = resolve(method, 4, PENDING), registry.resolve(method, "paper")
    memory, theirs = {}, {}
    for seed in range(3):
        chosen = ours.suggest(evidence, memory, np.random.default_rng(seed))
        expected = paper.suggest(evidence, theirs, np.random.default_rng(seed))
        np.testing.assert_array_equal(chosen.x, expected.x)
        memory, theirs = chosen.memory, expected.memory
        evidence = replace(evidence, pending=np.vstack([evidence.pending, chosen.x]))


@pytest.mark.parametrize("method", METHODS)
def test_afterwards_it_is_expected_improvement_on_completed_points(method: str, evidence: Evidence) -> None:
    ours, ei = resolve(method, 4, PENDING), registry.resolve("ei", "paper")
    memory = ours.suggest(evidence, {}, np.random.default_rng(0)).memory
    best = ei.suggest(evidence, {}, np.random.default_rng(9)).x
    later = Evidence(
        np.vstack([evidence.X, [0.11, 0.93]]), np.append(evidence.y, 0.8), evidence.failed, best[None], evidence.cube
    )
    warm = {name: memory[name] for name in ("phi", "seen", "fit")}
    chosen = ours.suggest(later, memory, np.random.default_rng(1)).x
    blind = ei.suggest(replace(later, pending=evidence.pending[:0]), warm, np.random.default_rng(1)).x
    np.testing.assert_array_equal(chosen, blind)
    seeing = registry.resolve(method, "paper").suggest(later, warm, np.random.default_rng(1)).x
    assert np.linalg.norm(seeing - blind) > 1e-3, "the pending point would not have mattered"


def test_a_failure_ends_the_first_batch_too(evidence: Evidence) -> None:
    ours = resolve("kriging-believer", 4, PENDING)
    memory = ours.suggest(evidence, {}, np.random.default_rng(0)).memory
    later = replace(evidence, failed=evidence.pending[:1])
    shown, hidden = (
        ours.suggest(each, memory, np.random.default_rng(1)).x for each in (later, replace(later, pending=later.X[:0]))
    )
    np.testing.assert_array_equal(shown, hidden)
