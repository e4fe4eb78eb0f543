"""`aegisbo advise`: how long other numbers of workers would take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.console import Console

from aegisbo.cli.arguments import Jobs, Seed, Study, counted, numbers_in
from aegisbo.cli.tables import plain_table, short
from aegisbo.cli.writing import require_writable
from aegisbo.errors import InvalidInput
from aegisbo.printable import duration, printable

if TYPE_CHECKING:
    from rich.table import Table

    from aegisbo.advice import Advice
    from aegisbo.advice.simulated_run import Foretold
    from aegisbo.simulation.comparison import Quartiles

T = TypeVar("T")
UNITS = (("d", 86400), ("h", 3600), ("min", 60))
PICTURES = (".png", ".svg", ".pdf")
EXAMPLES = """Examples:

- `aegisbo advise run.db --workers 2,4,8,16`
- `aegisbo advise run.db --workers 32 --target 0.05 --jobs 4 -o advice.png`
"""


def advise(
    study: Study,
    workers: Annotated[
        str,
        typer.Option(metavar="NUMBERS", help="Team sizes to compare; that of the study is always included."),
    ] = "2,4,8,16",
    target: Annotated[
        float | None,
        typer.Option(
            metavar="VALUE",
            help="Value to reach (default: 1 % of the way from the best to the median value). Of several objectives, a "
            "hypervolume (99 % of the study's).",
        ),
    ] = None,
    runs: Annotated[int, counted("Simulated runs of each team.")] = 9,
    jobs: Jobs = 1,
    seed: Seed = 0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also draw it, to a .png, .svg or .pdf file.")
    ] = None,
) -> None:
    """Estimate how long other numbers of workers would have taken.

    The study is simulated from its beginning with its own strategy, on functions that agree with its results and with
    job times like those that it measured.
    """
    from aegisbo.advice import advise as ask

    draw = None if output is None else _drawing_into(output)
    found = ask(
        study, numbers_in(workers, "--workers"), target=target, runs=runs, jobs=jobs, seed=seed, watch=with_a_bar
    )
    console = Console(highlight=False, soft_wrap=True)
    console.print(_introduction(found))
    console.print(_table(found))
    for line in _remarks(found):
        console.print(line)
    if draw is not None:
        draw(found)
        console.print(f"{output}: the same as a picture.")


def _drawing_into(file: Path) -> Callable[[Advice], None]:
    """Return a function that draws into the file; refuse before the work begins if drawing would fail."""
    from aegisbo.plot import advice

    require_writable(file)
    if file.suffix.lower() not in PICTURES:
        raise InvalidInput(f"{file} cannot be drawn: give the name of a {', '.join(PICTURES)} file.")

    def draw(found: Advice) -> None:
        try:
            advice(found).savefig(file, dpi=150)
        except OSError as error:
            raise InvalidInput(f"{file} cannot be written: {error}") from error

    return draw


def with_a_bar(reached: Iterator[T], total: int) -> Iterable[T]:
    """Show a progress bar on a terminal; elsewhere, say once what takes the time."""
    from rich.progress import track

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.print(f"Simulating {total} runs, which may take minutes of processor time (--jobs shares it out) ...")
    return track(reached, "Simulating", total, console=console, transient=True, disable=not console.is_terminal)


def doubts(found: Foretold, which: str) -> str:
    """A warning if a model cannot be trusted; else nothing."""
    if not found.doubtful or found.predictions is None:
        return ""
    said = printable(f"{found.predictions.text} {found.predictions.remedy}")
    return f"Warning: the {which} does not predict well, so do not trust what follows. {said}\n\n"


def _introduction(found: Advice) -> str:
    from aegisbo.optimizer.trial import in_brief

    if found.reference is None:
        close = "" if found.chosen else ", 1 % of the way from the best value to the median one"
    else:
        close = f" up to {in_brief(found.reference)}{'' if found.chosen else ', 99 % of what the study reached'}"
    which = found.predictions.topic if found.reference and found.predictions else "model of this study"
    stopped = f", and {found.stopped} that were stopped early" if found.stopped else ""
    return (
        f"{doubts(found, which)}To reach {found.aimed_at}{close} (learned from {found.results} evaluations{stopped}):\n"
    )


def _table(found: Advice) -> Table:
    table = plain_table(["workers"], ["time", "middle half", "evaluations", "speed-up", "middle half"])
    for k, forecast in enumerate(found.forecasts):
        title = f"{forecast.workers}{', in batches' if forecast.batches else ''}{' (as it ran)' if k == 0 else ''}"
        speedup = found.speedup(forecast)
        table.add_row(
            title,
            *_texts(forecast.time, _in_one_unit),
            _texts(forecast.effort, lambda number: f"{number:.0f}")[0],
            *(("-", "-") if speedup is None else _texts(speedup, short, "any")),
        )
    return table


def _in_one_unit(seconds: float) -> str:
    """Two digits, so that three of them fit on a line: 12 s, 1.7 min."""
    unit, size = next(((unit, size) for unit, size in UNITS if seconds >= size), ("s", 1))
    return f"{short(seconds / size)} {unit}"


def _texts(quartiles: Quartiles, text: Callable[[float], str], beyond: str = "never") -> tuple[str, str]:
    """The median and the middle half in words."""
    low, middle, high = (text(each) if math.isfinite(each) else beyond for each in quartiles)
    return middle, f"{low} to {high}"


def _remarks(found: Advice) -> Iterator[str]:
    runs = len(found.forecasts[0].seconds)
    aim, spread = _texts(found.aim, lambda value: f"{value:.4g}")
    yield (
        f"\n{f'Medians of {runs} simulated runs' if runs > 1 else 'One simulated run'} of each team, each on a "
        "stand-in for the function: every other one is the model's mean, the rest are drawn from the model. "
        "On its stand-in, a run must reach the equivalent of the target: "
        f"{aim}{f' in the median ({spread})' if runs > 1 else ''}."
    )
    if found.took is not None:
        yield f"The study itself took {duration(found.took[0])} and {found.took[1]} evaluations."
        if found.had_aim is not None and found.had_aim < found.took[1]:
            yield (
                f"It reached {aim} after {found.had_aim} evaluations. The model smooths away the rest, so simulated "
                "runs need not find it."
            )
    for forecast in found.forecasts:
        if forecast.missed:
            yield f"{forecast.title}: {forecast.missed} of {runs} gave up after {found.given_up_after} evaluations."
    if waiting := sorted({forecast.workers for forecast in found.forecasts if found.waits(forecast)}):
        yield (
            f"Suggestions are the bottleneck with {' and '.join(map(str, waiting))} workers: a point takes "
            f"{duration(found.suggestion)} to choose and {duration(found.evaluation)} to evaluate, so at most "
            f"{max(math.floor(found.evaluation / found.suggestion), 1)} can be kept busy. "
            'preset="modern" chooses faster; or put several evaluations into one.'
        )
    if any(each.pace != 1.0 for each in found.members):
        paces = ", ".join(f"{each.pace:.2g}" for each in found.members)
        yield f"The workers of the study differ, and so do those of simulated runs: × {paces} as long as a typical one."
    if any(math.isfinite(each.stays) for each in found.members):
        yield "Evaluations were lost with their workers, and are in simulated runs, as often."
    if found.stopped:
        yield (
            "Simulated evaluations report nothing: they are stopped where those of the study were, and after as long, "
            "whatever the team. Expect times that are too long."
        )
    yield "Job times are assumed to stay the same. docs/advise.md says how far off such forecasts have been."
