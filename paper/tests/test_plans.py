"""Plans: those of the paper have its runs, and a plan that cannot be meant is refused."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from aegis_paper.plans import Plan, expanded, load_plan, parse_plan, plan_names
from aegis_paper.runs import Cell

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.simulation.problems import families, get, names
from aegisbo.strategies.registry import resolve

SMALL = """
purpose = "to try it out"
makes = ["nothing"]
[[block]]
problems = ["Branin", "Ackley5"]
methods = ["aegis", "random"]
workers = [2, 4]
runs = 3
budget = 25
[[block]]
problems = ["Ackley5"]
methods = ["thompson"]
workers = [2]
preset = "reference"
runs = 1
"""


@pytest.fixture
def small() -> Plan:
    return parse_plan("small", SMALL)


def own_runs(*plans: str) -> int:
    """Runs of the last plan that the others do not have."""
    others = {cell for name in plans[:-1] for cell in load_plan(name).cells()}
    return sum(runs for cell, runs in load_plan(plans[-1]).cells().items() if cell not in others)


@pytest.mark.parametrize(
    ("plans", "count"),
    [
        (["synthetic"], 16_065),
        (["sequential"], 3_825),
        (["synthetic", "sequential", "ablation"], 6_885 + 2_295),
        (["synthetic", "sequential", "epsilon"], 6_120 - 2 * 5 * 4 * 51),  # up to d = 4 the schedules are one
        (["synthetic", "gamma"], 22_950),
        (["synthetic", "ablation", "gamma"], 22_950 - 2 * 15 * 3 * 51),  # 0 and 1 are variants of the ablation
        (["synthetic", "profet"], 107_100 * 3 // 5),
        (["synthetic", "push"], 107_100 * 2 // 5),
    ],
)
def test_the_plans_have_the_runs_of_the_paper(plans: list[str], count: int) -> None:
    assert own_runs(*plans) == count


@pytest.mark.parametrize("name", ["synthetic", "sequential", "ablation", "epsilon", "gamma", "profet", "push"])
def test_the_paper_has_one_setting_for_all(name: str) -> None:
    settings = {(cell.preset, cell.budget, cell.law, cell.seed) for cell in load_plan(name).cells()}
    assert settings == {("paper", 200, "half-normal", 0)}


def test_the_campaign_is_the_paper_with_eight_workers_and_eleven_runs() -> None:
    cells = load_plan("campaign").cells()
    assert set(cells.values()) == {11}
    mine = {cell for cell in cells if cell.preset == "paper"}
    theirs = {cell for name in ("synthetic", "ablation", "epsilon") for cell in load_plan(name).cells()}
    assert mine == {cell for cell in theirs if cell.workers == 8}
    of_the_code = Counter(cell.strategy for cell in cells if cell.preset == "reference")
    assert of_the_code == {"aegis": 15, "kriging-believer": 5, "thompson": 5}
    assert {cell.workers for cell in cells} == {8}


@pytest.mark.long
@pytest.mark.parametrize("name", plan_names())
def test_every_run_of_a_shipped_plan_is_possible(name: str) -> None:
    plan = load_plan(name)
    assert plan.purpose
    assert plan.makes
    assert [cell for cell in plan.cells() if Cell.of(cell.spec(50)) != cell] == []


def test_left_out_runs_are_the_same_algorithm() -> None:
    assert resolve("aegis:gamma=0", "paper") == resolve("aegis-no-ts", "paper")
    assert resolve("aegis:gamma=1", "paper") == resolve("aegis-no-pf", "paper")
    assert resolve("aegis:gamma=0.5", "paper") == resolve("aegis", "paper") != resolve("aegis:gamma=0.4", "paper")
    schedules = [resolve(f"aegis:epsilon={name}", "paper").exploration for name in ("sqrt", "faster", "slower")]
    in_plan = {cell.problem for cell in load_plan("epsilon").cells() if cell.strategy != "aegis"}
    for problem in names():
        d = get(problem).d
        shares = {schedule(d) for schedule in schedules}
        assert len(shares) == (3 if problem in in_plan else 1)
        assert math.isclose(schedules[0](d), min(1, 2 / math.sqrt(d)))


def test_run_numbers_come_before_everything_else(small: Plan) -> None:
    runs = [spec.run for spec in small.specs()]
    assert runs == [0] * 9 + [1] * 8 + [2] * 8
    assert len(set(small.specs())) == len(runs) == sum(small.cells().values())


def test_a_block_is_all_combinations(small: Plan) -> None:
    first = [cell for cell in small.cells() if cell.preset == "paper"]
    assert len(first) == 2 * 2 * 2
    assert Cell("Ackley5", "random", "paper", 4, budget=25) in first
    assert Cell("Ackley5", "thompson", "reference", 2) in small.cells()


def test_a_cell_in_two_blocks_has_the_more_runs() -> None:
    block = '[[block]]\nproblems = ["Branin"]\nmethods = ["ei"]\nworkers = [1]\nruns = {}\n'
    assert list(parse_plan("twice", block.format(7) + block.format(2)).cells().values()) == [7]


def test_choices_narrow_a_plan(small: Plan) -> None:
    only = small.only({"problems": ["Ackley5"], "methods": ["thompson", "random"], "workers": [2]})
    assert [(cell.problem, cell.strategy, cell.workers) for cell in only.cells()] == [
        ("Ackley5", "random", 2),
        ("Ackley5", "thompson", 2),
    ]
    assert small.only({"problems": [], "methods": [], "workers": []}).cells() == small.cells()


def test_choices_outside_the_plan_are_refused(small: Plan) -> None:
    with pytest.raises(UnknownName, match="the problems of plan small 'Brannin': did you mean 'Branin'"):
        small.only({"problems": ["Brannin"]})
    with pytest.raises(UnknownName, match="the workers of plan small '8': known: 2, 4"):
        small.only({"workers": [8]})
    with pytest.raises(UnknownName, match="the problems of plan push 'push4#9-8'"):
        load_plan("push").only({"problems": ["push4#9-8"]})
    with pytest.raises(InvalidInput, match="Plan small has no runs with all of these choices"):
        small.only({"problems": ["Branin"], "methods": ["thompson"]})


def test_settings_for_all_blocks(small: Plan) -> None:
    changed = small.with_all(preset="reference", runs=5).cells()
    assert {cell.preset for cell in changed} == {"reference"}
    assert set(changed.values()) == {5}


def test_groups_of_problems_are_expanded() -> None:
    assert expanded(["synthetic"]) == names()
    assert expanded(["push4#9-11", "push4#11", "Branin"]) == ("push4#9", "push4#10", "push4#11", "Branin")
    for family in families():
        assert expanded([family.name]) == tuple(f"{family.name}#{number}" for number in range(1, 52))


def test_a_plan_may_be_anybodys_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SMALL)
    assert load_plan(str(file)).cells() == parse_plan("mine", SMALL).cells()
    assert load_plan(str(file)).name == "mine"
    with pytest.raises(InvalidInput, match=r"yours\.toml cannot be read: No such file"):
        load_plan(str(tmp_path / "yours.toml"))
    with pytest.raises(UnknownName, match="Unknown plan 'synthetc': did you mean 'synthetic'"):
        load_plan("synthetc")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("[2, 4]", "[2, 4", "Plan bad is no TOML: "),
        ("purpose", "purpos", "Unknown key of plan bad 'purpos': did you mean 'purpose'"),
        ("budget", "bugdet", "Unknown key in a block of plan bad 'bugdet': did you mean 'budget'"),
        ("runs = 3", "runs = true", "runs = True in plan bad: give a whole number from 0"),
        ("runs = 3", "runs = -1", "runs = -1 in plan bad: give a whole number from 0"),
        ("[2, 4]", "4", "workers = 4 in plan bad: give a list of whole numbers"),
        ("[2, 4]", '["2"]', r"workers = \['2'\] in plan bad: give a list of whole numbers"),
        ('"reference"', "3", "preset = 3 in plan bad: give a text"),
        ('methods = ["thompson"]', "", "A block of plan bad lacks methods: name at least one"),
        ('["thompson"]', "[]", "A block of plan bad lacks methods: name at least one"),
        (SMALL, 'purpose = "none"', "Plan bad has no runs: add a "),
        (SMALL, "block = []", "Plan bad has no runs: add a "),
        (SMALL, "block = 3", "Plan bad has no runs: add a "),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(before: str, after: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse_plan("bad", SMALL.replace(before, after))
