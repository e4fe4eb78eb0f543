"""What `aegis-paper report` writes: every table, figure, claim and verdict on one page, from the records alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from aegis_paper.claim_rules import Evidence
from aegis_paper.claims import CLAIMS, Judgement, judge
from aegis_paper.cli.claims import NOTE, answers_of, missing_in, verdict_of
from aegis_paper.cli.compare import LEGEND, differences, total
from aegis_paper.cli.cost import cost_rows, cost_title
from aegis_paper.cli.factors import CHANGE_HEADS, CHANGES, COMBINATION_HEADS, COMBINATIONS, change_row, combination_rows
from aegis_paper.cli.figure import FIGURES
from aegis_paper.cli.selection import Selection
from aegis_paper.comparison import Pair, compare_all
from aegis_paper.cost import measure, projected, runs_of_the_paper
from aegis_paper.effects import PLAN as FACTORS
from aegis_paper.effects import effects, grid, numbers_of_workers
from aegis_paper.figures import draw_epsilon_decay
from aegis_paper.page import Cell, Section, page, paragraph, picture, table, unfolded
from aegis_paper.plans import load_plan, plan_names
from aegis_paper.published import paper_name, published
from aegis_paper.rankings import Ranking, families_of
from aegis_paper.scores import Results, ScoreTable
from aegis_paper.statistics import Mark
from aegis_paper.tables import NOT_RUN, legend, notes, number, rank_rows, rank_title, title
from aegisbo.errors import InvalidInput
from aegisbo.strategies.presets import DEFAULT_PRESET

LOOKS = {Mark.BEST: "best", Mark.EQUIVALENT: "near", Mark.WORSE: ""}
OF_THE_PAPER = ("paper", "reference")  # what the paper says, and what its code did
ALL = (*OF_THE_PAPER, "modern")


def report(results: Results) -> str:
    """The page."""
    runs = results.records.headers()
    if runs.empty:
        raise InvalidInput(f"{results.records.file} has no runs: make some with `aegis-paper run PLAN --out FILE`.")
    introduction = paragraph(
        "The experiments of Asynchronous ε-Greedy Bayesian Optimisation (De Ath, Everson and Fieldsend, UAI 2021), run "
        f"again with aegisbo: {len(runs):,} runs of {runs['preset'].nunique()} presets on {runs['problem'].nunique()} "
        f"problems, {runs['core_seconds'].sum() / 3600:.0f} core-hours."
    )
    sections = [
        Section("claims", "Claims and verdicts", [*_claims(results)]),
        Section("agreement", "Published medians and ours", [*_agreement(results)]),
        Section("decides", "What decides", [*_factors(results)]),
        Section("today", "What a user gains today", [*_today(results)]),
        Section("figures", "Figures", [*_figures(results)]),
        Section("tables", "Tables", [*_tables(results)]),
        Section("ranks", "Average ranks", [*_ranks(results)]),
        Section("cost", "What runs cost", [*_cost(results)]),
    ]
    return page("AEGiS, run again", introduction, sections)


def _claims(results: Results) -> Iterator[str]:
    evidence = Evidence(results, "paper")
    judgements = [judge(claim, evidence) for claim in CLAIMS]
    yield table(
        ["The paper's claim", "verdict", "numbers"],
        ([each.claim.text, Cell(verdict_of(each), "text"), Cell(_numbers(each), "text")] for each in judgements),
    )
    yield paragraph(NOTE, "muted")


def _numbers(judgement: Judgement) -> str:
    return "\n".join(filter(None, [*answers_of(judgement), missing_in(judgement)]))


def _agreement(results: Results) -> Iterator[str]:
    yield paragraph(LEGEND, "muted")
    tables = dict.fromkeys((cell.study, cell.workers) for cell in published())
    for (study, workers), pairs in compare_all(results, tables, OF_THE_PAPER).items():
        yield table(["method", *OF_THE_PAPER], _totals(pairs), f"Plan {study}, q = {workers}: medians that agree")
        yield unfolded(f"Every median of plan {study}, q = {workers}", _medians(pairs))
        reasons = "".join(paragraph(line) for line in differences(pairs))
        yield unfolded("Why others do not", reasons) if reasons else ""


def _totals(pairs: Sequence[Pair]) -> Iterator[list[str]]:
    for strategy in dict.fromkeys(pair.published.strategy for pair in pairs):
        rows = [pair for pair in pairs if pair.published.strategy == strategy]
        yield [paper_name(strategy, rows[0].published.study), *(total(rows, preset) for preset in OF_THE_PAPER)]


def _medians(pairs: Sequence[Pair]) -> str:
    rows = (
        [
            f"{paper_name(pair.published.strategy, pair.published.study)}, {pair.published.problem}",
            number(pair.published.median),
            *(_median(pair, preset) for preset in OF_THE_PAPER),
        ]
        for pair in pairs
    )
    return table(["method and problem", "published", *OF_THE_PAPER], rows)


def _median(pair: Pair, preset: str) -> str:
    ours = pair.ours.get(preset)
    return NOT_RUN if ours is None else f"{number(ours.median)} {ours.verdict}, n = {ours.n}"


def _factors(results: Results) -> Iterator[str]:
    found = {workers: effects(results, workers) for workers in numbers_of_workers()}
    if not any(found.values()):
        yield paragraph(f"Plan {FACTORS} has not been run.")
    for workers, changes in found.items():
        if changes:
            yield table(CHANGE_HEADS, map(change_row, changes), CHANGES.format(workers))
            yield table(COMBINATION_HEADS, combination_rows(grid(results, workers)), COMBINATIONS.format(workers))


def _today(results: Results) -> Iterator[str]:
    tables = Selection(load_plan("synthetic"), "paper", results, "synthetic", DEFAULT_PRESET).tables()
    if not tables:
        yield paragraph(f"AEGiS with the preset {DEFAULT_PRESET} has not been run on the fifteen functions.")
    for scores in tables:
        *others, default = scores.strategies
        yield paragraph(f"{title(scores)}. The first method is aegisbo's default.")
        yield _scores(scores.only([default, *others])) + "".join(paragraph(note, "muted") for note in notes(scores))


def _figures(results: Results) -> Iterator[str]:
    cases = [("summary", plan) for plan in ("synthetic", "sequential", "ablation", "epsilon")]
    cases += [("gamma", "gamma"), ("ranks", "profet"), ("ranks", "push"), ("convergence", "synthetic")]
    for preset in ALL:
        for name, plan in cases:
            selection = Selection(load_plan(plan), preset, results, plan)
            svg = _drawn(partial(FIGURES[name][1], selection))
            if svg is not None:
                yield f"<h3>{name}, plan {plan}, preset {preset}</h3>{picture(svg, f'{name} of plan {plan}')}"
    decay = _drawn(draw_epsilon_decay)
    yield "" if decay is None else f"<h3>Schedules of ε</h3>{picture(decay, 'ε against the number of parameters')}"


def _drawn(draw: Callable[[Path], None]) -> bytes | None:
    """A figure; None if there are too few runs for it."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "figure.svg")
        try:
            draw(file)
        except InvalidInput:
            return None
        return file.read_bytes()


def _tables(results: Results) -> Iterator[str]:
    for selection in _selections(results):
        for scores in selection.tables() if not families_of(selection.plan) else ():
            yield unfolded(title(scores), _scores(scores) + "".join(paragraph(note, "muted") for note in notes(scores)))


def _scores(scores: ScoreTable) -> str:
    heads = ["problem", *(paper_name(each, scores.study) for each in scores.strategies)]
    return table(heads, (_row(scores, problem) for problem in scores.problems), legend(scores))


def _row(scores: ScoreTable, problem: str) -> list[str | Cell]:
    return [problem, *(_score(scores, each, problem) for each in scores.strategies)]


def _score(scores: ScoreTable, strategy: str, problem: str) -> Cell:
    if (strategy, problem) not in scores.summary.index:
        return Cell(NOT_RUN)
    cell = scores.summary.loc[(strategy, problem)]
    return Cell(f"{number(cell['median'])} ± {number(cell['mad'])}", LOOKS[scores.marks[strategy, problem]])


def _ranks(results: Results) -> Iterator[str]:
    for selection in _selections(results):
        yield from map(_ranking, selection.rankings())


def _ranking(ranking: Ranking) -> str:
    head, *rows = rank_rows(ranking)
    return table(head, rows, rank_title(ranking))


def _selections(results: Results) -> Iterator[Selection]:
    """Every plan of the paper with every preset; `campaign` repeats the others."""
    for name in plan_names():
        if name != "campaign":
            yield from (Selection(load_plan(name), preset, results, name) for preset in ALL)


def _cost(results: Results) -> Iterator[str]:
    try:
        measured = measure(results.records, "paper")
    except InvalidInput:
        yield paragraph("No run of the paper's length has been measured.")
        return
    head, *rows = cost_rows(measured)
    yield table(head, rows, cost_title(measured))
    paper = projected(runs_of_the_paper(), measured.seconds)
    yield paragraph(f"The whole paper: {paper.runs:,} runs, about {paper.seconds / 3600:,.0f} core-hours.")
