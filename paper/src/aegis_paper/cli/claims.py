"""What `aegis-paper claims` prints: judgements on the paper's claims, for the terminal and as a table for a README."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from aegis_paper.claims import Finding, Judgement
from aegis_paper.published import RUNS

COLORS = {
    Finding.HOLDS: "green",
    Finding.PARTLY: "yellow",
    Finding.FAILS: "red",
    Finding.UNDECIDED: "yellow",
    Finding.OPEN: "dim",
}
ANSWERS = {True: "yes", False: "no", None: "cannot be told"}
NOTE = (
    "Numbers are counts of the 15 functions on which a method is best or equivalent to the best, with the paper's in "
    f"square brackets, or average ranks; n is the number of our runs. The paper has {RUNS}, and {RUNS} instances x 20: "
    "with fewer, a test tells fewer methods apart, and counts tend to be higher."
)


def print_claims(judgements: Sequence[Judgement], console: Console) -> None:
    """One paragraph per claim."""
    for judgement in judgements:
        color = COLORS[judgement.finding]
        console.print(f"[bold]{escape(judgement.claim.text)}[/bold]: [{color}]{verdict_of(judgement)}[/{color}]")
        for answer in answers_of(judgement):
            console.print(f"  {answer}", markup=False)
        if missing := missing_in(judgement):
            console.print(f"  {missing}", style="dim")
        console.print(f"  {judgement.claim.command}\n", style="dim", markup=False)
    console.print(NOTE, markup=False)


def as_markdown(judgements: Sequence[Judgement]) -> str:
    """Claim, command, verdict and numbers in a table."""
    lines = ["| The paper's claim | Command | Verdict | Numbers |", "|---|---|---|---|"]
    for judgement in judgements:
        cells = [
            judgement.claim.text,
            f"`{judgement.claim.command}`",
            f"**{verdict_of(judgement)}**",
            "<br>".join(filter(None, [*answers_of(judgement), missing_in(judgement)])),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", NOTE])


def verdict_of(judgement: Judgement) -> str:
    """What became of the claim, as far as it has been run."""
    return f"{judgement.finding} so far" if missing_in(judgement) else judgement.finding.value


def answers_of(judgement: Judgement) -> list[str]:
    """The answer in each case that has been run, with its numbers."""
    return [f"{check.case}: {ANSWERS[check.holds]}; {check.numbers}" for check in judgement.checks if check.numbers]


def missing_in(judgement: Judgement) -> str:
    """The cases without an answer; nothing if there is no answer at all, which the verdict says already."""
    missing = [check.case for check in judgement.checks if not check.numbers]
    return f"not yet run: {'; '.join(missing)}" if len(missing) not in (0, len(judgement.checks)) else ""
