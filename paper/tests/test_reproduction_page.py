"""The tables of docs/reproduction.md against the records and the paper's numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from aegis_paper import claim_rules
from aegis_paper.cli.factors import change_row, combination_rows
from aegis_paper.cost import measure, projected, runs_of_the_paper
from aegis_paper.effects import effects, grid
from aegis_paper.plans import load_plan
from aegis_paper.published import STRATEGIES, Published, paper_name, published, published_counts, published_table
from aegis_paper.rankings import read_ranking
from aegis_paper.records import Records
from aegis_paper.runs import Cell
from aegis_paper.scores import Results, ScoreTable
from aegis_paper.statistics import ENOUGH, chance, holm, marks, span, verdict
from pandas import DataFrame, Series
from scipy.stats import wilcoxon

from aegisbo.arrays import Array
from aegisbo.simulation.problems import dimension, names

pytestmark = pytest.mark.long  # the statistics of all records

PAPER = Path(__file__).parents[1]
PAGE = PAPER.joinpath("docs", "reproduction.md").read_text("utf-8")
RESULTS = Results(Records(PAPER / "records.sqlite"))
WORKERS = (1, 4, 8, 16)
SAMPLE_PATHS, PENDING = "What the sample paths changed", "What forgetting the pending points changed"


def table(heading: str, number: int = 0) -> list[dict[str, str]]:
    """The rows of a table in the section with this heading, by the names of the columns; code marks are left out."""
    section = PAGE.partition(f"# {heading}\n")[2].partition("\n##")[0].replace("`", "")
    block = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)[number]
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def finals(strategy: str, problem: str, preset: str, workers: int = 8) -> list[float]:
    return [*RESULTS.finals(Cell(problem, strategy, preset, workers)).values()]


def of_the_paper(strategy: str, problem: str, workers: int = 8) -> Published:
    """The first cell of the paper's tables on this method and problem."""
    found = (each for each in published() if (each.strategy, each.problem) == (strategy, problem))
    return next(each for each in found if each.workers == workers)


def assert_shows(text: str, value: float) -> None:
    """The text is the value, rounded to as many digits as it has."""
    digits = Decimal(text.split()[0])
    assert abs(float(digits) - value) <= 0.501 * 10.0 ** int(digits.as_tuple().exponent), (text, value)


def cells(heading: str) -> Iterator[tuple[dict[str, str], str, str, int]]:
    """The rows of a table of medians, with the method, the problem and the number of workers of each."""
    for row in table(heading):
        method, _, problem = row[""].partition(" on ")
        yield row, STRATEGIES[method], problem, int(row["workers"])


@pytest.mark.parametrize("heading", [SAMPLE_PATHS, PENDING])
def test_medians_are_those_of_the_records(heading: str) -> None:
    for row, strategy, problem, workers in cells(heading):
        assert_shows(row["published"], of_the_paper(strategy, problem, workers).median)
        for preset in [each for each in row if each.startswith(("paper", "reference"))]:
            runs = finals(strategy, problem, preset, workers)
            if runs:
                assert_shows(row[preset], float(np.median(runs)))
            else:
                assert row[preset] == ""


@pytest.mark.parametrize(("heading", "deviation"), [(SAMPLE_PATHS, "paths"), (PENDING, "pending")])
def test_one_deviation_agrees_where_it_was_tried(heading: str, deviation: str) -> None:
    for _, strategy, problem, workers in cells(heading):
        theirs = of_the_paper(strategy, problem, workers).median
        assert verdict(finals(strategy, problem, f"reference:{deviation}", workers), theirs) == "agrees"
        if deviation == "paths":
            assert verdict(finals(strategy, problem, "paper", workers), theirs) != "agrees"
            without = finals(strategy, problem, "reference:all-paths", workers)
            assert not without or verdict(without, theirs) != "agrees"


def test_every_disagreement_has_a_row() -> None:
    told = {tuple(cell) for heading in (SAMPLE_PATHS, PENDING) for _, *cell in cells(heading)}
    for cell in published():
        same_as_aegis = cell.study == "epsilon" and dimension(cell.problem) <= 4
        if cell.study == "gamma" or same_as_aegis:
            continue
        if verdict(finals(cell.strategy, cell.problem, "paper", cell.workers), cell.median) in ("lower", "higher"):
            assert (cell.strategy, cell.problem, cell.workers) in told


def test_chances_of_forgetting_are_those_of_the_test() -> None:
    chances = []
    for row, strategy, problem, workers in cells(PENDING):
        correct, forgetful = (
            RESULTS.finals(Cell(problem, strategy, preset, workers)) for preset in ("paper", "reference:pending")
        )
        pairs = [(correct[run], forgetful[run]) for run in correct.keys() & forgetful.keys()]
        assert len(pairs) >= ENOUGH
        chances.append(float(wilcoxon(*zip(*pairs, strict=True), alternative="less", method="exact").pvalue))
        assert_shows(row["p"], chances[-1])
    assert (len(chances), sum(p < 0.05 for p in chances), (holm(chances) < 0.05).sum()) == (16, 14, 7)


def test_every_median_of_aegis_is_that_of_the_records() -> None:
    rows = table("Agreement", 2)
    assert [row["AEGiS, 8 workers"] for row in rows] == [*names()]
    for row in rows:
        problem = row["AEGiS, 8 workers"]
        assert_shows(row["published (51 runs)"], of_the_paper("aegis", problem).median)
        for preset in ("paper", "reference"):
            assert_shows(row[f"{preset} (11)"], float(np.median(finals("aegis", problem, preset))))


def agreements(strategy: str, preset: str, row_of: str, workers: int = 8) -> int:
    """On how many functions the runs of one method agree with the published row of another, or of its own."""
    theirs = {problem: of_the_paper(row_of, problem, workers).median for problem in names()}
    runs = {problem: finals(strategy, problem, preset, workers) for problem in names()}
    return sum(verdict(runs[problem], median) == "agrees" for problem, median in theirs.items())


def methods_with(workers: int) -> set[str]:
    """The methods of the paper's tables for this number of workers, without the shares γ."""
    studies = ("sequential" if workers == 1 else "synthetic", "ablation", "epsilon")
    return {paper_name(each, study) for study in studies for each, _ in published_table(study, workers)}


def numbers_of_runs(strategy: str, workers: int) -> list[int]:
    """On each function; none if they are too few on some."""
    found = [len(finals(strategy, problem, "paper", workers)) for problem in names()]
    return found if min(found) >= ENOUGH else []


def test_agreements_of_aegis_with_the_rows_of_all_methods() -> None:
    rows = table("Agreement", 1)
    assert [row[""] for row in rows] == ["reference", "reference:paths", "paper"]
    for row in rows:
        methods = [each for each in row if each]
        assert len(methods) == 12
        assert [int(row[each]) for each in methods] == [
            agreements("aegis", row[""], STRATEGIES[each]) for each in methods
        ]


def test_agreements_of_all_methods_with_their_own_rows() -> None:
    rows = table("Agreement")
    assert [row.pop("workers") for row in rows] == [*map(str, WORKERS)]
    for workers, row in zip(WORKERS, rows, strict=True):
        runs = {method: numbers_of_runs(STRATEGIES[method], workers) for method in methods_with(workers)}
        assert row.pop("runs") == span(chain(*runs.values()))
        assert {method for method, text in row.items() if text} == methods_with(workers)
        for method, judged in runs.items():
            strategy = STRATEGIES[method]
            assert row[method] == (str(agreements(strategy, "paper", strategy, workers)) if judged else "–")


def clear_wins(winner: tuple[str, str], loser: tuple[str, str], workers: int = 8) -> list[str]:
    """The functions on which one strategy with its preset is clearly better than another."""
    both = {
        each: [Series(RESULTS.finals(Cell(each, *whose, workers))) for whose in (winner, loser)] for each in names()
    }
    return [problem for problem, (better, worse) in both.items() if chance(better, worse) < 0.05]


def test_clear_wins_and_losses_of_aegis_are_those_of_the_records() -> None:
    rows = table("Who is best", 1)
    assert [int(row["workers"]) for row in rows] == [*WORKERS, 8]
    for row in rows:
        preset, workers = row.pop("AEGiS :"), int(row.pop("workers"))
        assert {method for method, text in row.items() if text} == methods_with(workers) - {"AEGiS", "Random"}
        for method, text in row.items():
            strategy = STRATEGIES[method]
            if text == "–":
                assert not numbers_of_runs(strategy, workers)
            elif text:
                pair = ("aegis", preset), (strategy, "paper")
                won, lost = (len(clear_wins(*pair[::step], workers)) for step in (1, -1))
                assert text == f"{won} : {lost}", (workers, method)


def test_collapsed_paths_win_on_three_functions_and_lose_on_three() -> None:
    collapsed, correct = ("aegis", "reference:paths"), ("aegis", "paper")
    assert clear_wins(collapsed, correct) == ["Branin", "SixHumpCamel", "Rosenbrock7"]
    assert clear_wins(correct, collapsed) == ["Hartmann6", "Ackley10", "Michalewicz10"]


@pytest.mark.parametrize(
    ("strategy", "problem", "workers", "told"),
    [
        ("aegis:epsilon=faster", "GoldsteinPrice", 4, ("3.0", "0.27")),
        ("aegis:epsilon=slower", "GoldsteinPrice", 4, ("3.0", "0.27")),
        ("aegis-no-pf", "Branin", 16, ("0.00016", "0.00012")),
    ],
)
def test_medians_in_the_text_on_paths(strategy: str, problem: str, workers: int, told: tuple[str, str]) -> None:
    for preset, text in zip(("paper", "reference:paths"), told, strict=True):
        assert_shows(text, float(np.median(finals(strategy, problem, preset, workers))))


@pytest.mark.parametrize(
    ("heading", "study"), [("Who is best", "synthetic"), ("Ablations", "ablation"), ("Schedules", "epsilon")]
)
def test_counts_are_those_of_the_paper_and_of_the_records(heading: str, study: str) -> None:
    for row in table(heading):
        whose, workers = row.pop("best or equivalent, of 15 functions"), int(row.pop("workers"))
        ours = ScoreTable.read(RESULTS, load_plan(study), workers, "paper").counts
        counts = {"published": published_counts(study, workers), "ours": ours}[whose]
        assert {STRATEGIES[method]: int(text) for method, text in row.items()} == counts


def test_counts_with_aegis_of_its_code_follow_from_the_marks() -> None:
    presets = ("paper", "reference", "reference:paths")  # of AEGiS; all others do what the paper says
    for preset, row in zip(presets, table("Who is best", 2), strict=True):
        assert ("code" in row.pop("8 workers")) == (preset != "paper")
        methods = {STRATEGIES[method]: "paper" for method in row} | {"aegis": preset}
        on_functions = [
            marks(DataFrame({each: RESULTS.finals(Cell(problem, each, its, 8)) for each, its in methods.items()}))
            for problem in names()
        ]
        assert {STRATEGIES[method]: int(text) for method, text in row.items()} == {
            each: sum(bool(found[each]) for found in on_functions) for each in methods
        }


@pytest.mark.parametrize(("strategy", "told"), [("aegis", [11, 11, 9]), ("playbook", [13, 13, 12])])
def test_counts_from_eight_runs_are_those_of_the_text(strategy: str, told: list[int]) -> None:
    for workers, count in zip((4, 8, 16), told, strict=True):
        methods = [each for each, _ in published_table("synthetic", workers)]
        first = [
            marks(DataFrame({each: RESULTS.finals(Cell(problem, each, "paper", workers)) for each in methods}).loc[:7])
            for problem in names()
        ]
        assert sum(bool(found[strategy]) for found in first) == count


def test_what_a_user_gains_is_what_the_records_say() -> None:
    rows = table("What a user gains today")
    assert [row["8 workers"] for row in rows] == [*names()]
    rivals = {each for each, _ in published_table("synthetic", 8)}
    for row in rows:
        problem = row["8 workers"]
        medians = {each: float(np.median(finals(each, problem, "paper"))) for each in rivals}
        best = min(medians, key=lambda each: medians[each])
        name, _, text = row["best of the seven, paper"].rpartition(" ")
        assert STRATEGIES[name] == best
        assert_shows(text, medians[best])
        assert_shows(row["AEGiS, paper"], medians["aegis"])
        assert_shows(row["AEGiS, adaptive"], float(np.median(finals("aegis", problem, "adaptive"))))


def test_today_aegis_is_clearly_better_than_each_of_the_seven_on_most_functions() -> None:
    plan = load_plan("synthetic")
    ours = ScoreTable.read(RESULTS, plan, 8, "paper").beside("aegis", ScoreTable.read(RESULTS, plan, 8, "adaptive"))
    today = "AEGiS (adaptive)"
    assert ours.counts[today] == 15
    assert sum(ours.on(problem).median().idxmin() == today for problem in names()) == 14
    for rival in ours.strategies[:-1]:
        scores = [ours.on(problem) for problem in names()]
        assert sum(chance(each[today], each[rival]) < 0.05 for each in scores) in (13, 14)
        assert not any(chance(each[rival], each[today]) < 0.05 for each in scores)


def test_what_decides_is_what_the_records_say() -> None:
    changes, combinations = ([[*row.values()] for row in table("What decides", number)] for number in (0, 1))
    found = {workers: {effect.what: effect for effect in effects(RESULTS, workers)} for workers in (4, 16)}
    assert changes == [
        [what, str(workers), *change_row(found[workers][what])[1:]]
        for what in found[16]
        for workers in (4, 16)
        if what in found[workers]
    ]
    few, many = (combination_rows(grid(RESULTS, workers)) for workers in (4, 16))
    assert combinations == [[cell.strip() for cell in (*one, *other[2:])] for one, other in zip(few, many, strict=True)]


@pytest.mark.parametrize("workers", [4, 16])
def test_the_same_three_remain_with_the_correction(workers: int) -> None:
    told = {"pending: pessimistic", "epsilon: 0.1", "Kriging Believer instead of AEGiS"}
    tests = {effect.what: effect.p for effect in effects(RESULTS, workers) if not effect.what.endswith("in adaptive")}
    assert len(tests) == 7
    assert {what for what, p in zip(tests, holm([*tests.values()]), strict=True) if p < 0.05} == told


COLLAPSED, TEMPERED = (f"factors:paths={paths},pending=ignored" for paths in ("collapsed", "tempered"))


@pytest.mark.parametrize(
    ("strategy", "preset", "workers", "told"),
    [
        ("aegis", COLLAPSED, 4, {"Branin": "0.01", "Rosenbrock7": "0.2", "GoldsteinPrice": "0.05", "Hartmann6": "1.6"}),
        ("aegis", COLLAPSED, 16, {"Branin": "0.01", "Rosenbrock7": "0.5", "GoldsteinPrice": "0.6", "Hartmann6": "4"}),
        ("aegis", TEMPERED, 16, {"Ackley5": "2.5"}),
        ("aegis:epsilon=0.1", "paper", 4, {"Hartmann6": "12", "Ackley5": "6"}),
        ("aegis:epsilon=0.1", "paper", 16, {"Hartmann6": "34", "Ackley5": "6"}),
        ("ei", "paper", 4, {"Ackley5": "4", "Hartmann6": "4", "Branin": "0.2", "Rosenbrock7": "0.2"}),
        ("ei", "paper", 16, {"Hartmann6": "12", "GoldsteinPrice": "7"}),
    ],
)
def test_factors_on_single_functions_are_those_of_the_text(
    strategy: str, preset: str, workers: int, told: dict[str, str]
) -> None:
    for problem, text in told.items():
        assert_shows(text, float(np.exp(np.mean(log_ratios(strategy, preset, problem, workers)))))


def log_ratios(strategy: str, preset: str, problem: str, workers: int) -> Array:  # -> (runs,)
    """How the regret of a method compares with that of the paper's AEGiS, run by run."""
    changed = finals(strategy, problem, preset, workers)
    papers = finals("aegis", problem, "paper", workers)[: len(changed)]  # which has more runs
    return np.asarray(np.log(changed) - np.log(papers))


@pytest.mark.parametrize(
    ("strategy", "preset", "workers", "told"),
    [
        ("aegis", COLLAPSED, 4, "0.47"),
        ("aegis", COLLAPSED, 16, "1.17"),
        ("aegis", TEMPERED, 4, "0.67"),
        ("aegis", TEMPERED, 16, "0.73"),
        ("kriging-believer", "paper", 4, "0.46"),
        ("kriging-believer", "paper", 16, "0.71"),
    ],
)
def test_factors_without_branin_are_those_of_the_text(strategy: str, preset: str, workers: int, told: str) -> None:
    problems = [each for each in load_plan("factors").blocks[0].problems if each != "Branin"]
    ratios = [log_ratios(strategy, preset, problem, workers) for problem in problems]
    assert_shows(told, float(np.exp(np.mean(ratios))))


def test_pessimism_is_worse_than_ignoring_pending_points_in_every_combination() -> None:
    for workers, least, most in ((4, "1.0", "8"), (16, "3", "13")):
        found = grid(RESULTS, workers)
        factors = [
            found[setting].ratio / found[replace(setting, pending="ignored")].ratio
            for setting in found
            if setting.pending == "pessimistic"
        ]
        assert len(factors) == 6
        assert min(factors) > 1
        assert_shows(least, min(factors))
        assert_shows(most, max(factors))


@pytest.mark.parametrize(
    ("family", "workers", "ahead", "behind", "told"),
    [
        ("SVM", 8, "kriging-believer", "aegis", "0.03"),
        ("FC-NET", 4, "kriging-believer", "aegis", "0.009"),
        ("FC-NET", 8, "kriging-believer", "aegis", "0.02"),
        ("XGBoost", 4, "kriging-believer", "aegis", "0.03"),
        ("XGBoost", 8, "kriging-believer", "aegis", "0.04"),
        ("FC-NET", 4, "local-penalization", "aegis", "0.02"),
        ("FC-NET", 4, "playbook", "aegis", "0.02"),
        ("FC-NET", 8, "playbook", "aegis", "0.03"),
        ("XGBoost", 4, "thompson", "aegis", "0.13"),
        ("XGBoost", 8, "thompson", "aegis", "0.10"),
        ("XGBoost", 16, "thompson", "aegis", "0.55"),
        ("FC-NET", 4, "aegis", "aegis-rs", "0.03"),
        ("FC-NET", 8, "aegis", "aegis-rs", "0.002"),
        ("FC-NET", 16, "aegis", "aegis-rs", "0.003"),
        ("XGBoost", 8, "aegis", "aegis-rs", "0.02"),
        ("push4", 4, "kriging-believer", "aegis", "0.003"),
        ("push4", 4, "playbook", "aegis", "0.03"),
        ("push4", 4, "aegis-rs", "aegis", "0.01"),
        ("push4", 8, "kriging-believer", "aegis", "0.01"),
        ("push4", 8, "local-penalization", "aegis", "0.02"),
        ("push4", 8, "playbook", "aegis", "0.009"),
        ("push4", 8, "aegis", "thompson", "0.05"),
        ("push4", 8, "aegis", "aegis-rs", "0.005"),
        ("push8", 8, "kriging-believer", "aegis", "0.04"),
        ("push8", 16, "kriging-believer", "aegis", "0.002"),
        ("push8", 8, "aegis", "thompson", "0.003"),
        ("push8", 16, "aegis", "thompson", "0.01"),
    ],
)
def test_who_is_ahead_on_instances(family: str, workers: int, ahead: str, behind: str, told: str) -> None:
    first, second = (later_ranks(family, workers, each) for each in (ahead, behind))
    assert_shows(told, float(wilcoxon(first, second, alternative="less").pvalue))


def later_ranks(family: str, workers: int, strategy: str) -> Array:  # -> (instances,)
    """The average rank of a method on each instance, from 50 evaluations on."""
    plan = load_plan("push" if family.startswith("push") else "profet")
    ranking = read_ranking(RESULTS, plan, family, workers, "paper")
    assert ranking is not None
    return ranking.on_instances(strategy, slice(49, None))


def test_over_all_instances_of_tuning_three_methods_are_ahead_of_aegis() -> None:
    families, workers = ("SVM", "FC-NET", "XGBoost"), (4, 8, 16)
    told = {"kriging-believer": "0.0002", "playbook": "0.03", "thompson": "0.04", "local-penalization": "0.09"}
    ranks = {
        strategy: np.concatenate(
            [np.mean([later_ranks(family, each, strategy) for each in workers], axis=0) for family in families]
        )
        for strategy in ("aegis", *told)
    }
    aegis = ranks.pop("aegis")
    assert len(aegis) == 33
    for strategy, text in told.items():
        assert_shows(text, float(wilcoxon(ranks[strategy], aegis, alternative="less").pvalue))


@pytest.mark.parametrize(
    ("study", "families", "rule", "told"),
    [
        ("profet", ("SVM", "FC-NET", "XGBoost"), claim_rules.AHEAD_AFTER_FIFTY, None),
        ("profet", ("XGBoost",), claim_rules.THOMPSON_IS_BETTER, None),
        ("push", ("push4",), claim_rules.IMPROVEMENT_IS_BEST, True),
        ("push", ("push4",), claim_rules.AHEAD_OF_THOMPSON, None),
        ("push", ("push8",), claim_rules.OVERTAKES, None),
    ],
)
def test_eight_workers_alone_would_decide_one_claim(
    study: str, families: tuple[str, ...], rule: claim_rules.RankRule, told: bool | None
) -> None:
    rankings = [claim_rules.Evidence(RESULTS).ranking(study, family, 8) for family in families]
    assert all(ranking is not None and ranking.repeats == (3, 3) for ranking in rankings)
    answers = claim_rules.ahead([(ranking, pair) for ranking in rankings if ranking for pair in rule.pairs])
    count = len(rule.pairs)
    assert {rule.holds(answers[first : first + count]) for first in range(0, len(answers), count)} == {told}


def test_tempered_paths_in_adaptive_are_better_on_some_functions_and_worse_on_others() -> None:
    tempered = "factors:paths=tempered,pending=ignored,preset=adaptive"
    lower = {
        problem: sum(
            one < other
            for one, other in zip(
                finals("aegis", problem, tempered, 16), finals("aegis", problem, "adaptive", 16), strict=True
            )
        )
        for problem in ("Branin", "Rosenbrock7", "Ackley5")
    }
    assert lower == {"Branin": 5, "Rosenbrock7": 5, "Ackley5": 0}
    assert_shows("28", max(finals("aegis", "StyblinskiTang7", tempered, 16)))


def test_the_cost_of_the_whole_paper_is_what_the_records_say() -> None:
    paper = projected(runs_of_the_paper(), measure(RESULTS.records, "paper").seconds)
    (told,) = re.findall(r"The whole\npaper, ([\d,]+) runs, is projected to (\d+) core-hours", PAGE)
    assert told == (f"{paper.runs:,}", f"{paper.seconds / 3600:.0f}")
    assert f"{paper.measured / paper.runs:.0%}".replace("%", " %") in PAGE


def test_what_has_been_run_adds_up_to_the_records() -> None:
    section = PAGE.partition("## What has been run\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")][2:]
    total = sum(int(row[-1].replace(",", "")) for row in rows)
    assert f"\n{total:,} runs are on record" in section
    assert total == len(RESULTS.records.headers())
