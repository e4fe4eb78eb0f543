"""`aegisbo demo`: a real asynchronous run, small enough to watch."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console

BUDGET = 60
WORKERS = 4
PAUSE = 1.0  # seconds that the slowest evaluations take

INTRODUCTION = f"""\
{WORKERS} worker processes minimize a function of six parameters. One call takes between 0.1
and {PAUSE:g} seconds, depending on the point. A worker that is done gets its next point at once.
"""


def uneven(**x: float) -> float:
    """Hartmann's function of six parameters, slower in some places than in others."""
    from aegisbo.simulation.problems import get

    time.sleep(PAUSE * (0.1 + 0.9 * x["x1"] ** 2))
    return get("Hartmann6")([x[f"x{i}"] for i in range(1, 7)])


def demo() -> None:
    """Watch four worker processes of uneven speed minimize a function (half a minute)."""
    from aegisbo.cli.minimize import report
    from aegisbo.runners.minimize import minimize
    from aegisbo.simulation.problems import get
    from aegisbo.space import Real

    console = Console(highlight=False, soft_wrap=True)
    console.print(INTRODUCTION)
    study = Path(tempfile.mkdtemp(prefix="aegisbo-"), "demo.db")
    space: dict[str, Any] = {f"x{i}": Real(0.0, 1.0) for i in range(1, 7)}
    result = minimize(uneven, space, budget=BUDGET, workers=WORKERS, seed=0, study=study)
    report(result, study, console)
    console.print(f"The true minimum is {get('Hartmann6').minimum:.8g}.\n")
    console.print("What to type next:")
    for command, meaning in {
        f"aegisbo show {study}": "every evaluation, and why its point was chosen",
        f"aegisbo replay {study}": "make every decision again and compare",
        "aegisbo simulate --problem Branin --strategy all": "all strategies on a virtual clock",
        "aegisbo minimize --help": "your own function or program",
    }.items():
        console.print(f"  {command}\n      {meaning}")
