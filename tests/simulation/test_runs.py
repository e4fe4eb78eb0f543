"""A simulated run: what is in the record, that runs are paired, and that processes change nothing."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aegisbo import Optimizer
from aegisbo.errors import AegisError, InvalidInput, UnknownName
from aegisbo.simulation import runs as simulation
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import LAWS
from aegisbo.simulation.many import answers
from aegisbo.simulation.problems import get
from aegisbo.simulation.runs import SimulatedRun, Spec, simulate

pytestmark = pytest.mark.long


def spec(**changes: Any) -> Spec:
    return Spec(**{"problem": "Branin", "strategy": "ei", "workers": 3, "budget": 20, "seed": 5, "run": 1} | changes)


@pytest.fixture(scope="module")
def record() -> SimulatedRun:
    return simulate(spec())


def without_seconds(record: SimulatedRun) -> SimulatedRun:
    return replace(record, evaluations=tuple(replace(each, suggestion_seconds=0.0) for each in record.evaluations))


def test_every_evaluation_is_there_once_with_its_value(record: SimulatedRun) -> None:
    branin = get("Branin")
    assert sorted(each.number for each in record.evaluations) == list(range(20))
    assert [each.value for each in record.evaluations] == [branin(each.x) for each in record.evaluations]
    finishes = [each.finish for each in record.evaluations]
    assert finishes == sorted(finishes)
    assert [each.number for each in record.evaluations] != list(range(20)), "nobody overtook: the test is too tame"


def test_scores_are_the_distance_of_the_best_so_far_in_order_of_completion(record: SimulatedRun) -> None:
    values = [each.value for each in record.evaluations]
    expected = [min(values[: k + 1]) - get("Branin").minimum for k in range(20)]
    assert record.scores.tolist() == expected
    assert [each["regret"] for each in record.describe()["evaluations"]] == expected


def test_without_a_known_minimum_the_score_is_the_value(record: SimulatedRun) -> None:
    values = [each.value for each in record.evaluations]
    unknown = replace(get("Branin"), minimum=None)
    assert unknown.scores(np.array(values)).tolist() == list(itertools.accumulate(values, min))
    assert {each["regret"] for each in replace(record, minimum=None).describe()["evaluations"]} == {None}


def test_initial_points_come_first_take_no_time_and_are_no_choice_of_the_strategy(record: SimulatedRun) -> None:
    initial, rest = record.evaluations[:4], record.evaluations[4:]
    assert [(each.number, each.move, each.start, each.finish) for each in initial] == [
        (number, "initial", 0, 0) for number in range(4)
    ]
    assert {each.move for each in rest} == {"ei"}
    assert min(each.finish - each.start for each in rest) > 0
    assert record.suggestion_seconds == [each.suggestion_seconds for each in rest]
    assert min(record.suggestion_seconds) > 0


def test_a_run_can_be_repeated_by_hand_with_its_seed(record: SimulatedRun) -> None:
    optimizer = Optimizer(get("Branin").bounds, strategy="ei", seed=record.describe()["run_seed"])
    assert [optimizer.ask().x.tolist() for _ in range(4)] == [list(each.x) for each in record.evaluations[:4]]


def test_use_of_workers_follows_from_the_times(record: SimulatedRun) -> None:
    assert record.makespan == max(each.finish for each in record.evaluations)
    busy = sum(each.finish - each.start for each in record.evaluations)
    assert record.utilization == pytest.approx(busy / (3 * record.makespan), rel=1e-12)
    edges = sorted({each.start for each in record.evaluations[4:]})
    running = [sum(each.start <= edge < each.finish for each in record.evaluations) for edge in edges]
    assert max(running) == 3


@pytest.mark.parametrize("run", [0, 3])
def test_strategies_share_initial_points_and_job_times(run: int) -> None:
    first, second = (simulate(spec(strategy=name, run=run)) for name in ("ei", "random"))
    by_number = [{each.number: each for each in record.evaluations} for record in (first, second)]
    for number in range(20):
        ours, theirs = by_number[0][number], by_number[1][number]
        assert (ours.start, ours.finish) == (theirs.start, theirs.finish)
        assert (ours.x == theirs.x) == (number < 4)


def test_a_suggestion_takes_its_time() -> None:
    """One worker: by definition each of the 16 choices delays it."""
    alone = spec(strategy="random", workers=1)
    plain = simulate(alone).makespan
    assert simulate(replace(alone, suggestion=0.01)).makespan == pytest.approx(plain + 16 * 0.01)


def test_job_times_are_those_of_the_law_for_the_seed_of_the_run() -> None:
    of_run = spec(strategy="random", law="pareto")
    workers = VirtualWorkers(abs, 3, LAWS["pareto"], of_run.run_seed, free=4)
    for each in simulate(of_run).evaluations:
        assert each.finish - each.start == pytest.approx(workers.seconds(each.number), abs=1e-12)


def test_runs_and_seeds_differ() -> None:
    starts = {simulate(spec(strategy="random", seed=s, run=r)).evaluations[0].x for s in (0, 1) for r in (0, 1)}
    assert len(starts) == 4


def test_random_is_one_latin_hypercube_of_all_that_follows_the_initial_points() -> None:
    points = sorted(simulate(spec(strategy="random", budget=24)).evaluations, key=lambda each: each.number)
    low, high = np.array(get("Branin").bounds).T
    for rows in (slice(4), slice(4, 24)):
        unit = (np.array([each.x for each in points[rows]]) - low) / (high - low)
        cells = np.floor(unit * len(unit))
        assert np.array_equal(np.sort(cells, axis=0), np.arange(len(unit))[:, None] * [1, 1])


def test_equal_specs_give_equal_records_in_any_number_of_processes(record: SimulatedRun) -> None:
    specs = [spec(strategy=name, run=run) for name in ("ei", "aegis") for run in (1, 2)]
    alone, together = ([without_seconds(each) for each in answers(simulate, specs, jobs)] for jobs in (1, 2))
    assert [each.spec for each in alone] == specs
    assert alone == together
    assert alone[0] == without_seconds(record)


def test_an_error_in_a_process_reaches_the_caller(tmp_path: Path) -> None:
    times = tmp_path / "seconds.txt"
    times.write_text("1 2 3")
    specs = [spec(strategy="random", law=str(times), run=run) for run in range(2)]
    times.unlink()
    with pytest.raises(UnknownName, match=r"law of job times .*seconds\.txt"):
        list(answers(simulate, specs, jobs=2))


def test_a_record_is_json(record: SimulatedRun) -> None:
    described = record.describe()
    stored = json.loads(json.dumps(described, allow_nan=False))
    assert {name: stored[name] for name in vars(record.spec)} == vars(record.spec)
    assert [tuple(each["x"]) for each in stored["evaluations"]] == [each.x for each in record.evaluations]


def test_a_problem_without_a_value_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(get("Branin"), function=lambda x: 1 / 0)
    monkeypatch.setattr(simulation, "get", lambda name: broken)
    with pytest.raises(AegisError, match=r"no value at \[.*division by zero"):
        simulate(spec(strategy="random"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"problem": "Brannin"}, "did you mean 'Branin'"),
        ({"strategy": "egis"}, "did you mean 'aegis'"),
        ({"strategy": "aegis:gamma=2"}, "gamma must be a number from 0 to 1"),
        ({"preset": "papr"}, "did you mean 'paper'"),
        ({"law": "pareta"}, "did you mean 'pareto'"),
        ({"budget": 4}, r"budget is 4: give at least 5 \(Branin starts with 4 initial points\)"),
        ({"workers": 0}, "workers is 0: give at least 1"),
        ({"seed": -1}, "seed is -1: give at least 0"),
        ({"run": -2}, "run is -2: give at least 0"),
        ({"suggestion": -0.1}, r"suggestion is -0\.1: give at least 0"),
        ({"suggestion": math.nan}, "suggestion is nan: give a number of seconds, at least 0"),
        ({"suggestion": math.inf}, "suggestion is inf: give a number of seconds, at least 0"),
        ({"workers": 2.5}, r"workers is 2\.5: give a whole number, at least 1"),
        ({"workers": "2"}, "workers is '2': give a whole number, at least 1"),
        ({"budget": 20.5}, r"budget is 20\.5: give a whole number, at least 5"),
        ({"seed": 1.5}, r"seed is 1\.5: give a whole number, at least 0"),
        ({"run": True}, "run is True: give a whole number, at least 0"),
        ({"law": 5}, "law is 5: give its name"),
        ({"problem": None}, "problem is None: give its name"),
        ({"problem": "Branin#2"}, "Branin is a single function: leave out the instance 2"),
    ],
)
def test_an_impossible_spec_is_refused_before_anything_runs(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        spec(**changes)


@pytest.fixture(scope="module")
def front_run() -> SimulatedRun:
    return simulate(spec(problem="ZDT2", strategy="aegis", budget=24))


def test_every_evaluation_has_its_objectives(front_run: SimulatedRun) -> None:
    problem = get("ZDT2")
    assert [each.objectives for each in front_run.evaluations] == [problem(each.x) for each in front_run.evaluations]
    assert {each.value for each in front_run.evaluations} == {None}
    assert {each.move for each in front_run.evaluations[10:]} > {"exploit"}


def test_scores_are_what_is_missing_of_the_front_in_order_of_completion(front_run: SimulatedRun) -> None:
    values = [tuple(each.objectives.values()) for each in front_run.evaluations]
    grid = np.linspace(0.0, 1.1, 5_501)  # along the first objective
    for k in (3, 15, 23):
        lowest = [min([b for a, b in values[: k + 1] if a <= edge and b < 1.1], default=1.1) for edge in grid[:-1]]
        covered = float(np.sum(1.1 - np.array(lowest))) * 1.1 / 5_500
        assert front_run.scores[k] == pytest.approx(1.0 - covered / (0.1 + 1 / 3 + 0.11), abs=2e-3)
    assert front_run.scores[-1] < 0.9, "nothing was found: the test is too tame"


def test_with_several_objectives_strategies_share_initial_points_and_job_times(front_run: SimulatedRun) -> None:
    other = simulate(spec(problem="ZDT2", strategy="random", budget=24))
    ours, theirs = ({each.number: each for each in record.evaluations} for record in (front_run, other))
    assert all((ours[k].x == theirs[k].x) == (k < 10) for k in range(24))
    assert [ours[k].finish for k in range(24)] == [theirs[k].finish for k in range(24)]


def test_a_record_of_several_objectives_is_json_with_gaps_and_the_front(front_run: SimulatedRun) -> None:
    stored = json.loads(json.dumps(front_run.describe(), allow_nan=False))
    assert stored["front"] == {
        "reference": {"f1": 1.1, "f2": 1.1},
        "hypervolume": pytest.approx(0.1 + 1 / 3 + 0.11),
    }
    assert [each["gap"] for each in stored["evaluations"]] == front_run.scores.tolist()
    assert stored["evaluations"][0]["objectives"] == front_run.evaluations[0].objectives
    assert not {"minimum", "value", "regret"} & {*stored, *stored["evaluations"][0]}


def test_a_record_of_one_number_has_nothing_of_it(record: SimulatedRun) -> None:
    stored = record.describe()
    assert not {"front", "objectives", "gap"} & {*stored, *stored["evaluations"][0]}


@pytest.mark.parametrize("strategy", ["ei", "kriging-believer", "local-penalization", "playbook"])
def test_a_strategy_for_one_number_is_refused(strategy: str) -> None:
    with pytest.raises(InvalidInput, match=r"objectives go with the strategies .* looks at one number only"):
        spec(problem="ZDT2", strategy=strategy)
