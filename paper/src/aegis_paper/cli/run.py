"""What `aegis-paper run` does: carry out a campaign, and say how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

from aegis_paper.campaign import Done, Outlook, carry_out, perform, unfinished
from aegis_paper.plans import Plan
from aegis_paper.problems.push import PUSH4, PUSH8, require_box2d
from aegis_paper.records import Records
from aegisbo.outcome import kept
from aegisbo.runners.pools.base import Pool
from aegisbo.runners.pools.make_pool import make_pool

PUSHES = (f"{PUSH4.name}#", f"{PUSH8.name}#")
LOG_EVERY = 60.0  # seconds between two lines where nobody watches a bar


def conduct(plan: Plan, file: Path, jobs: int, dask: str | None, console: Console) -> list[Done]:
    """Do what the file lacks, and return the runs that failed."""
    records, failures = Records(file), []
    with records.lock():
        specs = unfinished(plan, records)
        total = sum(plan.cells().values())
        console.print(f"Plan {escape(plan.name)}: {total - len(specs):,} of {total:,} runs are in {escape(str(file))}.")
        if not specs:
            return []
        if dask is None and any(spec.problem.startswith(PUSHES) for spec in specs):
            require_box2d()  # better than to fail run by run; a cluster may have what is missing here
        outlook = Outlook(specs)
        with closing(pool_for(jobs, dask)) as pool, _progress(console, len(specs)) as tell:
            for count, done in enumerate(carry_out(specs, records, pool), start=1):
                outlook.note(done)
                if done.performed is None:
                    failures.append(done)
                    console.print(f"Failed: {escape(_named(done))}: {escape(done.failure)}", style="red")
                tell(count, outlook.seconds_left())
    console.print(f"Did {len(specs) - len(failures):,} runs.")
    if failures:
        console.print(f"{len(failures):,} runs failed; the same command tries them again.", style="red")
    return failures


def pool_for(jobs: int, dask: str | None) -> Pool:
    """So many worker processes, or all that a Dask cluster has."""
    if dask is not None:
        return make_pool(dask, perform, None, judge=kept)
    return make_pool("processes", perform, jobs, judge=kept)


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Callable[[int, float], None]]:
    """A bar for those who watch, a line now and then for those who read a log later."""
    if console.is_terminal:
        columns = TextColumn("{task.completed} of {task.total} runs"), BarColumn(), TextColumn("{task.description}")
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=total)
            yield lambda count, left: bar.update(task, completed=count, description=f"{time_in_words(left)} left")
        return
    last = monotonic()

    def log(count: int, left: float) -> None:
        nonlocal last
        if monotonic() - last > LOG_EVERY:
            last = monotonic()
            console.print(f"{count:,} of {total:,} runs, about {time_in_words(left)} left")

    yield log


def time_in_words(seconds: float) -> str:
    """A length of time, to two digits or so: 40 s, 12 min, 3 h 20 min, 4.6 days."""
    if seconds == float("inf"):
        return "an unknown time"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours == 0:
        return f"{minutes} min"
    return f"{hours} h {minutes} min" if hours < 24 else f"{seconds / 86_400:.1f} days"


def _named(done: Done) -> str:
    spec = done.spec
    return f"{spec.strategy} on {spec.problem}, q = {spec.workers}, preset {spec.preset}, run {spec.run}"
