"""`aegisbo demo`: the same work done asynchronously and in batches, side by side, small enough to watch."""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from aegisbo.cli.demo_halves import Half, Stretch

EVALUATIONS = 64
WORKERS = 4
SHORTEST, LONGEST = 0.3, 3.0  # seconds of an evaluation
MARGIN, HEIGHT = 14, 8  # of the drawings, in characters and lines
BUSY, WAITING = "█", "·"
SMALLEST = 1e-9  # distance to the minimum that is drawn

INTRODUCTION = f"""\
A function of six parameters is minimized twice at the same time, each time by
{WORKERS} worker processes. An evaluation takes {SHORTEST:g} to {LONGEST:g} seconds, and the k-th one takes
equally long on both sides.
"""
TITLES = {
    "demo.db": "Asynchronous: a worker that is done gets the next point at once",
    "batches.db": "In batches: a worker that is done waits for the others",
}


def demo() -> None:
    """Watch four workers that never wait beside four that work in batches (half a minute)."""
    from aegisbo.cli.demo_halves import Half
    from aegisbo.simulation.problems import get

    console = Console(highlight=False, soft_wrap=True)
    console.print(INTRODUCTION)
    folder, problem, seconds = Path(tempfile.mkdtemp(prefix="aegisbo-")), get("Hartmann6"), durations(EVALUATIONS)
    ours, theirs = (Half(folder / file, problem, seconds, WORKERS, batches=file == "batches.db") for file in TITLES)
    with console.status(f"Starting {2 * WORKERS} worker processes ..."):
        ours.warm_up()
        theirs.warm_up()
    _run([ours, theirs], console)
    _report(ours, theirs, console)


def durations(count: int) -> list[float]:
    """Seconds of each evaluation: most are short, some are long."""
    import numpy as np

    shares = np.random.default_rng(0).beta(0.5, 1.5, count)
    return [SHORTEST + (LONGEST - SHORTEST) * float(share) for share in shares]


def _run(halves: list[Half], console: Console) -> None:
    """Run both, each in its own thread, and draw them until both have ended."""
    with ThreadPoolExecutor(len(halves)) as threads:
        runs = [threads.submit(half.run) for half in halves]
        try:
            with Live(console=console, auto_refresh=False) as live:
                while not all(run.done() for run in runs):
                    live.update(_picture(halves, console), refresh=console.is_terminal)
                    time.sleep(0.1)
                live.update(_picture(halves, console), refresh=True)
            if not console.is_terminal:
                console.print()  # the picture does not end with a newline
        except KeyboardInterrupt:
            for half in halves:
                half.stopped = True
            raise
    for run in runs:
        run.result()


def _picture(halves: list[Half], console: Console) -> Group:
    """The workers' time so far, both halves on one scale."""
    scale = _width(console) / max(_expected_seconds(halves[-1].durations), *(half.seconds for half in halves))
    lines = []
    for half in halves:
        lines.append(Text(TITLES[half.path.name], style="bold"))
        for worker in range(half.capacity):
            bar = timeline(tuple(half.stretches), worker, half.started, half.seconds, scale)
            bar = bar.replace(BUSY, "#").replace(WAITING, ".") if console.options.ascii_only else bar
            line = Text(f"  worker {worker + 1}  {bar}", no_wrap=True)
            line.highlight_regex(f"{WAITING}+", style="red")
            lines.append(line)
        best = f"{half.best_after(math.inf):.4f}" if half.learned else "-"
        counts = f"{len(half.learned)} of {len(half.durations)} evaluations"
        lines.append(Text(f"  {half.seconds:4.1f} s  {counts}  best {best}  idle {half.idle:.0%}"))
        lines.append(Text())
    return Group(*lines[:-1])


def _width(console: Console) -> int:
    return min(console.width, 120) - MARGIN


def _expected_seconds(durations: list[float]) -> float:
    """Roughly how long batches will take: a tenth more than the longest evaluation of each."""
    return 1.1 * sum(max(durations[k : k + WORKERS]) for k in range(0, len(durations), WORKERS))


def _report(ours: Half, theirs: Half, console: Console) -> None:
    from aegisbo.cli.tables import plain_table

    minimum = ours.problem.minimum
    assert minimum is not None
    traces = {
        mark: [(moment, max(best - minimum, SMALLEST)) for moment, best in half.learned]
        for mark, half in (("*", ours), ("o", theirs))
    }
    console.print("\nDistance of the best value to the minimum (* asynchronous, o in batches):", style="bold")
    for line in curves(traces, _width(console), HEIGHT):
        console.print(line)
    first = min(half.learned[-1][0] for half in (ours, theirs))
    table = plain_table([f"{len(ours.durations)} evaluations by {WORKERS} workers"], ["asynchronous", "in batches"])
    rows: dict[str, Callable[[Half], str]] = {
        "seconds": lambda half: f"{half.seconds:.1f}",
        "idle, of the workers' time": lambda half: f"{half.idle:.1%}",
        f"best value after {first:.1f} s": lambda half: f"{half.best_after(first):.5f}",
        f"best value at the end (the minimum is {minimum:.5f})": lambda half: f"{half.best_after(math.inf):.5f}",
    }
    for label, text in rows.items():
        table.add_row(label, text(ours), text(theirs))
    console.print()
    console.print(table)
    console.print("\nWhat to type next:")
    program = _program()
    for command, meaning in {
        f"{program} report {ours.path}": "a page for your browser: workers' time, reasons, model",
        f"{program} serve {ours.path} {theirs.path}": "both side by side; works for your own runs too, while they run",
        f"{program} show {ours.path}": "every evaluation, and why its point was chosen",
        f"{program} replay {ours.path}": "make every decision again and compare",
        f"{program} simulate --problem Branin --strategy all": "all strategies on a virtual clock",
        f"{program} minimize --help": "your own function or program",
    }.items():
        console.print(f"  {command}\n      {meaning}")


def _program() -> str:
    """The command as the user types it: `make demo` calls a program that is not on the path."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "aegisbo" and shutil.which("aegisbo") is None else "aegisbo"


def timeline(stretches: Sequence[Stretch], worker: int, start: float, seconds: float, scale: float) -> str:
    """One worker's time, `scale` characters a second: each says whether the worker was busy for most of it."""
    spans = [
        ((stretch.begin - start) * scale, math.inf if stretch.end is None else (stretch.end - start) * scale)
        for stretch in stretches
        if stretch.worker == worker
    ]
    shares = (
        sum(max(min(end, cell + 1) - max(begin, cell), 0.0) for begin, end in spans)
        for cell in range(round(seconds * scale))
    )
    return "".join(BUSY if share > 0.5 else WAITING for share in shares)


def curves(traces: Mapping[str, Sequence[tuple[float, float]]], width: int, height: int) -> list[str]:
    """Step functions of time on a logarithmic axis, each until its last step; the first one lies on top.

    A trace, by the character that draws it, says when each value was reached. Values are above zero.
    """
    until = max(trace[-1][0] for trace in traces.values())
    logs = [math.log10(value) for trace in traces.values() for _, value in trace]
    top, step = max(logs), (max(logs) - min(logs)) / (height - 1) or 1.0
    rows = [[" "] * width for _ in range(height)]
    for mark, trace in reversed(list(traces.items())):
        for column in range(math.ceil(width * trace[-1][0] / until)):
            known = [value for moment, value in trace if moment <= (column + 1) * until / width]
            if known:
                rows[round((top - math.log10(known[-1])) / step)][column] = mark
    drawn = [f"{10 ** (top - k * step):9.2g} |{''.join(row)}".rstrip() for k, row in enumerate(rows)]
    ticks = "0 s" + f"{until:.0f} s".rjust(width - 3)
    return [*drawn, " " * 10 + "+" + "-" * width, " " * 11 + ticks]
