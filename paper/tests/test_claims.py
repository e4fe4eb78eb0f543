"""The rules for the paper's claims: its own tables must satisfy them, and tables that say the opposite must not."""

from __future__ import annotations

from functools import partial
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

    `shift` is added to the rank of AEGiS on each instance.
    """

    def __init__(
        self, counts: dict[str, int] | None = None, ranks: dict[str, Any] | None = None, shift: Any = EVEN
    ) -> None:
        self.replaced, self.ranks, self.shift = counts or {}, ranks, shift

    def table(self, study: str, workers: int) -> SimpleNamespace:
        counts = published_counts(study, workers)
        cells = published_table(study, workers)
        return SimpleNamespace(
            study=study,
            workers=workers,
            runs=(51, 51),
            strategies=tuple(counts),
            problems=names(),
            counts={each: self.replaced.get(each, count) for each, count in counts.items()},
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
        ("γ a little below", {"aegis:gamma=0.9": 15, "aegis:gamma=0.8": 15}),
        ("AEGiS and EI are about equal", {"ei": 6}),
        ("AEGiS and EI are about equal", {"thompson": 9}),
        ("suffers most without the Pareto set", {"aegis-no-ts": 2}),
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


def test_wins_and_losses_against_uniform_choice_are_counted_by_the_test() -> None:
    """The made-up runs are in the same order as the published medians on every function."""
    table = published_table("synthetic", 4)
    better = sum(table["aegis", each].median < table["aegis-rs", each].median for each in names())
    worse = sum(table["aegis", each].median > table["aegis-rs", each].median for each in names())
    first = judged("as good as AEGiS-RS", Published()).checks[0]
    assert first.numbers == (
        f"AEGiS 11 [11], AEGiS-RS 6 [6]; n = 51; AEGiS clearly better than AEGiS-RS on {better}, worse on {worse}"
    )


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
