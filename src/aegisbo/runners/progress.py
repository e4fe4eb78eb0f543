"""What a run shows in a terminal: a bar, the best so far, how many run and failed, how idle the workers are."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from aegisbo.optimizer import Optimizer
from aegisbo.outcome import FAILURES
from aegisbo.runners.loop import Run


class Display:
    """A progress bar over the evaluations of one optimizer."""

    def __init__(self, optimizer: Optimizer, budget: int) -> None:
        self._optimizer = optimizer
        self._progress = Progress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("best [bold]{task.fields[best]}[/]"),
            TextColumn("{task.fields[running]} running"),
            TextColumn("{task.fields[failed]}"),
            TextColumn("idle {task.fields[idle]:.1%}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task("", total=budget, best="-", running=0, failed="", idle=0.0)

    def __enter__(self) -> Callable[[Callable[[], Run]], None]:
        self._progress.start()
        return self.show

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def show(self, record: Callable[[], Run]) -> None:
        """Redraw with what is known now; idle counts only waiting for a suggestion or for the pool."""
        shares = record().idle_shares
        result = self._optimizer.result()
        failed = sum(trial.state in FAILURES for trial in result.trials)
        self._progress.update(
            self._task,
            completed=result.nfev,
            best=f"{result.fun:.6g}" if result.success else "-",
            running=len(self._optimizer.pending),
            failed=f"[red]{failed} failed[/]" if failed else "",
            idle=shares["suggestion"] + shares["pool"],
        )
