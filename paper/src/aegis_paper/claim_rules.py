"""The rules by which our records are asked about the paper's claims: case by case, and only with enough runs.

Counts are of the fifteen functions on which a method is best or equivalent to the best, within its study.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import mean

import numpy as np

from aegis_paper.plans import load_plan
from aegis_paper.published import paper_name, published_counts
from aegis_paper.rankings import Ranking, read_ranking
from aegis_paper.scores import Results, ScoreTable
from aegis_paper.statistics import ENOUGH, LEVEL, chance, holm, span
from aegisbo.simulation.comparison import compare

Answer = tuple[bool | None, str]  # whether a claim holds in a case, None if that cannot be told, and the numbers

SEVERAL = (4, 8, 16)  # the paper's numbers of workers, apart from one
IMPROVING = ("kriging-believer", "local-penalization", "playbook")  # the methods that use expected improvement
OTHERS = ("random", "thompson", "aegis-rs", "aegis")  # the methods beside them in the plans with instances
LATER = slice(49, None)  # from 50 evaluations on
CLOSE = 2  # counts that differ by no more are called about equal
LESS_THOMPSON, MORE_THOMPSON = "aegis:gamma=0.3", "aegis:gamma=0.7"  # one half is AEGiS, none and all are ablations
MOSTLY = 0.5  # of the functions: "generally" and "mostly" say at least that it is so on more than half of them


@dataclass(frozen=True)
class Check:
    """A claim in one case, such as one number of workers, and the numbers behind the answer."""

    case: str
    holds: bool | None = None  # None: the runs do not tell
    numbers: str = ""  # without any, it has not been run


@dataclass(frozen=True)
class Evidence:
    """The records of one preset, as far as they suffice for a judgement."""

    results: Results
    preset: str = "paper"

    def table(self, study: str, workers: int, needed: Collection[str] | None = None) -> ScoreTable | None:
        """The table of a study; None unless every method, or each of those needed, has enough runs on every problem."""
        table = ScoreTable.read(self.results, load_plan(study), workers, self.preset)
        if needed is not None:
            table = table.only([each for each in table.strategies if each in needed])
        return table if table.complete == table.problems and table.runs[0] >= ENOUGH else None

    def ranking(self, study: str, family: str, workers: int) -> Ranking | None:
        """The average ranks on a family of problems; None unless every method has run enough of its instances."""
        ranking = read_ranking(self.results, load_plan(study), family, workers, self.preset)
        return ranking if ranking is not None and ranking.instances >= ENOUGH else None


def with_workers(
    study: str, numbers: Sequence[int], rule: Callable[[ScoreTable], Answer]
) -> Callable[[Evidence], Iterator[Check]]:
    """Ask a rule about the table for each number of workers."""

    def checks(evidence: Evidence) -> Iterator[Check]:
        for workers in numbers:
            table = evidence.table(study, workers)
            yield Check(f"q = {workers}", *(rule(table) if table else ()))

    return checks


@dataclass(frozen=True)
class Pair:
    """Two methods, of which the one is said to have the lower average rank over some numbers of evaluations."""

    one: str
    other: str
    when: slice


@dataclass(frozen=True)
class RankRule:
    """A rule about average ranks: who is said to be ahead of whom, and whether it holds if those pairs come out so."""

    pairs: tuple[Pair, ...]
    holds: Callable[[Sequence[bool | None]], bool | None]
    numbers: Callable[[Ranking], str]


def on_families(study: str, families: Sequence[str], rule: RankRule) -> Callable[[Evidence], Iterator[Check]]:
    """Ask a rule about the average ranks on each family of problems, for each number of workers.

    All pairs of the claim are tested together: of many tests one would soon tell a difference by luck.
    """

    def checks(evidence: Evidence) -> Iterator[Check]:
        cases = [(family, workers) for family in families for workers in SEVERAL]
        rankings = {case: evidence.ranking(study, *case) for case in cases}
        answers = iter(ahead([(ranking, pair) for ranking in rankings.values() if ranking for pair in rule.pairs]))
        for (family, workers), ranking in rankings.items():
            case = f"{family}, q = {workers}"
            if ranking is None:
                yield Check(case)
            else:
                yield Check(case, rule.holds([*islice(answers, len(rule.pairs))]), rule.numbers(ranking))

    return checks


def ahead(tests: Sequence[tuple[Ranking, Pair]]) -> list[bool | None]:
    """Whether the one of each pair has the lower average rank; None if luck with the instances could do as much.

    Wilcoxon's test over the instances in either direction, with Holm's correction for all tests of that direction.
    """
    found = [
        compare(ranking.on_instances(pair.one, pair.when), ranking.on_instances(pair.other, pair.when))
        for ranking, pair in tests
    ]
    better = holm([1.0 if each.p_better is None else each.p_better for each in found])
    worse = holm([1.0 if each.p_worse is None else each.p_worse for each in found])
    return [True if p < LEVEL else False if q < LEVEL else None for p, q in zip(better, worse, strict=True)]


def best_on_ten(table: ScoreTable) -> Answer:
    """AEGiS reaches the count that the paper names."""
    return table.counts["aegis"] >= 10, _counts(table, table.strategies)


def mostly_better_than_uniform_choice(table: ScoreTable) -> Answer:
    """AEGiS is not behind AEGiS-RS, in counts or clear wins, and is clearly better on most functions.

    If only its median is lower on most of them, better runs or luck are not told apart.
    """
    won, lost = _clear_wins(table, "aegis", "aegis-rs"), _clear_wins(table, "aegis-rs", "aegis")
    lower = sum(scores["aegis"].median() < scores["aegis-rs"].median() for scores in map(table.on, table.problems))
    level = won >= lost and table.counts["aegis"] >= table.counts["aegis-rs"]
    most = MOSTLY * len(table.problems)
    mostly = True if won > most else None if lower > most else False
    numbers = (
        f"{_counts(table, ('aegis', 'aegis-rs'))}; {_against(table, ['aegis-rs'])}; its median is lower on {lower}"
    )
    return _all([level, mostly]), numbers


def losses_with_more_workers(evidence: Evidence) -> Iterator[Check]:
    """From 4 to 16 workers AEGiS and TS lose no more than is about equal, the methods with EI more on average."""
    few, many = evidence.table("synthetic", 4), evidence.table("synthetic", 16)
    case = "q = 4 to 16"
    if few is None or many is None:
        yield Check(case)
        return
    lost = {strategy: few.counts[strategy] - many.counts[strategy] for strategy in few.strategies}
    holds = max(lost["aegis"], lost["thompson"]) <= CLOSE < mean(lost[each] for each in IMPROVING)
    numbers = (f"with {table.workers} {_counts(table, table.strategies)}" for table in (few, many))
    yield Check(case, holds, "; ".join(numbers))


def best_of_study(table: ScoreTable) -> Answer:
    """AEGiS has a higher count than every variant of it."""
    variants = [strategy for strategy in table.strategies if strategy != "aegis"]
    leads = _above(table.counts["aegis"], max(table.counts[each] for each in variants))
    return leads, f"{_counts(table, table.strategies)}; {_against(table, variants)}"


def little_difference(table: ScoreTable) -> Answer:
    """The counts of all methods are about equal."""
    counts = table.counts.values()
    return max(counts) - min(counts) <= CLOSE, _counts(table, table.strategies)


def less_thompson_is_better(evidence: Evidence) -> Iterator[Check]:
    """γ a little below one half is no worse than it, γ as far above it is worse.

    The paper has eleven shares and the mean over 4, 8 and 16 workers; here five shares with 8 workers decide.
    """
    table = evidence.table("gamma", 8, ("aegis-no-ts", LESS_THOMPSON, "aegis", MORE_THOMPSON, "aegis-no-pf"))
    if table is None:
        yield Check("q = 8")
        return
    less, half, more = (table.counts[each] for each in (LESS_THOMPSON, "aegis", MORE_THOMPSON))
    numbers = f"{_counts(table, table.strategies)}; {_against(table, (LESS_THOMPSON, MORE_THOMPSON))}"
    yield Check("q = 8", _all([less >= half, _above(half, more)]), numbers)


def as_good_as_improvement(table: ScoreTable) -> Answer:
    """AEGiS and EI are about equal, and both above TS and AEGiS-RS."""
    counts = table.counts
    close = abs(counts["aegis"] - counts["ei"]) <= CLOSE
    above = min(counts["aegis"], counts["ei"]) > max(counts["thompson"], counts["aegis-rs"])
    return close and above, _counts(table, table.strategies)


def loss_without_pareto_set(evidence: Evidence) -> Iterator[Check]:
    """With one worker AEGiS loses more than is about equal, and a larger share of its count than with more workers."""
    asked = (1, *SEVERAL)
    tables = [table for workers in asked if (table := evidence.table("ablation", workers)) is not None]
    case = "q = 1"
    if len(tables) < len(asked):
        yield Check(case)
        return
    counts = [(table.counts["aegis-no-pf"], table.counts["aegis"]) for table in tables]
    much = counts[0][1] - counts[0][0] > CLOSE
    one, *several = (without / max(1, whole) for without, whole in counts)
    numbers = (f"with {table.workers} {_counts(table, ('aegis-no-pf', 'aegis'))}" for table in tables)
    yield Check(case, _all([much, _above(min(several), one)]), "; ".join(numbers))


def _ahead_of_improvement(when: slice) -> tuple[Pair, ...]:
    return tuple(Pair("aegis", each, when) for each in IMPROVING)


def _overtakes(answers: Sequence[bool | None]) -> bool | None:
    """Early not ahead of all, later ahead of all."""
    early, later = _all(answers[: len(IMPROVING)]), _all(answers[len(IMPROVING) :])
    return _all([None if early is None else not early, later])


def _crossing(ranking: Ranking) -> str:
    best = np.min([ranking.of(each) for each in IMPROVING], axis=0)
    times = np.flatnonzero(ranking.of("aegis") > best) + 1  # numbers of evaluations
    last = f"behind for the last time after {times[-1]} evaluations" if len(times) else "never behind"
    return f"{last}; {_ranks(ranking, 100)}"


def _all(answers: Iterable[bool | None]) -> bool | None:
    """Whether all hold; one that does not decides, one that cannot be told leaves it open."""
    given = [*answers]
    return False if False in given else None if None in given else True


def _above(count: float, other: float) -> bool | None:
    """Equal counts do not tell."""
    return count > other if count != other else None


def _counts(table: ScoreTable, strategies: Sequence[str]) -> str:
    theirs = published_counts(table.study, table.workers)
    ours = (f"{paper_name(each, table.study)} {table.counts[each]} [{theirs[each]}]" for each in strategies)
    return f"{', '.join(ours)}; n = {span(table.runs)}"


def _against(table: ScoreTable, others: Sequence[str]) -> str:
    listed = (
        f"than {paper_name(each, table.study)} on {_clear_wins(table, 'aegis', each)}, worse on "
        f"{_clear_wins(table, each, 'aegis')}"
        for each in others
    )
    return f"AEGiS clearly better {'; '.join(listed)}"


def _clear_wins(table: ScoreTable, winner: str, loser: str) -> int:
    """On how many problems the one is better by the test, without correction: it is one pair."""
    tables = map(table.on, table.problems)
    return sum(chance(scores[winner], scores[loser]) < LEVEL for scores in tables)


def _ranks(ranking: Ranking, first: int) -> str:
    means = {each: float(ranking.of(each)[first - 1 :].mean()) for each in ranking.strategies}
    ordered = sorted(means.items(), key=lambda item: item[1])
    listed = ", ".join(f"{paper_name(strategy, 'synthetic')} {rank:.2f}" for strategy, rank in ordered)
    runs = f"{ranking.instances} instances x {span(ranking.repeats)}"
    return f"mean ranks from {first} on: {listed}; n = {runs}"


def _ranks_from_fifty(ranking: Ranking) -> str:
    return _ranks(ranking, 50)


# From 50 evaluations on AEGiS is ahead of each method with expected improvement.
AHEAD_AFTER_FIFTY = RankRule(_ahead_of_improvement(LATER), _all, _ranks_from_fifty)
# From 50 evaluations on TS is ahead of AEGiS.
THOMPSON_IS_BETTER = RankRule((Pair("thompson", "aegis", LATER),), _all, _ranks_from_fifty)
# From 50 evaluations on AEGiS is ahead of TS.
AHEAD_OF_THOMPSON = RankRule((Pair("aegis", "thompson", LATER),), _all, _ranks_from_fifty)
# From 50 evaluations on each method with expected improvement is ahead of any other.
IMPROVEMENT_IS_BEST = RankRule(
    tuple(Pair(each, other, LATER) for each in IMPROVING for other in OTHERS), _all, _ranks_from_fifty
)
# Up to 50 evaluations a method with expected improvement is ahead of AEGiS, from 100 on none.
OVERTAKES = RankRule(
    _ahead_of_improvement(slice(15, 50)) + _ahead_of_improvement(slice(99, None)), _overtakes, _crossing
)
