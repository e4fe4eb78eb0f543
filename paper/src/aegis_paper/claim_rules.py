"""The rules by which our records are asked about the paper's claims: case by case, and only with enough runs.

Counts are of the fifteen functions on which a method is best or equivalent to the best, within its study.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from aegis_paper.plans import load_plan
from aegis_paper.published import paper_name, published_counts
from aegis_paper.rankings import Ranking, read_ranking
from aegis_paper.scores import Results, ScoreTable
from aegis_paper.statistics import ENOUGH, LEVEL, chance, span
from aegisbo.simulation.comparison import compare

Answer = tuple[bool | None, str]  # whether a claim holds in a case, None if that cannot be told, and the numbers

SEVERAL = (4, 8, 16)  # the paper's numbers of workers, apart from one
IMPROVING = ("kriging-believer", "local-penalization", "playbook")  # the methods that use expected improvement
LATER = slice(49, None)  # from 50 evaluations on
CLOSE = 2  # counts that differ by no more are called about equal


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

    def table(self, study: str, workers: int) -> ScoreTable | None:
        """The table of a study; None unless every method has enough runs on every problem."""
        table = ScoreTable.read(self.results, load_plan(study), workers, self.preset)
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


def on_families(
    study: str, families: Sequence[str], rule: Callable[[Ranking], Answer]
) -> Callable[[Evidence], Iterator[Check]]:
    """Ask a rule about the average ranks on each family of problems, for each number of workers."""

    def checks(evidence: Evidence) -> Iterator[Check]:
        for family in families:
            for workers in SEVERAL:
                ranking = evidence.ranking(study, family, workers)
                yield Check(f"{family}, q = {workers}", *(rule(ranking) if ranking else ()))

    return checks


def best_on_ten(table: ScoreTable) -> Answer:
    """AEGiS reaches the count that the paper names."""
    return table.counts["aegis"] >= 10, _counts(table, table.strategies)


def not_behind_uniform_choice(table: ScoreTable) -> Answer:
    """AEGiS has no lower count than AEGiS-RS, and is not clearly worse on more functions than clearly better."""
    won, lost = _clear_wins(table, "aegis", "aegis-rs"), _clear_wins(table, "aegis-rs", "aegis")
    numbers = f"{_counts(table, ('aegis', 'aegis-rs'))}; {_against(table, ['aegis-rs'])}"
    return won >= lost and table.counts["aegis"] >= table.counts["aegis-rs"], numbers


def losses_with_more_workers(evidence: Evidence) -> Iterator[Check]:
    """From 4 to 16 workers the methods with expected improvement lose more than AEGiS and TS."""
    few, many = evidence.table("synthetic", 4), evidence.table("synthetic", 16)
    case = "q = 4 to 16"
    if few is None or many is None:
        yield Check(case)
        return
    lost = {strategy: few.counts[strategy] - many.counts[strategy] for strategy in few.strategies}
    holds = mean(lost[each] for each in IMPROVING) > max(lost["aegis"], lost["thompson"])
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
    """On average over the numbers of workers: γ from 0.2 to 0.4 is no worse than 0.5, and γ above it is worse."""
    tables = {workers: evidence.table("gamma", workers) for workers in SEVERAL}
    run = [table for table in tables.values() if table]
    yield from (Check(f"q = {workers}") for workers, table in tables.items() if not table)
    if run:
        below, above = (
            mean(table.counts[f"aegis:gamma=0.{tenths}"] for table in run for tenths in part)
            for part in ((2, 3, 4), (6, 7, 8, 9))
        )
        half = mean(table.counts["aegis"] for table in run)
        case = f"q = {', '.join(str(table.workers) for table in run)}"
        runs = span(n for table in run for n in table.runs)
        numbers = f"mean counts: γ 0.2 to 0.4 {below:.1f}, 0.5 {half:.1f}, 0.6 to 0.9 {above:.1f}; n = {runs}"
        yield Check(case, below >= half > above, numbers)


def as_good_as_improvement(table: ScoreTable) -> Answer:
    """AEGiS and EI are about equal, and both above TS and AEGiS-RS."""
    counts = table.counts
    close = abs(counts["aegis"] - counts["ei"]) <= CLOSE
    above = min(counts["aegis"], counts["ei"]) > max(counts["thompson"], counts["aegis-rs"])
    return close and above, _counts(table, table.strategies)


def pareto_set_matters_most(table: ScoreTable) -> Answer:
    """Without the Pareto set AEGiS has the lowest count."""
    others = [count for strategy, count in table.counts.items() if strategy != "aegis-no-pf"]
    return _above(min(others), table.counts["aegis-no-pf"]), _counts(table, table.strategies)


def ahead_after_fifty(ranking: Ranking) -> Answer:
    """From 50 evaluations on AEGiS has a lower average rank than each method with expected improvement."""
    return _all(_ahead(ranking, "aegis", each, LATER) for each in IMPROVING), _ranks(ranking, 50)


def thompson_is_better(ranking: Ranking) -> Answer:
    """From 50 evaluations on TS has a lower average rank than AEGiS."""
    return _ahead(ranking, "thompson", "aegis", LATER), _ranks(ranking, 50)


def improvement_is_best(ranking: Ranking) -> Answer:
    """From 50 evaluations on each method with expected improvement has a lower average rank than any other."""
    others = [strategy for strategy in ranking.strategies if strategy not in IMPROVING]
    pairs = (_ahead(ranking, each, other, LATER) for each in IMPROVING for other in others)
    return _all(pairs), _ranks(ranking, 50)


def ahead_of_thompson(ranking: Ranking) -> Answer:
    """From 50 evaluations on AEGiS has a lower average rank than TS."""
    return _ahead(ranking, "aegis", "thompson", LATER), _ranks(ranking, 50)


def overtakes(ranking: Ranking) -> Answer:
    """Up to 50 evaluations a method with expected improvement is ahead of AEGiS, from 100 on none."""
    early = _all(_ahead(ranking, "aegis", each, slice(15, 50)) for each in IMPROVING)
    behind = None if early is None else not early
    ahead = _all(_ahead(ranking, "aegis", each, slice(99, None)) for each in IMPROVING)
    best = np.min([ranking.of(each) for each in IMPROVING], axis=0)
    times = np.flatnonzero(ranking.of("aegis") > best) + 1  # numbers of evaluations
    last = f"behind for the last time after {times[-1]} evaluations" if len(times) else "never behind"
    return _all([behind, ahead]), f"{last}; {_ranks(ranking, 100)}"


def _ahead(ranking: Ranking, one: str, other: str, when: slice) -> bool | None:
    """Whether the one has the lower average rank; None if luck with the instances could do as much."""
    difference = compare(ranking.on_instances(one, when), ranking.on_instances(other, when))
    if difference.p_better is None or difference.p_worse is None:
        return None  # too few
    return True if difference.p_better < LEVEL else False if difference.p_worse < LEVEL else None


def _all(answers: Iterable[bool | None]) -> bool | None:
    """Whether all hold; one that does not decides, one that cannot be told leaves it open."""
    given = [*answers]
    return False if False in given else None if None in given else True


def _above(count: int, other: int) -> bool | None:
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
