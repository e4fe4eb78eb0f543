"""Tables for the terminal that fit into eighty columns, and the sentences around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from aegisbo.experiments.comparison import FEWEST_RUNS, Comparison, compare, quartiles
from aegisbo.experiments.simulation import Record

ByStrategy = Mapping[str, Sequence[Record]]  # of one problem; the same runs in the same order for each strategy

CLEAR = 0.05  # a difference is called clear if luck alone would make it less often than this


def plain_table(words: Sequence[str], numbers: Sequence[str] = ()) -> Table:
    """A table without a frame: columns of words, then columns of numbers."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in words:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def short(number: float) -> str:
    """Two digits, or all those before the point: 0.0012, 3.4e-5, 1240."""
    if 99.5 <= abs(number) < 1e6:
        return f"{number:.0f}"
    mantissa, e, exponent = f"{number:.2g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def score_heading(runs: ByStrategy) -> str:
    """What the scores are."""
    record = next(iter(runs.values()))[0]
    return f"{escape(record.spec.problem)}: {'regret' if _is_regret(runs) else 'best value'} after so many evaluations"


def score_table(runs: ByStrategy, counts: Sequence[int]) -> Table:
    """How good the best point was after so many evaluations: the median over the runs, the quartiles below it."""
    table = plain_table(["strategy"], [str(count) for count in counts])
    text = short if _is_regret(runs) else "{:.4g}".format
    for strategy, records in runs.items():
        spreads = [quartiles([record.scores[count - 1] for record in records]) for count in counts]
        cells = [f"{text(of.median)}\n[dim]{text(of.low)}–{text(of.high)}[/dim]" for of in spreads]
        table.add_row(escape(strategy), *cells)
    return table


def _is_regret(runs: ByStrategy) -> bool:
    return next(iter(runs.values()))[0].minimum is not None


def comparison_table(runs: ByStrategy) -> Table:
    """What a suggestion costs, and each strategy against the first one, run by run, at the end of the budget."""
    reference, *others = runs
    final = {strategy: [record.scores[-1] for record in records] for strategy, records in runs.items()}
    headings = ["median\nms", "mean\nms"]
    headings += ["won", "lost", "tied"] if others else []
    headings += ["p\nbetter", "p\nworse", f"than\n{escape(reference)}"] if _can_tell(runs) else []
    table = plain_table(["strategy"], headings)
    for strategy, records in runs.items():
        seconds = [each for record in records for each in record.suggestion_seconds]
        cells = _verdict(compare(final[strategy], final[reference])) if strategy in others else []
        table.add_row(escape(strategy), short(1e3 * median(seconds)), short(1e3 * mean(seconds)), *cells)
    return table


def _verdict(found: Comparison) -> list[str]:
    counts = [str(found.better), str(found.worse), str(found.equal)]
    if found.p_better is None or found.p_worse is None:
        return counts
    word = "better" if found.p_better < CLEAR else "worse" if found.p_worse < CLEAR else "not clear"
    return [*counts, short(found.p_better), short(found.p_worse), word]


def _can_tell(runs: ByStrategy) -> bool:
    return len(runs) > 1 and len(next(iter(runs.values()))) >= FEWEST_RUNS


def workers_sentence(runs: ByStrategy) -> str:
    """How the workers were used, which depends on the job times alone."""
    records = next(iter(runs.values()))
    spec = records[0].spec
    makespan, busy = median(each.makespan for each in records), median(each.utilization for each in records)
    return (
        f"{spec.workers} workers, job times {escape(spec.law)}: makespan {short(makespan)} virtual seconds, "
        f"utilisation {busy:.0%}, whatever the strategy."
    )


def how_to_read(runs: ByStrategy) -> str:
    """What the numbers mean, for whoever sees them for the first time."""
    reference, *others = map(escape, runs)
    repeats = len(next(iter(runs.values())))
    text = f"Regret and the like: medians over {repeats} runs, with the quartiles below them."
    if _can_tell(runs):
        return (
            f"{text} p: how often luck alone would make a strategy that is as good as {reference} look this much better "
            f"or worse at the end (Wilcoxon's signed-rank test, one-sided, each strategy for itself); clear if below "
            f"{CLEAR}."
        )
    return f"{text} From {FEWEST_RUNS} runs on, a test says which differences are more than luck." if others else text
