"""The tables of the paper from our runs: as text, as LaTeX and as CSV."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from io import StringIO
from statistics import mode
from textwrap import wrap

from aegis_paper.analysis import ENOUGH, Mark, span
from aegis_paper.published import paper_name
from aegis_paper.standings import Standings
from aegisbo.simulation.problems import get

NOT_RUN = "–"
SIGNS = {Mark.BEST: "*", Mark.EQUIVALENT: "~", Mark.WORSE: " "}
TEXT_WIDTH = 80
TEXT_COLUMNS = 3  # problems side by side
LATEX_COLUMNS = 5  # as in the paper
MOST_LISTED = 3  # problems; more are counted

LATEX_HEAD = r"""% Needs \usepackage{booktabs} and \usepackage[table]{xcolor}.
\providecommand{\best}{\cellcolor[gray]{0.7}}
\providecommand{\similar}{\cellcolor[gray]{0.9}}
\begin{table}
\centering
\setlength{\tabcolsep}{2pt}"""
LATEX_COMMANDS = {Mark.BEST: r"\best ", Mark.EQUIVALENT: r"\similar ", Mark.WORSE: ""}


def render(tables: Sequence[Standings], format: str) -> str:
    """The tables one after the other: as text, latex or csv."""
    if format == "csv":
        return as_csv(tables)
    return "\n".join(map(as_latex if format == "latex" else as_text, tables))


def as_text(standings: Standings) -> str:
    """The table for a terminal of eighty columns."""
    names = [paper_name(strategy, standings.study) for strategy in standings.strategies]
    width = max(len("Method"), *map(len, names))
    lines = [*wrap(f"{title(standings)}. {legend(standings)} * best, ~ equivalent.", TEXT_WIDTH), ""]
    for problems in _blocks(standings.problems, TEXT_COLUMNS):
        rows = [["Method", *map(_heading, problems)], ["", *["median    MAD"] * len(problems)]]
        for strategy, name in zip(standings.strategies, names, strict=True):
            rows.append([name, *(_text_cell(standings, strategy, problem) for problem in problems)])
        lines += ["  ".join([name.ljust(width), *(f"{each:^21}" for each in rest)]).rstrip() for name, *rest in rows]
        lines.append("")
    return "\n".join([*lines, *(line for note in notes(standings) for line in wrap(note, TEXT_WIDTH)), ""])


def as_latex(standings: Standings) -> str:
    """The table as the paper prints it, in a floating environment of its own."""
    lines = [LATEX_HEAD, rf"\caption{{{latex(title(standings))}. {latex(legend(standings))}}}"]
    lines.append(rf"\begin{{tabular}}{{l*{{{2 * LATEX_COLUMNS}}}{{r}}}}")
    for problems in _blocks(standings.problems, LATEX_COLUMNS):
        headings = [rf"\multicolumn{{2}}{{c}}{{\bfseries {_heading(problem)}}}" for problem in problems]
        lines += [r"\toprule", " & ".join([r"\bfseries Method", *headings]) + r" \\"]
        lines.append(" & ".join(["", *["Median & MAD"] * len(problems)]) + r" \\ \midrule")
        for strategy in standings.strategies:
            name = latex(paper_name(strategy, standings.study))
            cells = [_latex_cell(standings, strategy, problem) for problem in problems]
            lines.append(" & ".join([name, *cells]) + r" \\")
        lines.append(r"\bottomrule")
    return "\n".join([*lines, r"\end{tabular}", *(f"% {note}" for note in notes(standings)), r"\end{table}", ""])


def as_csv(tables: Sequence[Standings]) -> str:
    """One line a cell, with its number of runs."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["study", "workers", "preset", "strategy", "problem", "d", "n", "median", "mad", "mark"])
    for table in tables:
        for (strategy, problem), summary in table.summaries.items():
            where = (table.study, table.workers, table.preset, strategy, problem, get(problem).d)
            writer.writerow([*where, summary.n, summary.median, summary.mad, table.marks[strategy, problem].value])
    return text.getvalue()


def title(standings: Standings) -> str:
    """What the table shows."""
    workers = "1 worker" if standings.workers == 1 else f"{standings.workers} workers"
    return f"Plan {standings.study}, {workers}, preset {standings.preset}: regret after {standings.budget} evaluations"


def legend(standings: Standings) -> str:
    """How the numbers came about."""
    sides = "two-sided" if standings.two_sided else "one-sided"
    return (
        f"Median and MAD (times 1.4826), n = {span(standings.runs)} runs. Marked are the lowest median and what is "
        f"equivalent to it by a paired, {sides} Wilcoxon signed-rank test with Holm's correction (p >= 0.05)."
    )


def notes(standings: Standings) -> Iterator[str]:
    """How often each method is best or equivalent, and which methods have more or fewer runs than is usual."""
    if standings.complete:
        counts = sorted(standings.counts.items(), key=lambda item: -item[1])
        ranking = ", ".join(f"{paper_name(strategy, standings.study)} {count}" for strategy, count in counts)
        yield f"Best or equivalent, of {len(standings.complete)} problems that every method has run: {ranking}."
    if standings.runs[0] < ENOUGH:
        yield f"With fewer than {ENOUGH} runs the test can tell few methods apart: marks and counts mean little."
    usual = mode(summary.n for summary in standings.summaries.values())
    unusual = [
        f"{paper_name(strategy, standings.study)} n = {n} on {_listed(problems)}"
        for (strategy, n), problems in _by_runs(standings).items()
        if n != usual
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


def _by_runs(standings: Standings) -> dict[tuple[str, int], list[str]]:
    """The problems of each method that have been run so often."""
    problems = defaultdict(list)
    for (strategy, problem), summary in standings.summaries.items():
        problems[strategy, summary.n].append(problem)
    return problems


def _listed(problems: Sequence[str]) -> str:
    return ", ".join(problems) if len(problems) <= MOST_LISTED else f"{len(problems)} problems"


def _blocks(problems: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (problems[first : first + size] for first in range(0, len(problems), size))


def _heading(problem: str) -> str:
    return f"{problem} ({get(problem).d})"


def _text_cell(standings: Standings, strategy: str, problem: str) -> str:
    summary = standings.summaries.get((strategy, problem))
    if summary is None:
        return NOT_RUN
    return f"{SIGNS[standings.marks[strategy, problem]]}{number(summary.median)} {number(summary.mad)}"


def _latex_cell(standings: Standings, strategy: str, problem: str) -> str:
    summary = standings.summaries.get((strategy, problem))
    if summary is None:
        return "-- & --"
    command = LATEX_COMMANDS[standings.marks[strategy, problem]]
    return f"{command}{number(summary.median)} & {command}{number(summary.mad)}"
