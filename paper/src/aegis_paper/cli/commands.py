"""The commands and their options. What they need loads when they run, so that --help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from aegisbo.cli.arguments import whole
from aegisbo.cli.writing import require_writable

INTERRUPTED = 130
FAILED = 1
BOTH_PRESETS = ["paper", "reference"]  # what the paper says, and what its code did
OF_AEGIS = ["paper", "reference", "reference:paths"]  # and what one departure of that code does alone

ONLY_THESE = "Only these; separate them with blanks, or repeat the option."

PlanName = Annotated[str, typer.Argument(metavar="PLAN", help="A name from `aegis-paper plans`, or a .toml file.")]
Workers = Annotated[
    list[int] | None,
    typer.Option(parser=whole(1), metavar="Q", help="Only this many simulated workers; may be repeated."),
]
Preset = Annotated[str, typer.Option(metavar="NAME", help="Whose runs: paper, reference, modern or adaptive.")]
OwnPreset = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whose runs: paper, reference, modern or adaptive; else the plan's.")
]
RecordsFile = Annotated[
    Path | None,
    typer.Option(
        "--records", metavar="FILE", help="What `aegis-paper run` wrote; in a checkout: paper/records.sqlite."
    ),
]


RUN_EXAMPLES = """Examples:

- `aegis-paper run synthetic --runs 11 --workers 8 --jobs 8 --out records.sqlite`
- `aegis-paper run ablation --problems "Branin Hartmann6" --methods aegis-no-ts --jobs 2 --out records.sqlite`
- `aegis-paper run push --problems push4#1-11 --runs 1 --dask tcp://10.0.0.1:8786 --out records.sqlite`
- `aegis-paper run my_plan.toml --out records.sqlite`
"""

TABLE_EXAMPLES = """Examples:

- `aegis-paper table synthetic --workers 8`
- `aegis-paper table synthetic --workers 8 --beside adaptive`
- `aegis-paper table ablation --format latex -o ablation.tex`
- `aegis-paper table push --records my_records.sqlite`
"""

FIGURE_EXAMPLES = """Examples:

- `aegis-paper figure summary synthetic -o bars.png`
- `aegis-paper figure convergence synthetic --workers 8 --problems "Branin Ackley5" -o curves.pdf`
- `aegis-paper figure ranks push -o ranks.svg`
- `aegis-paper figure gamma -o gamma.png`
- `aegis-paper figure epsilon-decay -o epsilon.png`
"""


def run(
    plan: PlanName,
    out: Annotated[
        Path, typer.Option(metavar="FILE", dir_okay=False, help="Keeps the records; what is there is not done again.")
    ],
    runs: Annotated[
        int | None, typer.Option(parser=whole(1), metavar="N", help="Runs of each cell, instead of the plan's number.")
    ] = None,
    problems: Annotated[list[str] | None, typer.Option(metavar="NAMES", help=ONLY_THESE)] = None,
    methods: Annotated[list[str] | None, typer.Option(metavar="NAMES", help=ONLY_THESE)] = None,
    workers: Workers = None,
    preset: Annotated[
        str | None, typer.Option(metavar="NAME", help="paper, reference, modern or adaptive, instead of the plan's.")
    ] = None,
    jobs: Annotated[int, typer.Option(parser=whole(1), metavar="N", help="Runs at a time; changes no result.")] = 1,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler to run on, instead of local processes.")
    ] = None,
) -> None:
    """Do the runs of a plan that are not in FILE yet.

    Stop it as you like, with Ctrl-C or worse: every finished run is on disk, and the same command goes on from there.
    """
    from aegis_paper.cli.run import conduct
    from aegis_paper.cli.selection import words
    from aegis_paper.plans import load_plan

    chosen = load_plan(plan).only({"problems": words(problems), "methods": words(methods), "workers": workers or []})
    if runs is not None:
        chosen = chosen.with_all(runs=runs)
    if preset is not None:
        chosen = chosen.with_all(preset=preset)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        failures = conduct(chosen, out, jobs, dask, console)
    except KeyboardInterrupt:
        console.print(f"Interrupted. Finished runs are in {escape(str(out))}: the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None
    if failures:
        raise typer.Exit(FAILED)


def plans() -> None:
    """List the plans, their runs, and which tables and figures of the paper they make."""
    from aegis_paper.cli.plans import print_plans

    print_plans()


def cost(records: RecordsFile = None, preset: Preset = "paper") -> None:
    """Show the seconds of one core that a run takes, by method and dimension, and project them to the whole paper."""
    from aegis_paper.cli.cost import print_cost
    from aegis_paper.cli.selection import results_in

    print_cost(results_in(records).records, preset)


def table(
    plan: PlanName,
    workers: Workers = None,
    preset: OwnPreset = None,
    format: Annotated[str, typer.Option(metavar="NAME", help="text, latex or csv.")] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="Instead of the terminal.")
    ] = None,
    beside: Annotated[
        str | None, typer.Option(metavar="PRESET", help="One more method: AEGiS of another preset, as adaptive.")
    ] = None,
    records: RecordsFile = None,
) -> None:
    """Print the tables of a plan: median and MAD of each method, the best and its equivalents marked.

    Of plans on many instances of a problem, the average ranks are shown.
    """
    from aegis_paper.cli.selection import Selection, require_known
    from aegis_paper.tables import render

    require_known("format", format, ("text", "latex", "csv"))
    selection = Selection.of(plan, preset, records, workers, beside=beside)
    scores, ranks = selection.tables(), selection.rankings()
    if not scores and not ranks:
        raise selection.too_little()
    text = render(scores, ranks, format)
    if output is None:
        typer.echo(text, nl=False)
        return
    require_writable(output)
    output.write_text(text, encoding="utf-8")
    typer.echo(f"Wrote {output}", err=True)


def figure(
    name: Annotated[str, typer.Argument(metavar="NAME", help="convergence, summary, ranks, gamma or epsilon-decay.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="A .png, .svg or .pdf file.")
    ],
    plan: Annotated[
        str | None, typer.Argument(metavar="PLAN", help="synthetic, or for ranks profet, if not given.")
    ] = None,
    workers: Workers = None,
    problems: Annotated[list[str] | None, typer.Option(metavar="NAMES", help=ONLY_THESE)] = None,
    preset: OwnPreset = None,
    records: RecordsFile = None,
) -> None:
    """Draw a figure of the paper from the records.

    convergence: the regret after each evaluation, median and quartiles. summary: how often each method is best or
    equivalent to the best. ranks: average ranks on many instances of a problem. gamma: how often each γ is best or
    equivalent. epsilon-decay: the three schedules of ε, which need no records.
    """
    from aegis_paper.cli.figure import FIGURES
    from aegis_paper.cli.selection import Selection, require_known
    from aegis_paper.figures import draw_epsilon_decay

    require_known("figure", name, [*FIGURES, "epsilon-decay"])
    require_writable(output)
    if name == "epsilon-decay":
        draw_epsilon_decay(output)
    else:
        usual, draw = FIGURES[name]
        draw(Selection.of(plan or usual, preset, records, workers, problems), output)
    typer.echo(f"Wrote {output}", err=True)


def compare(
    plan: Annotated[
        str | None, typer.Argument(metavar="PLAN", help="synthetic, sequential, ablation, epsilon or gamma; or all.")
    ] = None,
    workers: Workers = None,
    preset: Annotated[
        list[str], typer.Option(metavar="NAME", help="Whose runs stand beside the published ones; repeat for several.")
    ] = BOTH_PRESETS,
    records: RecordsFile = None,
) -> None:
    """Put the paper's medians and ours side by side, and say which agree.

    A published median agrees if it lies between our second and second last of eleven values, or as safe a range for
    other numbers of runs, with each end moved outwards by a factor of 1.5. Preset `paper` is what the paper says,
    `reference` what its published code did.
    """
    from aegis_paper.cli.compare import no_such_table, print_comparison
    from aegis_paper.cli.selection import require_known, results_in
    from aegis_paper.published import published

    tables = dict.fromkeys((cell.study, cell.workers) for cell in published())
    if plan is not None:
        require_known("plan with published tables", plan, {study for study, _ in tables})
    chosen = [
        (study, number) for study, number in tables if plan in (None, study) and (not workers or number in workers)
    ]
    if not chosen:
        raise no_such_table(plan, workers or [], tables)
    console = Console(highlight=False)
    console.width = max(console.width, 36 + 22 * len(preset))  # a third preset does not fit into eighty columns
    print_comparison(results_in(records), chosen, preset, console)


def counts(
    workers: Annotated[int, typer.Option(parser=whole(1), metavar="Q", help="So many simulated workers.")] = 8,
    preset: Annotated[list[str], typer.Option(metavar="NAME", help="Of AEGiS; repeat for several.")] = OF_AEGIS,
    records: RecordsFile = None,
) -> None:
    """Count on how many functions each method is best, if AEGiS alone departs from the paper.

    All other methods do what the paper says, pending points included. So it shows what decides: what the published
    code of AEGiS did (`reference`), its sample paths alone (`reference:paths`), or what its rivals forgot.
    """
    from aegis_paper.cli.counts import print_counts
    from aegis_paper.cli.selection import results_in

    print_counts(results_in(records), workers, preset, Console(highlight=False))


def factors(
    workers: Workers = None,
    records: RecordsFile = None,
) -> None:
    """Show which part of AEGiS decides: its sample paths, what it thinks of pending points, or how much it explores."""
    from aegis_paper.cli.factors import print_factors
    from aegis_paper.cli.selection import results_in
    from aegis_paper.effects import numbers_of_workers

    print_factors(results_in(records), workers or numbers_of_workers(), Console(highlight=False))


def report(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="The page to write.")
    ] = Path("aegis-paper.html"),
    records: RecordsFile = None,
) -> None:
    """Write one HTML page with every claim and its verdict, every table and every figure that the records give."""
    from aegis_paper.cli import report as page
    from aegis_paper.cli.selection import results_in

    require_writable(output)
    output.write_text(page.report(results_in(records)), encoding="utf-8")
    typer.echo(f"Wrote {output}: open it in a browser.", err=True)


def claims(
    preset: Preset = "paper",
    format: Annotated[str, typer.Option(metavar="NAME", help="text or markdown.")] = "text",
    records: RecordsFile = None,
) -> None:
    """Judge the paper's claims by the records, with the numbers behind each verdict."""
    from aegis_paper.claim_rules import Evidence
    from aegis_paper.claims import CLAIMS, judge
    from aegis_paper.cli.claims import as_markdown, print_claims
    from aegis_paper.cli.selection import require_known, results_in

    require_known("format", format, ("text", "markdown"))
    evidence = Evidence(results_in(records), preset)
    judgements = [judge(claim, evidence) for claim in CLAIMS]
    if format == "markdown":
        typer.echo(as_markdown(judgements))
    else:
        print_claims(judgements, Console(highlight=False))
