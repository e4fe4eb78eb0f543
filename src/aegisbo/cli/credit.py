"""`aegisbo credit`: what the points of each adviser brought."""

from __future__ import annotations

from typing import Annotated

from rich.console import Console

from aegisbo.cli.advise import doubts, with_a_bar
from aegisbo.cli.arguments import Jobs, Seed, Study, counted
from aegisbo.cli.tables import plain_table
from aegisbo.printable import printable


def credit(
    study: Study,
    runs: Annotated[int, counted("Pairs of simulated runs, with and without each adviser.", 2)] = 12,
    jobs: Jobs = 1,
    seed: Seed = 0,
) -> None:
    """Estimate what the points of each adviser brought.

    The study is simulated from its beginning with and without the points of each author, on functions that agree with
    its results.
    """
    from aegisbo.advice import credit as ask

    found = ask(study, runs=runs, jobs=jobs, seed=seed, watch=with_a_bar)
    console = Console(highlight=False, soft_wrap=True)
    console.print(doubts(found, "model"), end="")
    table = plain_table(["author", "its points"], ["points", "new best", "evaluations sooner", "95 %"])
    for each in found.credits:
        low, high = each.interval
        told = (f"{each.points}", f"{each.improved}", f"{each.mean:.1f}", f"{low:.1f} to {high:.1f}")
        table.add_row(printable(each.author), each.verdict, *told)
    console.print(table)
    console.print(
        f"\nMeans of {runs} pairs of simulated runs of {found.results} evaluations, each pair on a stand-in for the "
        "function. Negative: the strategy's own points would have been better. docs/adviser.md says how often this "
        "was right."
    )
