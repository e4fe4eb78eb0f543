"""The claims of the paper: each with the command that shows it and the rule that judges it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from aegis_paper import claim_rules as rules
from aegis_paper.claim_rules import SEVERAL, Check, Evidence, on_families, with_workers


class Finding(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNDECIDED = "cannot be told"
    OPEN = "not yet run"


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
    """Compare a claim with the records."""
    checks = tuple(claim.checks(evidence))
    answers = [check.holds for check in checks if check.numbers]
    return Judgement(claim, _finding(answers), checks)


def _finding(answers: Sequence[bool | None]) -> Finding:
    if not answers:
        return Finding.OPEN
    if True in answers:
        return Finding.HOLDS if all(answers) else Finding.PARTLY
    return Finding.FAILS if False in answers else Finding.UNDECIDED


_SUMMARY = "aegis-paper figure summary {} -o bars.png"
_RANKS = "aegis-paper figure ranks {} -o ranks.png"

CLAIMS = (
    Claim(
        "AEGiS is the best or equivalent to the best on 10 of the 15 functions",
        "aegis-paper table synthetic",
        with_workers("synthetic", SEVERAL, rules.best_on_ten),
    ),
    Claim(
        "AEGiS is at least as good as AEGiS-RS, and mostly better",
        _SUMMARY.format("synthetic"),
        with_workers("synthetic", SEVERAL, rules.mostly_better_than_uniform_choice),
    ),
    Claim(
        "AEGiS and TS lose little from 4 to 16 workers, the methods with EI much",
        _SUMMARY.format("synthetic"),
        rules.losses_with_more_workers,
    ),
    Claim(
        "All three components are needed: AEGiS is above No Exploit, No TS and No PF",
        _SUMMARY.format("ablation"),
        with_workers("ablation", SEVERAL, rules.best_of_study),
    ),
    Claim(
        "With 4 and 8 workers ε = 2/√d is better than a faster and a slower decay",
        _SUMMARY.format("epsilon"),
        with_workers("epsilon", (4, 8), rules.best_of_study),
    ),
    Claim(
        "With 16 workers there is little between the three rates of decay",
        _SUMMARY.format("epsilon"),
        with_workers("epsilon", (16,), rules.little_difference),
    ),
    Claim(
        "γ a little below one half is slightly better, above it worse",
        "aegis-paper figure gamma -o gamma.png",
        rules.less_thompson_is_better,
    ),
    Claim(
        "With one worker AEGiS and EI are about equal, and both above TS and AEGiS-RS",
        _SUMMARY.format("sequential"),
        with_workers("sequential", (1,), rules.as_good_as_improvement),
    ),
    Claim(
        "With one worker AEGiS loses much without the Pareto set, more than with several",
        _SUMMARY.format("ablation"),
        rules.loss_without_pareto_set,
    ),
    Claim(
        "Tuning: AEGiS is above KB, LP and PLAyBOOK after about 50 evaluations",
        _RANKS.format("profet"),
        on_families("profet", ("SVM", "FC-NET", "XGBoost"), rules.AHEAD_AFTER_FIFTY),
    ),
    Claim(
        "Tuning: TS is better than AEGiS on XGBoost",
        _RANKS.format("profet"),
        on_families("profet", ("XGBoost",), rules.THOMPSON_IS_BETTER),
    ),
    Claim(
        "push4: the methods with EI are the best",
        _RANKS.format("push"),
        on_families("push", ("push4",), rules.IMPROVEMENT_IS_BEST),
    ),
    Claim(
        "push4: AEGiS is above TS",
        _RANKS.format("push"),
        on_families("push", ("push4",), rules.AHEAD_OF_THOMPSON),
    ),
    Claim(
        "push8: AEGiS overtakes the methods with EI after about 75 evaluations",
        _RANKS.format("push"),
        on_families("push", ("push8",), rules.OVERTAKES),
    ),
)
