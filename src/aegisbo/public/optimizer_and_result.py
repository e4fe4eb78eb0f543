"""The optimizer and the result that users hold; each leads to the other, and both to figures and reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from aegisbo.keywords import names_checked
from aegisbo.optimizer import Found, Settings
from aegisbo.optimizer import Optimizer as Core
from aegisbo.optimizer.trial import in_short
from aegisbo.options import SETTINGS
from aegisbo.space import Space
from aegisbo.space.constraints import Constraint
from aegisbo.space.space import SpaceLike
from aegisbo.strategies.base import Strategy

if TYPE_CHECKING:
    from pandas import DataFrame

    from aegisbo.optimizer.explanation import Explanation
    from aegisbo.optimizer.prediction import Prediction
    from aegisbo.plot.canvas import Picture


class Optimizer(Core):
    """Choose points of a space, one at a time and without ever waiting, to find where a function is smallest.

    One optimizer may be used by many threads: asks take turns, and nothing else waits for them. A result that comes in
    while a point is being chosen is not known to that choice. Several processes cannot share one: use `minimize` with
    worker processes, or an Optuna storage.

    Args:
        space: parameters by name or in a list, see `Space`.
        strategy: a name that `aegisbo strategies` lists, or a strategy object such as `aegisbo.strategies.Aegis()`.
        preset: which variant of a named strategy; None for the default one.
        seed: decides all random numbers; None draws one, to be read from `seed`.
        n_initial: how many points to spread out before the strategy takes over: by default the number of `initial`
            points if there are any, else twice the number of parameters; 0 to rely on observed data.
        initial: points to start with; a Latin hypercube completes them to `n_initial`.
        maximize: look for where the function is largest instead.
        noisy: the function gives another value each time, so that the best one measured is merely lucky: the best
            point is then the evaluated one with the best posterior mean, and AEGiS measures points of a finite space
            again where that decides who is best.
        cost: "time" if AEGiS is to prefer points whose evaluation takes less time, where that pays per second.
        constraints: what points must fulfill to be asked for, beside what the space says, see `Space`.
        limits: what must hold of quantities that are measured beside the value, such as "latency <= 5".

    Raises:
        InvalidInput: a value cannot be used; the message names it and what to give instead.
    """

    @names_checked
    def __init__(
        self,
        space: Space | SpaceLike,
        *,
        strategy: str | Strategy = "aegis",
        preset: str | None = None,
        seed: int | None = None,
        n_initial: int | None = None,
        initial: Iterable[Any] | None = None,
        maximize: bool = False,
        noisy: bool = False,
        cost: str | None = None,
        constraints: Iterable[Constraint] = (),
        limits: Iterable[str] = (),
    ) -> None:
        given = locals()
        self._begin(Settings.checked(space, **{name: given[name] for name in SETTINGS}))

    @classmethod
    def over(cls, core: Core) -> Optimizer:
        """A core in the form that users see, to go on independently."""
        if isinstance(core, cls):
            return core
        optimizer = cls.__new__(cls)
        optimizer.__setstate__(core.__getstate__())
        return optimizer

    def result(self, message: str = "") -> Result:
        """What has been found so far.

        Args:
            message: why it ends here, in your words.

        Returns:
            The best point and all trials; it does not change when more comes in.
        """
        return Result.of(self.found(message))


@dataclass(frozen=True, repr=False)
class Result(Found[Optimizer]):
    """The best point and how it was found; `x` is None and `fun` is NaN if no trial gave a value."""

    @classmethod
    def of(cls, found: Found[Any]) -> Result:
        """What a run has found, in the form that users see."""
        return cls(**{**vars(found), "optimizer": Optimizer.over(found.optimizer)})

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
