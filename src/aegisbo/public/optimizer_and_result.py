"""The optimizer and the result that users hold; each leads to the other, and both to figures and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Self, cast

from aegisbo.errors import NoModel, UnknownName
from aegisbo.events import Ended, Forgotten, Observed, Retried
from aegisbo.keywords import names_checked
from aegisbo.optimizer import Core, Found, Settings, Trial
from aegisbo.optimizer.explanation import Explanation
from aegisbo.optimizer.settings import as_stored
from aegisbo.optimizer.told import checked_seconds, outcome_told
from aegisbo.optimizer.trial import in_brief, in_short
from aegisbo.options import SETTINGS
from aegisbo.outcome import FAILURES, Failure, Outcome
from aegisbo.printable import printable
from aegisbo.space import Params, Space
from aegisbo.space.constraints import Constraint
from aegisbo.space.space import SpaceLike
from aegisbo.strategies.base import Strategy

if TYPE_CHECKING:
    from pandas import DataFrame

    from aegisbo.optimizer.prediction import Prediction
    from aegisbo.plot.canvas import Picture

PARTS = ("memory", "observed", "trials", "added")  # of a state beside the settings; older versions have no "added"


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
        noisy: the function gives a different value each time, so the best measured value may be mere luck. The best
            point is then the evaluated one with the best posterior mean. In a finite space AEGiS asks for a point again
            where that helps to decide which is best.
        cost: "time" if AEGiS is to prefer points whose evaluation takes less time, where that pays per second.
        constraints: what a point must satisfy to be asked for, in addition to what the space says; see `Space`.
        limits: what must hold for quantities that are measured beside the value, such as "latency <= 5".

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
        super().__init__(Settings.checked(space, **{name: given[name] for name in SETTINGS}))

    @classmethod
    def over(cls, core: Core) -> Self:
        """A core in the form that users see, to go on independently."""
        if isinstance(core, cls):
            return core
        optimizer = cls.__new__(cls)
        optimizer.__setstate__(core.__getstate__())
        return optimizer

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], strategy: Strategy | None = None, constraints: Iterable[Constraint] = ()
    ) -> Self:
        """Go on from a stored `state` as if nothing had happened.

        Args:
            state: what the method `state` returned.
            strategy: the strategy object, if the run had one that cannot be written as text.
            constraints: the functions among the constraints, if there were some.

        Returns:
            An optimizer that makes the same choices as the one whose state was stored.

        Raises:
            InvalidInput: another version wrote the state, or a strategy object is missing or not wanted.
        """
        given = tuple(constraints)
        functions = Space.from_description(state["space"]).given(given) if given else None
        settings = Settings.from_description(state, strategy, functions)
        stored = as_stored({"added": (), **{name: state[name] for name in PARTS if name in state}})
        optimizer = cls.over(Core(settings))
        optimizer.restore((*stored["observed"], *stored["trials"]), stored["memory"], stored["added"])
        return optimizer

    def ask(self, *, within: float | None = None) -> Trial:
        """The next trial to evaluate, pending from now on. Waits for no result; may be called any number of times.

        Args:
            within: seconds that are left, if there is a limit: a point is chosen whose evaluation will probably be
                finished by then, judged by the times of those that have ended.

        Returns:
            The trial: `x` is what the function receives, `number` is what `tell` wants back, `note` says why.

        Raises:
            SpaceExhausted: every point of a finite space is evaluated or under evaluation.
            NoTime: no evaluation would probably be finished within that time; nothing has changed.
            InvalidInput: `within` is not a number of seconds.
        """
        with self._turn:
            return cast("Trial", self.apply(self.choose(within)))

    def add(self, x: Any) -> Params:
        """Have a point of your own evaluated: the next `ask` returns it, after other added points that still wait.

        Points of `initial` come first. It counts like any other trial.

        Args:
            x: in the form that the function receives, or by name.

        Returns:
            Its values by name.

        Raises:
            InvalidInput: it is no point of the space, or breaks a constraint; or it has been asked for or added
                before, unless values are noisy.
        """
        with self._lock:
            event = self.addition(x)
            self.apply(event)
        return event.params

    def tell(
        self,
        trial: Trial | int,
        value: float,
        seconds: float | None = None,
        *,
        sd: float | None = None,
        measured: Mapping[str, float] | None = None,
    ) -> Trial:
        """End a trial with the value measured; one that is not finite makes the trial invalid.

        Args:
            trial: the trial or its number.
            value: what was measured.
            seconds: how long that took, if you want `cost="time"` or `ask(within=...)` to know.
            sd: the standard deviation of this value, if you know it, such as that of a mean of 5 measurements. The
                model trusts the value accordingly, beside the noise that it learns (not with the `paper` preset).
            measured: other quantities by name; if one that has a limit is missing, the trial is invalid.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or has ended already.
            InvalidInput: the value, the seconds or the standard deviation are not a number.
        """
        outcome = outcome_told(value, sd, measured)
        return self.end(trial, replace(outcome, seconds=checked_seconds(seconds, "seconds")))

    def fail(self, trial: Trial | int, reason: str, state: Failure = "failed") -> Trial:
        """End a trial that gave no usable value; it tells the model where evaluations fail.

        Args:
            trial: it or its number.
            reason: why, in your words.
            state: "failed", "invalid" or "timed_out".

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or has ended already.
            InvalidInput: there is no such way to fail.
        """
        if state not in FAILURES:
            raise UnknownName("way to fail", state, FAILURES)
        return self.end(trial, Outcome(state, reason=str(reason)))

    def expire(self, trial: Trial | int) -> Trial:
        """Stop waiting for a trial: it is lost and its point is free again, but a late `tell` or `fail` still counts.

        Args:
            trial: it or its number.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or has ended already.
        """
        return self.end(trial, Outcome("lost", reason="lost"))

    def end(self, trial: Trial | int, outcome: Outcome) -> Trial:
        """End a trial with an outcome that has been judged already, as pools report it; `tell` and `fail` come here.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or has ended already.
        """
        with self._lock:
            return cast("Trial", self.apply(Ended(self._trials.require_open(trial, outcome), outcome)))

    def retry(self, trial: Trial | int) -> Trial:
        """Let a trial that has ended be pending again, with the same number and point; how it ended is dropped.

        Args:
            trial: it or its number.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, is pending already, or was forgotten.
        """
        return self._think_again(Retried, trial)

    def forget(self, trial: Trial | int) -> Trial:
        """Drop a trial, pending or ended, as if it had never been asked for: no result and no evaluation of it counts.

        Args:
            trial: it or its number.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or was forgotten already.
        """
        return self._think_again(Forgotten, trial)

    def _think_again(self, kind: type[Retried | Forgotten], trial: Trial | int) -> Trial:
        with self._turn, self._lock:
            number = self.trial(trial).number
            self.apply(kind([number]))
            return self.trial(number)

    def observe(
        self, x: Any, y: float, measured: Mapping[str, float] | None = None, *, sd: float | None = None
    ) -> Trial:
        """Take in a value that was measured elsewhere; `x` in the form that the function receives, or by name.

        Args:
            x: where it was measured.
            y: the value.
            measured: other quantities by name, as for `tell`.
            sd: its standard deviation, as for `tell`.

        Returns:
            The observed point as a trial with a negative number.

        Raises:
            InvalidInput: `x` is no point of the space, or `y` or `sd` is not a number.
        """
        with self._lock:
            observed = Observed(-1 - len(self.observed), self.space.check(x), outcome_told(y, sd, measured))
            return cast("Trial", self.apply(observed))

    def predict(self, points: Any) -> Prediction:
        """What the model expects at points of your own, in your units; the run goes on as if nobody had asked.

        The model knows all results that are in. Failed evaluations tell it where others may fail (with the `paper`
        preset they are bad values). Pending trials change nothing.

        Args:
            points: one point in the form that the function receives or by name, or a trial; or a list of these, or a
                matrix with a point in each row.

        Returns:
            Mean, standard deviation, the limits of 95 %, the chance to be better than the best so far, and the chance
            that an evaluation succeeds: numbers for one point, arrays for several.

        Raises:
            NoModel: the strategy has no model, or there are too few values for it.
            InvalidInput: a point is none of the space.
        """
        return self.model().predict(points)

    def explain(self, point: Any) -> Explanation:
        """What is known about one point, and why it was chosen if it is a trial's: made to be printed.

        Args:
            point: in the form that the function receives or by name; or a trial or its number (-1, -2, ... for points
                observed elsewhere).

        Returns:
            The prediction, the nearest evaluated point, what each parameter would change, and of a trial what was
            decided then. What needs a model is left out if there is none, with a remark that says why.

        Raises:
            InvalidInput: it is no point of the space.
            TrialError: there is no trial with this number.
        """
        params, trial = self.located(point)
        try:
            return self.model().explain(params, trial)
        except NoModel as error:
            return Explanation(params, trial, remark=str(error), broken=tuple(self.space.broken(params)))

    @property
    def best(self) -> Trial | None:
        """The trial or observed point with the best value so far, the first of equals; None without any value.

        If values are noisy it is the one with the best posterior mean, for which a model is fitted at each look.
        """
        return self.found().best

    def result(self, message: str = "") -> Result:
        """What has been found so far.

        Args:
            message: why it ends here, in your words.

        Returns:
            The best point and all trials; it does not change when more comes in.
        """
        return Result.of(self.found(message))

    def __repr__(self) -> str:
        settings, states = self.settings, Counter(trial.state for trial in self.trials)
        counts = ", ".join(f"{count} {state}" for state, count in states.items()) or "none yet"
        elsewhere = f", and {len(self.observed)} observed elsewhere" if self.observed else ""
        lines = {
            "space": in_brief(self.space.parameters),
            "strategy": self.strategy if settings.text is None else f"{settings.text}, {settings.preset}",
            "seed": self.seed,
            "trials": counts + elsewhere,
            "best": self.best,
        }
        return printable("\n".join(f"{name:>8}: {value}" for name, value in lines.items()))


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
