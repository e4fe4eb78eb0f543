"""How a claim of the paper is held against our records: case by case, and only where there are enough runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from aegis_paper.analysis import ENOUGH
from aegis_paper.plan import load_plan
from aegis_paper.rankings import Ranking, read_ranking
from aegis_paper.results import Results
from aegis_paper.standings import Standings


class Finding(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNDECIDED = "cannot be told"
    OPEN = "not yet run"


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

    def table(self, study: str, workers: int) -> Standings | None:
        """The table of a study; None unless every method has enough runs on every problem."""
        table = Standings.read(self.results, load_plan(study), workers, self.preset)
        return table if table.complete == table.problems and table.runs[0] >= ENOUGH else None

    def ranking(self, study: str, family: str, workers: int) -> Ranking | None:
        """The average ranks on a family of problems; None unless every method has run enough of its instances."""
        ranking = read_ranking(self.results, load_plan(study), family, workers, self.preset)
        return ranking if ranking is not None and ranking.instances >= ENOUGH else None


@dataclass(frozen=True)
class Claim:
    """What the paper says, the command that shows it, and how it is judged."""

    text: str
    command: str
    checks: Callable[[Evidence], Iterable[Check]]


@dataclass(frozen=True)
class Judgement:
    """A claim and what became of it."""

    claim: Claim
    finding: Finding
    checks: tuple[Check, ...]


def judge(claim: Claim, evidence: Evidence) -> Judgement:
    """Hold a claim against the records."""
    checks = tuple(claim.checks(evidence))
    answers = [check.holds for check in checks if check.numbers]
    return Judgement(claim, _finding(answers), checks)


def _finding(answers: Sequence[bool | None]) -> Finding:
    if not answers:
        return Finding.OPEN
    if True in answers:
        return Finding.HOLDS if all(answers) else Finding.PARTLY
    return Finding.FAILS if False in answers else Finding.UNDECIDED
