"""`aegis-paper table`, `figure`, `compare` and `claims`: what the records say."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from aegisbo.cli.writing import require_writable
from aegisbo.errors import UnknownName

Workers = Annotated[
    list[int] | None, typer.Option(min=1, metavar="Q", help="Only this many simulated workers; may be repeated.")
]
Preset = Annotated[str, typer.Option(metavar="NAME", help="Whose runs: paper, reference or modern.")]
RecordsFolder = Annotated[
    Path | None, typer.Option("--records", metavar="DIR", help="What `paper run` wrote; in a checkout: paper/records.")
]

BOTH_PRESETS = ["paper", "reference"]  # what the paper says, and what its code did

TABLE_EXAMPLES = """Examples:

- `aegis-paper table synthetic --workers 8`
- `aegis-paper table ablation --format latex -o ablation.tex`
- `aegis-paper table push --records my_records`
"""

FIGURE_EXAMPLES = """Examples:

- `aegis-paper figure summary synthetic -o bars.png`
- `aegis-paper figure convergence synthetic --workers 8 --problems "Branin Ackley5" -o curves.pdf`
- `aegis-paper figure ranks push -o ranks.svg`
- `aegis-paper figure gamma -o gamma.png`
- `aegis-paper figure epsilon-decay -o epsilon.png`
"""


def table(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help="A name from `aegis-paper plans`, or a .toml file.")],
    workers: Workers = None,
    preset: Preset = "paper",
    format: Annotated[str, typer.Option(metavar="NAME", help="text, latex or csv.")] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="Instead of the terminal.")
    ] = None,
    records: RecordsFolder = None,
) -> None:
    """Print the tables of a plan: median and MAD of each method, the best and its equivalents marked.

    Of plans on many instances of a problem, the average ranks are shown.
    """
    from aegis_paper import rank_tables, tables
    from aegis_paper.cli.records import Selection

    _require_known("format", format, ("text", "latex", "csv"))
    selection = Selection.of(plan, preset, records, workers)
    standings, rankings = selection.standings(), selection.rankings()
    if not standings and not rankings:
        raise selection.too_little()
    parts = [tables.render(standings, format)] if standings else []
    parts += [rank_tables.render(rankings, format)] if rankings else []
    if output is None:
        typer.echo("\n".join(parts), nl=False)
        return
    require_writable(output)
    output.write_text("\n".join(parts), encoding="utf-8")
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
    problems: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Only these; separate them with blanks, or repeat the option."),
    ] = None,
    preset: Preset = "paper",
    records: RecordsFolder = None,
) -> None:
    """Draw a figure of the paper from the records.

    convergence: the regret after each evaluation, median and quartiles. summary: how often each method is best or
    equivalent to the best. ranks: average ranks on many instances of a problem. gamma: how often each γ is best or
    equivalent. epsilon-decay: the three schedules of ε, which need no records.
    """
    from aegis_paper.cli.figures import KINDS
    from aegis_paper.cli.records import Selection
    from aegis_paper.figures import draw_epsilon_decay

    _require_known("figure", name, [*KINDS, "epsilon-decay"])
    require_writable(output)
    if name == "epsilon-decay":
        draw_epsilon_decay(output)
    else:
        kind = KINDS[name]
        kind.draw(Selection.of(plan or kind.plan, preset, records, workers, problems), output)
    typer.echo(f"Wrote {output}", err=True)


def compare(
    plan: Annotated[
        str | None, typer.Argument(metavar="PLAN", help="synthetic, sequential, ablation, epsilon or gamma; or all.")
    ] = None,
    workers: Workers = None,
    preset: Annotated[
        list[str], typer.Option(metavar="NAME", help="Whose runs stand beside the published ones; repeat for several.")
    ] = BOTH_PRESETS,
    records: RecordsFolder = None,
) -> None:
    """Put the paper's medians and ours side by side, and say which agree.

    A published median agrees if it lies between our second and second last of eleven values, or as safe a range for
    other numbers of runs, with each end moved outwards by a factor of 1.5. Preset `paper` is what the paper says,
    `reference` what its published code did.
    """
    from aegis_paper.cli.comparison import print_comparison
    from aegis_paper.cli.records import results_in
    from aegis_paper.published import published

    tables = dict.fromkeys((cell.study, cell.workers) for cell in published())
    if plan is not None:
        _require_known("plan with published tables", plan, {study for study, _ in tables})
    chosen = [
        (study, number) for study, number in tables if plan in (None, study) and (not workers or number in workers)
    ]
    console = Console(highlight=False)
    console.width = max(console.width, 36 + 22 * len(preset))  # a third preset does not fit into eighty columns
    print_comparison(results_in(records), chosen, preset, console)


def claims(
    preset: Preset = "paper",
    format: Annotated[str, typer.Option(metavar="NAME", help="text or markdown.")] = "text",
    records: RecordsFolder = None,
) -> None:
    """Judge every claim of the paper by the records, with the numbers behind each verdict."""
    from aegis_paper.claims import CLAIMS
    from aegis_paper.cli.claims import as_markdown, print_claims
    from aegis_paper.cli.records import results_in
    from aegis_paper.judgement import Evidence, judge

    _require_known("format", format, ("text", "markdown"))
    evidence = Evidence(results_in(records), preset)
    judgements = [judge(claim, evidence) for claim in CLAIMS]
    if format == "markdown":
        typer.echo(as_markdown(judgements))
    else:
        print_claims(judgements, Console(highlight=False))


def _require_known(kind: str, name: str, known: Iterable[str]) -> None:
    known = list(known)
    if name not in known:
        raise UnknownName(kind, name, known)
