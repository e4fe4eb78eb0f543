"""The deviations by name: what a preset says, that every method has them, and that none of them is the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from aegis_paper.reference.registry import ALL, NAMES, deviations_of, resolve
from aegis_paper.reference.search import OF_ACQUISITIONS, OF_PATHS, boltzmann_starts, improving_starts
from aegis_paper.runs import Spec

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.search.designs import sobol
from aegisbo.simulation.problems import get
from aegisbo.simulation.runs import SimulatedRun, simulate
from aegisbo.space.cube import Continuous, Cube
from aegisbo.strategies import registry
from aegisbo.strategies.base import Evidence

METHODS = (*registry.STRATEGIES, "aegis:epsilon=slower", "aegis:gamma=0.1", "aegis-rs:epsilon=faster,gamma=0.9")


def evidence(d: int = 3, n: int = 12) -> Evidence:
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    return Evidence(X, ((X - 0.3) ** 2).sum(axis=1), X[:0], rng.random((2, d)), Cube((Continuous(),) * d))


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("paper", set()),
        ("reference", ALL),
        ("reference:paths", {"paths"}),
        ("reference:paths+choice", {"paths", "choice"}),
        ("reference:all", ALL),
        ("reference:all-paths", ALL - {"paths"}),
        ("reference:all-search-pending", ALL - {"search", "pending"}),
    ],
)
def test_a_preset_names_its_deviations(preset: str, expected: set[str]) -> None:
    assert deviations_of(preset) == expected


@pytest.mark.parametrize(
    ("preset", "message"),
    [
        ("referense", "did you mean 'reference'"),
        ("paper:paths", "Unknown preset"),
        ("reference:path", "did you mean 'paths'"),
        ("reference:all-path", "did you mean 'paths'"),
        ("reference:paths-choice", "names no deviations"),
        ("reference:all-" + "-".join(NAMES), "names no deviations"),
        ("reference:", "Unknown deviation"),
    ],
)
def test_anything_else_is_refused(preset: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        deviations_of(preset)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_without_deviations_it_is_the_paper_bit_by_bit(method: str) -> None:
    ours, paper = resolve(method, 4, frozenset()), registry.resolve(method, "paper")
    memory, theirs = {}, {}
    for seed in range(3):
        chosen = ours.suggest(evidence(), memory, np.random.default_rng(seed))
        expected = paper.suggest(evidence(), theirs, np.random.default_rng(seed))
        np.testing.assert_array_equal(chosen.x, expected.x)
        assert (chosen.note, chosen.memory) == (expected.note, expected.memory)
        memory, theirs = chosen.memory, expected.memory


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "deviations"),
    [
        ("thompson", {"paths"}),
        ("thompson", {"search"}),
        ("aegis-no-pf", {"paths"}),
        ("aegis-no-pf", {"search"}),
        ("aegis-no-ts", {"pareto"}),
        ("kriging-believer", {"search"}),
        ("kriging-believer", {"improvement"}),
        ("playbook", {"search", "improvement"}),
    ],
)
def test_each_deviation_alone_changes_what_it_should(method: str, deviations: set[str]) -> None:
    memory = {"opened_at": 1, "choices": 99}  # the first batch is over; in three dimensions nothing is exploited
    for others in (frozenset(), ALL - {"choice", "pending"} - deviations):
        with_it, without = (
            resolve(method, 2, chosen).suggest(evidence(), memory, np.random.default_rng(3)).x
            for chosen in (others | deviations, others)
        )
        assert not np.array_equal(with_it, without)


def test_every_function_is_minimized_by_the_search_that_it_had() -> None:
    published: Any = {method: resolve(method, 2) for method in METHODS}
    assert published["aegis"].parts.search is OF_ACQUISITIONS  # of the posterior mean
    assert published["aegis"].parts.thompson.search is OF_PATHS
    assert published["thompson"].parts.thompson.search is OF_PATHS
    for method, starts in {
        "ei": improving_starts,
        "kriging-believer": improving_starts,
        "local-penalization": boltzmann_starts,
        "playbook": boltzmann_starts,
    }.items():
        search = published[method].inner.parts.search.search
        assert (search.spread, search.choose, search.candidates, search.starts) == (sobol, starts, 1000, 10)
    logarithm: Any = resolve("ei", 2, ALL - {"improvement"})
    assert logarithm.inner.parts.search is OF_ACQUISITIONS


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_run_as_published(method: str) -> None:
    strategy = resolve(method, 2)
    first, second = (strategy.suggest(evidence(), {}, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first.x, second.x)
    assert first.x.min() >= 0.0
    assert first.x.max() <= 1.0


def test_unknown_methods_and_parameters_are_refused_as_ever() -> None:
    with pytest.raises(UnknownName, match="did you mean 'aegis'"):
        resolve("egis", 4)
    with pytest.raises(InvalidInput, match="gamma must be a number from 0 to 1"):
        resolve("aegis:gamma=2", 4)


# In simulated runs


def record(**changes: Any) -> SimulatedRun:
    spec = {"problem": "Hartmann3", "strategy": "aegis", "preset": "reference", "workers": 3, "budget": 14}
    return simulate(Spec(**spec | changes))


def test_a_simulated_run_uses_the_published_problem_and_rule() -> None:
    run = record()
    standard = get("Hartmann3")
    assert run.minimum == -3.8631069415
    assert all(each.value != standard(each.x) for each in run.evaluations)
    assert {each.move for each in run.evaluations} == {"initial", "thompson", "pareto"}
    assert run.scores[-1] == min(abs(each.value - run.minimum) for each in run.evaluations)


@pytest.mark.long
def test_equal_specs_give_equal_runs_and_start_from_the_points_of_the_paper() -> None:
    first, second, paper = record(strategy="thompson"), record(strategy="thompson"), record(preset="paper", budget=7)
    assert [each.x for each in first.evaluations] == [each.x for each in second.evaluations]
    assert [each.x for each in first.evaluations[:6]] == [each.x for each in paper.evaluations[:6]]


def test_regret_folds_only_if_the_problem_is_the_published_one() -> None:
    run = record(preset="reference:choice", budget=8)
    for preset, score in (("reference:choice", -1.0), ("reference", 1.0)):
        problem = replace(run.spec, preset=preset).make_problem()
        assert problem.scores(np.array([problem.minimum - 1.0]))[-1] == pytest.approx(score)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"preset": "refrence"}, "did you mean 'reference'"), ({"strategy": "egis"}, "did you mean 'aegis'")],
)
def test_an_impossible_spec_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        record(**changes)
