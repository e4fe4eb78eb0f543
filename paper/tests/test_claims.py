"""The rules for the paper's claims: its own tables must satisfy them, and tables that say the opposite must not."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from aegis_paper.claim_rules import Check, Evidence
from aegis_paper.claims import CLAIMS, Claim, Finding, Judgement, judge
from aegis_paper.plans import load_plan, plan_names
from aegis_paper.published import published_counts, published_table
from aegis_paper.rankings import Ranking
from aegis_paper.runs import Cell
from aegis_paper.scores import Curves, Results

from aegisbo.simulation.problems import names

METHODS = ("random", "thompson", "kriging-believer", "local-penalization", "playbook", "aegis-rs", "aegis")


EVEN = np.zeros(51)  # instances


class Published:
    """The paper's tables as evidence, with some counts replaced, and ranks that are made up.

    `shift` is added to the rank of AEGiS on each instance; `many` are further counts with 16 workers.
    """

    def __init__(
        self,
        counts: dict[str, int] | None = None,
        ranks: dict[str, Any] | None = None,
        shift: Any = EVEN,
        many: dict[str, int] | None = None,
    ) -> None:
        self.replaced, self.ranks, self.shift, self.many = counts or {}, ranks, shift, many or {}

    def table(self, study: str, workers: int, needed: object = None) -> SimpleNamespace:
        counts = published_counts(study, workers)
        replaced = self.replaced | (self.many if workers == 16 else {})
        cells = published_table(study, workers)
        return SimpleNamespace(
            study=study,
            workers=workers,
            runs=(51, 51),
            strategies=tuple(counts),
            problems=names(),
            counts={each: replaced.get(each, count) for each, count in counts.items()},
            on=partial(on, cells),
        )

    def ranking(self, study: str, family: str, workers: int) -> Ranking | None:
        if self.ranks is None:
            return None
        ranks = np.array([np.broadcast_to(self.ranks.get(each, 4.0), 200) for each in METHODS])
        by_instance = np.repeat(ranks[None], len(self.shift), axis=0)  # (instances, methods, 200)
        by_instance[:, METHODS.index("aegis")] += self.shift[:, None]
        return Ranking(family, workers, "paper", METHODS, by_instance, (20, 20))


def on(cells: dict[tuple[str, str], Any], problem: str) -> pd.DataFrame:
    """Eleven made-up runs around each published median."""
    medians = {strategy: cell.median for (strategy, other), cell in cells.items() if other == problem}
    return pd.DataFrame({strategy: median * 1.1 ** np.arange(11) for strategy, median in medians.items()})


def judged(words: str, evidence: Any) -> Judgement:
    (claim,) = (claim for claim in CLAIMS if words in claim.text)
    return judge(claim, evidence)


COUNTED = [claim for claim in CLAIMS if "ranks" not in claim.command]


@pytest.mark.parametrize("claim", COUNTED, ids=lambda claim: claim.text[:40])
def test_the_papers_own_tables_say_what_the_paper_says(claim: Claim) -> None:
    judgement = judge(claim, Published())
    assert judgement.finding is Finding.HOLDS, judgement.checks


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        ("on 10 of the 15", {"aegis": 9}),
        ("as good as AEGiS-RS", {"aegis-rs": 15}),
        ("lose little from 4 to 16", {"kriging-believer": 4, "local-penalization": 4, "playbook": 4, "aegis": 4}),
        ("three components", {"aegis-no-exploit": 15}),
        ("faster and a slower decay", {"aegis": 11}),
        ("With 16 workers", {"aegis:epsilon=faster": 9}),
        ("γ a little below", {"aegis": 15}),
        ("γ a little below", {"aegis:gamma=0.7": 15}),
        ("γ a little below", {"aegis:gamma=0.3": 13}),
        ("AEGiS and EI are about equal", {"ei": 6}),
        ("AEGiS and EI are about equal", {"thompson": 9}),
        ("loses much without the Pareto set", {"aegis-no-pf": 7, "aegis": 9}),  # about equal
        ("loses much without the Pareto set", {"aegis-no-pf": 3}),  # of 9, 12, 12 and 11: less with one worker
    ],
)
def test_other_counts_say_otherwise(words: str, counts: dict[str, int]) -> None:
    assert judged(words, Published(counts)).finding is Finding.FAILS


@pytest.mark.parametrize(
    ("count", "answers", "finding"),
    [
        (10, (True, True, True), Finding.HOLDS),
        (9, (None, None, True), Finding.PARTLY),
        (8, (False, False, None), Finding.FAILS),
    ],
)
def test_a_claim_may_hold_for_some_numbers_of_workers(
    count: int, answers: tuple[object, ...], finding: Finding
) -> None:
    """Published counts of No Exploit are 9, 9 and 8."""
    judgement = judged("three components", Published({"aegis": count, "aegis-no-pf": 0, "aegis-no-ts": 0}))
    assert [check.case for check in judgement.checks] == ["q = 4", "q = 8", "q = 16"]
    assert tuple(check.holds for check in judgement.checks) == answers
    assert judgement.finding is finding


def test_equal_counts_do_not_tell() -> None:
    counts = dict.fromkeys(("aegis", "aegis-no-exploit", "aegis-no-pf", "aegis-no-ts"), 15)
    assert judged("three components", Published(counts)).finding is Finding.UNDECIDED
    assert judged("γ a little below", Published({"aegis:gamma=0.7": 14})).finding is Finding.UNDECIDED


def test_the_loss_without_the_pareto_set_is_compared_with_every_number_of_workers() -> None:
    assert judged("loses much without the Pareto set", Published(many={"aegis-no-pf": 0})).finding is Finding.FAILS


def test_wins_and_losses_against_uniform_choice_are_counted_by_the_test() -> None:
    """The made-up runs are in the same order as the published medians on every function."""
    table = published_table("synthetic", 4)
    better = sum(table["aegis", each].median < table["aegis-rs", each].median for each in names())
    worse = sum(table["aegis", each].median > table["aegis-rs", each].median for each in names())
    first = judged("as good as AEGiS-RS", Published()).checks[0]
    assert first.numbers == (
        f"AEGiS 11 [11], AEGiS-RS 6 [6]; n = 51; AEGiS clearly better than AEGiS-RS on {better}, worse on {worse}; its "
        f"median is lower on {better}"
    )


class Against(Published):
    """AEGiS is lower than AEGiS-RS in so many runs of eleven on so many functions, and equal in all others."""

    def __init__(self, runs: int, functions: int) -> None:
        super().__init__(dict.fromkeys(("aegis", "aegis-rs"), 10))
        self.runs, self.functions = runs, functions

    def table(self, study: str, workers: int, needed: object = None) -> SimpleNamespace:
        table = super().table(study, workers)
        table.on = self.on
        return table

    def on(self, problem: str) -> pd.DataFrame:
        runs = self.runs if problem in names()[: self.functions] else 0
        uniform = np.arange(20.0, 31.0)
        return pd.DataFrame({"aegis": uniform - 10 * (np.arange(11) >= 11 - runs), "aegis-rs": uniform})


@pytest.mark.parametrize(
    ("runs", "functions", "finding"),
    [
        (0, 15, Finding.FAILS),  # one method under two names is not better
        (11, 7, Finding.FAILS),  # clearly better, but on less than half of the functions
        (11, 8, Finding.HOLDS),
        (4, 15, Finding.UNDECIDED),  # the median is lower everywhere, by 4 of 11 runs: 1/16
        (5, 15, Finding.HOLDS),  # 1/32
    ],
)
def test_mostly_better_is_more_than_half_of_the_functions(runs: int, functions: int, finding: Finding) -> None:
    assert judged("as good as AEGiS-RS", Against(runs, functions)).finding is finding


@pytest.mark.parametrize(
    ("few", "many", "holds"),
    [
        ({"aegis": 13, "playbook": 15}, {"aegis": 10, "playbook": 2}, False),  # those with EI lose much, AEGiS three
        ({"aegis": 12, "playbook": 15}, {"aegis": 10, "playbook": 2}, True),
        (
            {"aegis": 10},
            {"playbook": 4},
            False,
        ),  # AEGiS loses nothing, and those with EI five over three: little as well
        ({"thompson": 11}, {"thompson": 8}, False),
    ],
)
def test_little_is_what_is_called_about_equal(few: dict[str, int], many: dict[str, int], holds: bool) -> None:
    (check,) = judged("lose little", Published(few, many=many)).checks
    assert check.holds is holds


FALLING, RISING = np.linspace(7, 1, 200), np.linspace(1, 7, 200)


@pytest.mark.parametrize(
    ("words", "ranks", "finding"),
    [
        ("after about 50", {"aegis": 3.9}, Finding.HOLDS),
        ("after about 50", {"aegis": 3.9, "playbook": 3.8}, Finding.FAILS),
        ("TS is better", {"thompson": 3.0}, Finding.HOLDS),
        ("TS is better", {"aegis": 3.0}, Finding.FAILS),
        ("EI are the best", {"kriging-believer": 1.0, "local-penalization": 2.0, "playbook": 3.0}, Finding.HOLDS),
        ("EI are the best", {"kriging-believer": 1.0, "local-penalization": 2.0, "playbook": 5.0}, Finding.FAILS),
        ("push4: AEGiS is above TS", {"aegis": 3.0}, Finding.HOLDS),
        ("push4: AEGiS is above TS", {"thompson": 3.0}, Finding.FAILS),
        ("overtakes", {"aegis": FALLING}, Finding.HOLDS),
        ("overtakes", {"aegis": RISING}, Finding.FAILS),
        ("overtakes", {"aegis": 1.0}, Finding.FAILS),
    ],
)
def test_ranks(words: str, ranks: dict[str, Any], finding: Finding) -> None:
    assert judged(words, Published(ranks=ranks)).finding is finding


def test_ranks_that_differ_from_instance_to_instance_do_not_tell() -> None:
    """AEGiS is 0.1 ahead on average, but now two places better, now two worse."""
    uneven = np.resize([-2.0, 2.0], 11)
    for words, ahead in [
        ("after about 50", "aegis"),
        ("push4: AEGiS is above TS", "aegis"),
        ("TS is better", "thompson"),
    ]:
        assert judged(words, Published(ranks={ahead: 3.9}, shift=uneven)).finding is Finding.UNDECIDED
        assert judged(words, Published(ranks={ahead: 3.9}, shift=0.01 * uneven)).finding is Finding.HOLDS


class OneDifference:
    """Eleven instances of each family with 8 workers, all methods level but KB on SVM.

    It is ahead of AEGiS by 1, 2, ... 11 hundredths on them, and behind on those with the numbers in `lost`.
    """

    def __init__(self, lost: tuple[int, ...]) -> None:
        self.lost = lost

    def ranking(self, study: str, family: str, workers: int) -> Ranking | None:
        by_instance = np.full((11, len(METHODS), 200), 4.0)
        if family == "SVM":
            lead = [-number if number in self.lost else number for number in range(1, 12)]
            by_instance[:, METHODS.index("kriging-believer")] -= 0.01 * np.array(lead)[:, None]
        return Ranking(family, workers, "paper", METHODS, by_instance, (1, 1)) if workers == 8 else None


def chance_of(lost: tuple[int, ...]) -> float:
    """Of all ways to lose some of eleven instances, the share with ranks that sum up to no more, counted."""
    sums = [sum(each) for size in range(12) for each in combinations(range(1, 12), size)]
    return sum(each <= sum(lost) for each in sums) / len(sums)


@pytest.mark.parametrize("lost", [(), (3,), (1, 3), (6,), (10, 11)])
def test_the_tests_of_a_claim_are_corrected_for_their_number(lost: tuple[int, ...]) -> None:
    """Three families and three methods with expected improvement: of nine tests the smallest p counts nine times."""
    svm = judged("after about 50", OneDifference(lost)).checks[1]
    assert svm.case == "SVM, q = 8"
    assert svm.holds is (False if 9 * chance_of(lost) < 0.05 else None)
    assert {chance_of((6,)) < 0.05, 9 * chance_of((6,)) < 0.05} == {True, False}, "one of them needs the correction"


def test_the_crossing_is_named() -> None:
    """7 to 1 in 200 steps is below 4 from the 101st on, if the others stay at 4."""
    check = judged("overtakes", Published(ranks={"aegis": FALLING})).checks[0]
    assert check.numbers.startswith("behind for the last time after 100 evaluations; mean ranks from 100 on: AEGiS")
    assert check.numbers.endswith("n = 51 instances x 20")
    always = judged("overtakes", Published(ranks={"aegis": 1.0})).checks[0]
    assert always.numbers.startswith("never behind; ")


def test_what_has_not_been_run_is_said() -> None:
    judgement = judged("after about 50", Published())
    assert judgement.finding is Finding.OPEN
    assert judgement.checks[0] == Check("SVM, q = 4")
    assert len(judgement.checks) == 9


class Runs(Results):
    """So many equal runs of everything, but for one cell."""

    def __init__(self, runs: int, missing: str = "") -> None:
        self.runs, self.missing = runs, missing

    def curves(self, cell: Cell) -> Curves:
        return {} if cell.problem == self.missing else {run: np.ones(200) for run in range(self.runs)}


def test_evidence_needs_all_problems_and_enough_runs() -> None:
    assert Evidence(Runs(8)).table("epsilon", 8) is not None
    assert Evidence(Runs(7)).table("epsilon", 8) is None
    assert Evidence(Runs(8, missing="Ackley5")).table("epsilon", 8) is None
    assert Evidence(Runs(1)).ranking("push", "push4", 4) is not None


def test_every_claim_names_a_command_of_an_existing_plan() -> None:
    for claim in CLAIMS:
        program, what, *rest = claim.command.split()
        assert program == "aegis-paper"
        assert what in ("table", "figure")
        named = [word for word in rest if word in plan_names()]
        assert named, claim.command
        load_plan(named[0])
