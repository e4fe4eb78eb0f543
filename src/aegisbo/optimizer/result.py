"""The outcome of a run, in the words of SciPy's results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aegisbo.optimizer.failures import counted, in_words
from aegisbo.optimizer.trial import Trial, in_short
from aegisbo.printable import printable

if TYPE_CHECKING:
    from pandas import DataFrame

    from aegisbo.optimizer.explanation import Explanation
    from aegisbo.optimizer.limits import Standing
    from aegisbo.optimizer.optimizer import Optimizer
    from aegisbo.optimizer.prediction import Prediction
    from aegisbo.plot.canvas import Picture

REASONS = 3  # that a message names


@dataclass(frozen=True, repr=False)
class Result:
    """The best point and how it was found; `x` is None and `fun` is NaN if no trial gave a value."""

    x: Any  # in the form that the function receives
    fun: float  # as measured, so the largest one if it was maximized; the posterior mean at x if values are noisy
    nfev: int  # evaluations that came to an end, also without a value
    success: bool  # whether there is a best point that keeps all limits, and nobody stopped the run by Ctrl-C
    ending: str  # why it ends here
    trials: tuple[Trial, ...]
    best: Trial | None  # the one at x, with the value measured there
    optimizer: Optimizer = field(compare=False)  # as it was then: it can be asked, and goes on by itself
    limits: tuple[Standing, ...] = ()  # how the best stands to each limit: what was measured, how far, whether it binds
    idle: Mapping[str, float] | None = None  # shares of the workers' time, by cause; None if nobody kept account
    study: Path | None = field(default=None, compare=False)  # where the file of the run is, if it has one

    @property
    def failures(self) -> dict[str, int]:
        """Why evaluations gave no value, and how often, the most frequent reason first.

        Reasons that differ only in numbers are counted under the first of them.
        """
        return counted(self.trials)

    @property
    def message(self) -> str:
        """Why it ends here, what went wrong on the way, and if all did, how to find out more."""
        failed = sum(self.failures.values())
        return f"{self.summary}{self._remedy()}" if failed and failed == self.nfev else self.summary

    @property
    def summary(self) -> str:
        """Why it ends here, and what went wrong on the way."""
        failures = self.failures
        failed = sum(failures.values())
        if not failed:
            return self.ending
        reasons = "; ".join(reason.rstrip(".") for reason in in_words(failures, REASONS))
        return f"{self.ending} {failed} of {self.nfev} evaluations gave no value: {reasons}."

    def predict(self, points: Any) -> Prediction:
        """What the model expects at points of your own, in your units; see `Optimizer.predict`.

        Args:
            points: one point, a trial, a list of these, or a matrix.

        Returns:
            Numbers for one point, arrays for several.

        Raises:
            NoModel: the strategy has no model, or there are too few values for it.
            InvalidInput: a point is none of the space.
        """
        return self.optimizer.predict(points)

    def explain(self, point: Any) -> Explanation:
        """What is known about a point, or why a trial is where it is; see `Optimizer.explain`.

        Args:
            point: in the form that the function receives or by name; or a trial or its number.

        Returns:
            What is known, made to be printed.

        Raises:
            InvalidInput: it is no point of the space.
            TrialError: there is no trial with this number.
        """
        explanation = self.optimizer.explain(point)
        if explanation.trial is None or self.study is None or not self.study.exists():
            return explanation
        from aegisbo.report.record import Record

        decision = Record.of_study(self.study).decisions.get(explanation.trial.number)
        return explanation if decision is None else replace(explanation, behind=decision.behind)

    def plot(self, kind: str = "convergence", **options: Any) -> Picture:
        """A figure of this run, drawn by the function of that name in `aegisbo.plot`; it needs matplotlib.

        Args:
            kind: "convergence", "timeline", "reasons", "slices", "contour", "importance" or "front".
            options: what that function takes besides the result.

        Returns:
            The figure: it shows by itself in a notebook, and `figure.savefig("run.svg")` writes it.

        Raises:
            UnknownName: there is no such figure.
            MissingExtra: matplotlib is not installed.
        """
        from aegisbo import plot

        return plot.draw(kind, self, **options)

    def to_pandas(self) -> DataFrame:
        """A table with a row for each trial, indexed by its number; it needs pandas.

        Returns:
            The columns `state`, `value`, `sd` if one was told, `param_...` for each parameter, `move`, `mean` and `std`
            (as predicted when the point was chosen), `started_at`, `ended_at`, `seconds`, `worker` and `reason`.

        Raises:
            MissingExtra: pandas is not installed.
        """
        from aegisbo.optimizer.trial_frame import frame_of

        return frame_of(self.trials, self.optimizer.space)

    def _repr_html_(self) -> str:
        """What a notebook shows: the same as `repr` with six digits, in a table, and a picture of the best so far."""
        from aegisbo.report.picture import convergence_svg
        from aegisbo.report.record import Record

        left, lines = ' style="text-align: left"', self._lines()
        if self.best is not None:
            lines |= {"x": in_short(self.best.params), "fun": f"{self.fun:.6g}"}
        rows = (f"<tr><th>{name}</th><td{left}>{escape(str(value))}</td></tr>" for name, value in lines.items())
        return f"<table>{''.join(rows)}</table>{convergence_svg(Record.of_optimizer(self.optimizer))}"

    def _remedy(self) -> str:
        """How to find out more, if an error was raised somewhere."""
        number = next((trial.number for trial in self.trials if trial.traceback), None)
        if number is None:
            return ""
        shown = "" if self.study is None else f", and `aegisbo show {_from_here(self.study)} --trial {number}` shows it"
        return f' To see where: executor="serial" raises the error, result.trials[{number}].traceback holds it{shown}.'

    def _lines(self) -> dict[str, Any]:
        states = Counter(trial.state for trial in self.trials)
        counts = ", ".join(f"{count} {state}" for state, count in states.items())
        lines = {
            **{name: getattr(self, name) for name in ("x", "fun", "nfev", "success", "message")},
            "trials": f"{len(self.trials)} ({counts})" if counts else "0",
        }
        if self.limits:
            lines["limits"] = "; ".join(map(str, self.limits))
        if self.idle is not None:
            lines["idle"] = ", ".join(f"{share:.1%} {cause}" for cause, share in self.idle.items())
        return lines

    def __repr__(self) -> str:
        return printable("\n".join(f"{name:>8}: {value}" for name, value in self._lines().items()))


def _from_here(path: Path) -> Path:
    """A name of the file that a command can be given."""
    try:
        here = Path.cwd()
    except OSError:  # the folder has been removed
        return path
    return path.relative_to(here) if path.is_relative_to(here) else path
