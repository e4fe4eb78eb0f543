"""The tables of the paper from our runs, of scores and of average ranks: as text, as LaTeX and as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

import pandas as pd

from aegis_paper.published import paper_name
from aegis_paper.rankings import Ranking
from aegis_paper.scores import ScoreTable
from aegis_paper.statistics import ENOUGH, Mark, span
from aegisbo.simulation.problems import dimension

NOT_RUN = "–"
SIGNS = {Mark.BEST: "*", Mark.EQUIVALENT: "~", Mark.WORSE: " "}
TEXT_WIDTH = 80
TEXT_CELL = 21  # characters of a median, its MAD and a mark
LATEX_COLUMNS = 5  # as in the paper
MOST_LISTED = 3  # problems; more are counted
MILESTONES = (25, 50, 75, 100, 150, 200)  # evaluations after which ranks are shown

LATEX_HEAD = r"""% Needs \usepackage{booktabs} and \usepackage[table]{xcolor}.
\providecommand{\best}{\cellcolor[gray]{0.7}}
\providecommand{\similar}{\cellcolor[gray]{0.9}}
\begin{table}
\centering
\setlength{\tabcolsep}{2pt}"""
LATEX_COMMANDS = {Mark.BEST: r"\best ", Mark.EQUIVALENT: r"\similar ", Mark.WORSE: ""}


def render(scores: Sequence[ScoreTable], ranks: Sequence[Ranking], format: str) -> str:
    """All tables, one after the other.

    Args:
        scores: the tables of final scores.
        ranks: the tables of average ranks.
        format: text, latex or csv.
    """
    if format == "csv":
        parts = [as_csv(scores)] if scores else []
        return "\n".join([*parts, ranks_as_csv(ranks)] if ranks else parts)
    of_scores, of_ranks = (as_latex, ranks_as_latex) if format == "latex" else (as_text, ranks_as_text)
    return "\n".join([*map(of_scores, scores), *map(of_ranks, ranks)])


def as_text(table: ScoreTable) -> str:
    """The table for a terminal of eighty columns."""
    names = [paper_name(strategy, table.study) for strategy in table.strategies]
    width = max(len("Method"), *map(len, names))
    lines = [*wrap(f"{title(table)}. {legend(table)} * best, ~ equivalent.", TEXT_WIDTH), ""]
    for problems in _blocks(table.problems, max(1, (TEXT_WIDTH - width) // (TEXT_CELL + 2))):
        rows = [["Method", *map(_heading, problems)], ["", *["median    MAD"] * len(problems)]]
        for strategy, name in zip(table.strategies, names, strict=True):
            rows.append([name, *(_text_cell(table, strategy, problem) for problem in problems)])
        lines += [
            "  ".join([name.ljust(width), *(f"{each:^{TEXT_CELL}}" for each in rest)]).rstrip() for name, *rest in rows
        ]
        lines.append("")
    return "\n".join([*lines, *(line for note in notes(table) for line in wrap(note, TEXT_WIDTH)), ""])


def as_latex(table: ScoreTable) -> str:
    """The table as the paper prints it, in a floating environment of its own."""
    lines = [LATEX_HEAD, rf"\caption{{{latex(title(table))}. {latex(legend(table))}}}"]
    lines.append(rf"\begin{{tabular}}{{l*{{{2 * LATEX_COLUMNS}}}{{r}}}}")
    for problems in _blocks(table.problems, LATEX_COLUMNS):
        headings = [rf"\multicolumn{{2}}{{c}}{{\bfseries {_heading(problem)}}}" for problem in problems]
        lines += [r"\toprule", " & ".join([r"\bfseries Method", *headings]) + r" \\"]
        lines.append(" & ".join(["", *["Median & MAD"] * len(problems)]) + r" \\ \midrule")
        for strategy in table.strategies:
            name = latex(paper_name(strategy, table.study))
            cells = [_latex_cell(table, strategy, problem) for problem in problems]
            lines.append(" & ".join([name, *cells]) + r" \\")
        lines.append(r"\bottomrule")
    return "\n".join([*lines, r"\end{tabular}", *(f"% {note}" for note in notes(table)), r"\end{table}", ""])


def as_csv(tables: Sequence[ScoreTable]) -> str:
    """One line per cell, with its number of runs."""
    return _csv(map(_lines, tables))


def _csv(parts: Iterable[pd.DataFrame]) -> str:
    return str(pd.concat(parts).to_csv(index=False, lineterminator="\n"))


def _lines(table: ScoreTable) -> pd.DataFrame:
    lines = table.summary.reset_index()
    presets = [table.guests.get(strategy, table.preset) for strategy in lines["strategy"]]
    where = {"study": table.study, "workers": table.workers, "preset": presets}
    for place, (name, value) in enumerate(where.items()):
        lines.insert(place, name, value)
    lines.insert(lines.columns.get_loc("n"), "d", lines["problem"].map(dimension))
    return lines.assign(mark=[table.marks[key].value for key in table.summary.index])


def title(table: ScoreTable) -> str:
    """What the table shows."""
    workers = "1 worker" if table.workers == 1 else f"{table.workers} workers"
    return f"Plan {table.study}, {workers}, preset {table.preset}: regret after {table.budget} evaluations"


def legend(table: ScoreTable) -> str:
    """How the numbers came about."""
    sides = "two-sided" if table.two_sided else "one-sided"
    return (
        f"Median and MAD (times 1.4826), n = {span(table.runs)} runs. Marked are the lowest median and what is "
        f"equivalent to it by a paired, {sides} Wilcoxon signed-rank test with Holm's correction (p >= 0.05)."
    )


def notes(table: ScoreTable) -> Iterator[str]:
    """How often each method is best or equivalent, and which methods have more or fewer runs than is usual."""
    if table.compared:
        counts = sorted(table.counts.items(), key=lambda item: -item[1])
        ranking = ", ".join(f"{paper_name(strategy, table.study)} {count}" for strategy, count in counts)
        yield f"Best or equivalent, of {len(table.complete)} problems that every method has run: {ranking}."
    if table.runs[0] < ENOUGH:
        yield f"With fewer than {ENOUGH} runs the test can tell few methods apart: marks and counts mean little."
    runs = table.summary["n"]
    usual = runs.mode()[0]
    unusual = [
        f"{paper_name(strategy, table.study)} n = {n} on {_listed(cells.index.unique('problem'))}"
        for (strategy, n), cells in runs[runs != usual].groupby([pd.Grouper(level="strategy"), runs], sort=False)
    ]
    if unusual:
        yield f"n = {usual}, except: {'; '.join(unusual)}."


def number(value: float) -> str:
    """As in the paper's tables: 5.99e-06."""
    return f"{value:.2e}"


def latex(text: str) -> str:
    """The text as LaTeX writes it."""
    for ours, theirs in (("γ", r"$\gamma$"), (">=", r"$\geq$"), ("–", "--"), ("_", r"\_")):
        text = text.replace(ours, theirs)
    return text


def _listed(problems: Sequence[str]) -> str:
    return ", ".join(problems) if len(problems) <= MOST_LISTED else f"{len(problems)} problems"


def _blocks(problems: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (problems[first : first + size] for first in range(0, len(problems), size))


def _heading(problem: str) -> str:
    return f"{problem} ({dimension(problem)})"


def _text_cell(table: ScoreTable, strategy: str, problem: str) -> str:
    if (strategy, problem) not in table.summary.index:
        return NOT_RUN
    cell = table.summary.loc[(strategy, problem)]
    return f"{SIGNS[table.marks[strategy, problem]]}{number(cell['median'])} {number(cell['mad'])}"


def _latex_cell(table: ScoreTable, strategy: str, problem: str) -> str:
    if (strategy, problem) not in table.summary.index:
        return "-- & --"
    cell = table.summary.loc[(strategy, problem)]
    command = LATEX_COMMANDS[table.marks[strategy, problem]]
    return f"{command}{number(cell['median'])} & {command}{number(cell['mad'])}"


def ranks_as_text(ranking: Ranking) -> str:
    """Average ranks for a terminal."""
    rows = (f"{name:<9}" + "".join(f"{each:>7}" for each in rest) for name, *rest in rank_rows(ranking))
    return "\n".join([*wrap(rank_title(ranking), TEXT_WIDTH), "", *rows, ""])


def ranks_as_latex(ranking: Ranking) -> str:
    """Average ranks in a floating environment of its own; needs booktabs."""
    head, *rows = (" & ".join(row) + r" \\" for row in rank_rows(ranking))
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(rank_title(ranking))}}}",
        rf"\begin{{tabular}}{{l*{{{len(_milestones(ranking))}}}{{r}}}}",
        *(r"\toprule", head, r"\midrule", *rows, r"\bottomrule"),
        *(r"\end{tabular}", r"\end{table}", ""),
    ]
    return "\n".join(lines)


def ranks_as_csv(rankings: Sequence[Ranking]) -> str:
    """One line per method and number of evaluations."""
    parts = [
        pd.DataFrame(
            {
                "family": ranking.family,
                "workers": ranking.workers,
                "preset": ranking.preset,
                "strategy": strategy,
                "evaluations": range(1, len(ranking.of(strategy)) + 1),
                "instances": ranking.instances,
                "runs": span(ranking.repeats),
                "rank": ranking.of(strategy),
            }
        )
        for ranking in rankings
        for strategy in ranking.strategies
    ]
    return _csv(parts)


def rank_title(ranking: Ranking) -> str:
    """What a table of ranks shows."""
    return (
        f"{ranking.family}, {ranking.workers} workers, preset {ranking.preset}: average rank after so many "
        f"evaluations, over n = {ranking.instances} instances, runs of each: {span(ranking.repeats)}."
    )


def rank_rows(ranking: Ranking) -> list[list[str]]:
    """The heading, then the methods, the best at the end of the budget first."""
    milestones = _milestones(ranking)
    ordered = sorted(ranking.strategies, key=lambda strategy: float(ranking.of(strategy)[-1]))
    rows = [
        [paper_name(strategy, "synthetic"), *(f"{ranking.of(strategy)[count - 1]:.2f}" for count in milestones)]
        for strategy in ordered
    ]
    return [["Method", *map(str, milestones)], *rows]


def _milestones(ranking: Ranking) -> list[int]:
    return [count for count in MILESTONES if count <= ranking.ranks.shape[1]]
