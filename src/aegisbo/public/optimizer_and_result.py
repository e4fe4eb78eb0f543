"""The optimizer and the result that users hold; each leads to the other, and both to figures and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from aegisbo.errors import NoModel, Stopped, UnknownName
from aegisbo.events import Ended, Forgotten, Observed, Reported, Retried
from aegisbo.keywords import names_checked
from aegisbo.optimizer import Core, Found, Settings, Trial
from aegisbo.optimizer.explanation import Explanation
from aegisbo.optimizer.model import Model
from aegisbo.optimizer.objectives import Objectives
from aegisbo.optimizer.prediction import OfEach, Prediction
from aegisbo.optimizer.settings import as_stored
from aegisbo.optimizer.told import checked_author, checked_seconds, outcome_told
from aegisbo.optimizer.trial import in_brief, in_short, states_of
from aegisbo.options import SETTINGS
from aegisbo.outcome import FAILURES, Failure, Outcome, as_report
from aegisbo.printable import printable, so_many
from aegisbo.space import Params, Space
from aegisbo.space.constraints import Constraint
from aegisbo.space.space import SpaceLike
from aegisbo.strategies.base import Strategy

if TYPE_CHECKING:
    from pandas import DataFrame

    from aegisbo.plot.canvas import Picture
    from aegisbo.review.odds import Odds

T = TypeVar("T")

PARTS = (
    "memory",
    "observed",
    "trials",
    "added",
    "added_by",
)  # of a state beside the settings; older versions have no "added", and no state without named authors "added_by"


class Optimizer(Core):
    """Choose points one at a time, without ever waiting for a result, to find where a function is smallest.

    Many threads may use one optimizer. Calls of `ask` take turns, and nothing else waits for them. A choice does not
    know results that come in while it is being made. Several processes cannot share one optimizer: use `minimize` with
    worker processes, or an Optuna storage.

    Args:
        space: parameters by name or in a list; see `Space`.
        strategy: a name that `aegisbo strategies` lists, or a strategy object such as `aegisbo.strategies.Aegis()`.
        preset: the variant of a strategy given by name; None uses its default.
        seed: makes all random numbers repeatable; None picks a seed, which the attribute `seed` tells.
        n_initial: how many points to spread over the space before the strategy takes over. By default, the number of
            `initial` points if there are any, otherwise twice the number of parameters. 0 relies on observed data.
        initial: points to evaluate first; a Latin hypercube adds others until there are `n_initial`.
        maximize: find where the function is largest instead.
        noisy: the function gives a different value each time, so the best measured value may be luck. The best point is
            then the evaluated one with the best posterior mean. In a finite space AEGiS asks for a point again where
            that helps to decide which is best.
        cost: "time" makes AEGiS prefer points that are quick to evaluate, if they gain more per second.
        constraints: rules that a point must satisfy, in addition to those of the space; see `Space`.
        limits: bounds on quantities that are measured along with the value, such as "latency <= 5".
        objectives: two to four numbers to make as good as possible at once, by name, each with "min" or "max", such as
            {"accuracy": "max", "latency": "min"}. The value of a trial is then a mapping with these names. An objective
            that follows from the parameters is a pair, such as ("min", size_of), of which nothing need be told.
        stop_early: stop evaluations that fall behind in what `report` is told of them. True stands for "gain".
        steps: the last step that evaluations report, for `stop_early`. Without it, it is that of the longest one with
            a value, and none is stopped before there is one.
        resumable: evaluations that were stopped can go on: `ask` may then return a trial again, with its `reports`.

    Raises:
        InvalidInput: an argument is not valid; the message names it and what to give instead.
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
        objectives: Objectives = (),
        stop_early: bool | str = False,
        steps: float | None = None,
        resumable: bool = False,
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
        cls,
        state: Mapping[str, Any],
        strategy: Strategy | None = None,
        constraints: Iterable[Constraint] = (),
        objectives: Objectives = (),
    ) -> Self:
        """Continue from a stored `state`, with the choices that would have come next.

        Args:
            state: what the method `state` returned.
            strategy: the strategy object, if the run had one that cannot be written as text.
            constraints: those constraints that are functions, if there were any.
            objectives: the objectives, if some of them are functions.

        Returns:
            An optimizer that makes the same choices as the one whose state was stored.

        Raises:
            InvalidInput: another version wrote the state, or a strategy object is missing or not needed.
        """
        given = tuple(constraints)
        functions = Space.from_description(state["space"]).given(given) if given else None
        settings = Settings.from_description(state, strategy, functions, objectives)
        stored = as_stored({"added": (), "added_by": (), **{name: state[name] for name in PARTS if name in state}})
        optimizer = cls.over(Core(settings))
        optimizer.restore(
            (*stored["observed"], *stored["trials"]), stored["memory"], stored["added"], stored["added_by"]
        )
        return optimizer

    def ask(self, *, within: float | None = None) -> Trial:
        """Choose the next point without waiting for results; its trial is now pending. Call this as often as you like.

        Args:
            within: seconds that are left, if time is limited. The point is then one whose evaluation will probably
                finish in time, judging by how long earlier ones took.

        Returns:
            The trial: evaluate your function at `x`, give `number` back to `tell`; `note` says why this point.

        Raises:
            SpaceExhausted: every point of a finite space has been evaluated or is pending.
            NoTime: probably no evaluation would finish in time; nothing has changed.
            InvalidInput: `within` is not a number of seconds.
        """
        with self._turn:
            return cast("Trial", self.apply(self.resumption() or self.choose(within)))

    def add(self, x: Any, *, author: str | None = None) -> Params:
        """Have a point of your own evaluated: `ask` returns it next, after `initial` points and those added earlier.

        It counts like any other trial.

        Args:
            x: the point, in the form that the function receives or by name.
            author: who proposes it, a person or a program; the trial names it. Without one it is "user".

        Returns:
            Its values by name.

        Raises:
            InvalidInput: the point is not in the space or breaks a constraint; or it was asked for or added before,
                unless values are noisy.
        """
        with self._lock:
            event = self.addition(x, checked_author(author))
            self.apply(event)
        return event.params

    def tell(
        self,
        trial: Trial | int,
        value: float | Mapping[str, float],
        seconds: float | None = None,
        *,
        sd: float | None = None,
        measured: Mapping[str, float] | None = None,
    ) -> Trial:
        """Report the value of a trial, which ends it; a value that is not finite makes the trial invalid.

        Args:
            trial: the trial or its number.
            value: what was measured; a mapping by name if there are several objectives.
            seconds: how long the evaluation took, for `cost="time"` and `ask(within=...)`.
            sd: the standard deviation of this value, if you know it, for example of a mean of 5 measurements. The model
                counts it in addition to the noise that it learns (not with the `paper` preset).
            measured: other quantities by name; without one that has a limit, the trial is invalid.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or has ended already.
            InvalidInput: the value, the seconds or the standard deviation is not a number.
        """
        told = outcome_told(value, sd, measured, self.settings.wanted)
        outcome = self.settings.completed(self.trial(trial).params, told)
        return self.end(trial, replace(outcome, seconds=checked_seconds(seconds, "seconds")))

    def fail(self, trial: Trial | int, reason: str, state: Failure = "failed") -> Trial:
        """Report that a trial gave no usable value, which ends it; the model learns where evaluations fail.

        Args:
            trial: the trial or its number.
            reason: why, in your words.
            state: "failed", "invalid" or "timed_out".

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or has ended already.
            InvalidInput: `state` is none of these.
        """
        if state not in FAILURES:
            raise UnknownName("way to fail", state, FAILURES)
        return self.end(trial, Outcome(state, reason=str(reason)))

    def report(self, trial: Trial | int, value: float, step: float | None = None) -> Trial:
        """Tell how far a running evaluation is; with `stop_early` this may end it.

        Args:
            trial: the trial or its number.
            value: what has been reached; NaN or an infinite value if it diverges.
            step: how many steps it took, counted as you like; one more than last time unless given. Going back to
                an earlier step drops the reports from there on.

        Returns:
            The trial as it is now.

        Raises:
            Stopped: the trial has ended as stopped.
            TrialError: the trial was never asked for, or has ended already.
            InvalidInput: the value or the step is not a number.
        """
        with self._lock:
            current = self.trial(trial)
            number = self._trials.require_open(current, Outcome("stopped"))
            last = current.reports[-1].step if current.reports else 0.0
            said = as_report(value, last + 1.0 if step is None else step)
            self.apply(Reported(number, said.step, said.value))
            if halted := self.verdict(number):
                self.apply(halted)
                self.apply(Ended(number, Outcome("stopped", reason=halted.reason)))
                raise Stopped(halted.reason)
            return self.trial(number)

    def expire(self, trial: Trial | int) -> Trial:
        """Stop waiting for a trial: it is lost, and its point may be chosen again. A late `tell` or `fail` counts.

        Args:
            trial: the trial or its number.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or has ended already.
        """
        return self.end(trial, Outcome("lost", reason="lost"))

    def end(self, trial: Trial | int, outcome: Outcome) -> Trial:
        """End a trial with an outcome, as pools report it; `tell` and `fail` call this.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or has ended already.
        """
        with self._lock:
            return cast("Trial", self.apply(Ended(self._trials.require_open(trial, outcome), outcome)))

    def retry(self, trial: Trial | int) -> Trial:
        """Make a trial that has ended pending again, with the same number and point; its result is dropped.

        Args:
            trial: the trial or its number.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, is pending already, or was forgotten.
        """
        return self._think_again(Retried, trial)

    def forget(self, trial: Trial | int) -> Trial:
        """Drop a trial, pending or ended: neither its result nor its evaluation counts any more.

        Args:
            trial: the trial or its number.

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
        self,
        x: Any,
        y: float | Mapping[str, float],
        measured: Mapping[str, float] | None = None,
        *,
        sd: float | None = None,
    ) -> Trial:
        """Add a value that was measured elsewhere.

        Args:
            x: the point, in the form that the function receives or by name.
            y: the value; a mapping by name if there are several objectives.
            measured: other quantities by name, as for `tell`.
            sd: its standard deviation, as for `tell`.

        Returns:
            The observed point as a trial with a negative number.

        Raises:
            InvalidInput: `x` is not a point of the space, or `y` or `sd` is not a number.
        """
        with self._lock:
            params, told = self.space.check(x), outcome_told(y, sd, measured, self.settings.wanted)
            observed = Observed(-1 - len(self.observed), params, self.settings.completed(params, told))
            return cast("Trial", self.apply(observed))

    def predict(self, points: Any, objective: str | None = None) -> Prediction | Any:
        """Predict the values at points of your choice, in your units; this does not change the run.

        The model knows all results that are in. From failed evaluations it learns where others may fail (the `paper`
        preset takes them for bad values). It ignores pending trials.

        Args:
            points: one point in the form that the function receives or by name, or a trial; or a list of these, or a
                matrix with a point in each row.
            objective: which of several objectives to predict.

        Returns:
            Mean, standard deviation, 95 % interval, the chance to beat the best so far, and the chance that an
            evaluation succeeds: numbers for one point, arrays for several. If there are several objectives and none is
            named, a mapping with the prediction of each by name.

        Raises:
            NoModel: the strategy has no model, or there are too few values for it.
            InvalidInput: a point is not in the space, or no objective has this name.
        """
        return self._of_each(objective, lambda model: model.predict(points))

    def _of_each(self, objective: str | None, ask: Callable[[Model], T]) -> T | Any:
        """What the model of an objective answers, or those of all by name if none is named."""
        if objective is None and self.settings.objectives:
            return OfEach({str(name): ask(model) for name, model in self.models().items()})
        return ask(self.model(objective))

    def odds(
        self, evaluations: int | None = None, *, workers: int | None = None, better: str | float = "1%", seed: int = 0
    ) -> Odds:
        """Estimate the chance that further evaluations find something better; see docs/odds.md.

        Args:
            evaluations: how many; None means half as many again as there were.
            workers: how many work at a time; None means as many as were pending at a time.
            better: by how much: "1%" of the distance from the best value to the median of the first ones, or an amount
                in the units of the value.
            seed: decides all random numbers.

        Returns:
            The odds to print, with `chance`, `chances` after each further evaluation, and `doubt` if nothing can be
            said.

        Raises:
            InvalidInput: an argument is not valid.
        """
        from aegisbo.review.odds import odds

        return odds(self, evaluations, workers=workers, better=better, seed=seed)

    def explain(self, point: Any, objective: str | None = None) -> Explanation | Any:
        """Explain what is known about a point and, if it is a trial, why it was chosen. Print the answer.

        Args:
            point: in the form that the function receives or by name; or a trial or its number (-1, -2, ... for points
                observed elsewhere).
            objective: which of several objectives to explain.

        Returns:
            The prediction, the nearest evaluated point, the effect of each parameter, and for a trial the decision
            behind it. Without a model, a remark says why there is no prediction. If there are several objectives and
            none is named, a mapping with the explanation of each by name.

        Raises:
            InvalidInput: the point is not in the space, or no objective has this name.
            TrialError: there is no trial with this number.
        """
        params, trial = self.located(point)
        try:
            return self._of_each(objective, lambda model: model.explain(params, trial))
        except NoModel as error:
            broken = tuple(self.space.broken(params))
            told = Explanation(params, trial, remark=str(error), objective=objective, broken=broken)
            names = [each.name for each in self.settings.objectives]
            return told if objective or not names else OfEach({each: replace(told, objective=each) for each in names})

    @property
    def best(self) -> Trial | None:
        """The trial or observed point with the best value so far, the earliest of equal ones; None without a value.

        If values are noisy, it is the one with the best posterior mean; each access then fits a model.
        """
        return self.found().best

    def result(self, message: str = "") -> Result:
        """Return what has been found so far.

        Args:
            message: why the run ends here, in your words.

        Returns:
            The best point and all trials; later results do not change it.
        """
        return Result.of(self.found(message))

    def __repr__(self) -> str:
        settings, found, counts = self.settings, self.found(), states_of(self.trials) or "none yet"
        elsewhere = f", and {len(self.observed)} observed elsewhere" if self.observed else ""
        lines = {
            "space": in_brief(self.space.parameters),
            "strategy": self.strategy if settings.text is None else f"{settings.text}, {settings.preset}",
            "seed": self.seed,
            "trials": counts + elsewhere,
            **({"front": so_many(len(found.front), "trial")} if found.objectives else {"best": found.best}),
        }
        return printable("\n".join(f"{name:>8}: {value}" for name, value in lines.items()))


@dataclass(frozen=True, repr=False)
class Result(Found[Optimizer]):
    """The best point and how it was found; `x` is None and `fun` is NaN if no trial gave a value.

    If there are several objectives, there is no `x`, `fun` or `best`, but a `front`: the trials that no other beats in
    everything, sorted by the first objective.
    """

    @classmethod
    def of(cls, found: Found[Any]) -> Result:
        """What a run has found, in the form that users see."""
        return cls(**{**vars(found), "optimizer": Optimizer.over(found.optimizer)})

    def predict(self, points: Any, objective: str | None = None) -> Prediction | Any:
        """Predict the values at points of your choice, in your units; see `Optimizer.predict`.

        Args:
            points: one point, a trial, a list of these, or a matrix.
            objective: which of several objectives to predict.

        Returns:
            Numbers for one point, arrays for several; if there are several objectives and none is named, a mapping with
            those of each by name.

        Raises:
            NoModel: the strategy has no model, or there are too few values for it.
            InvalidInput: a point is not in the space, or no objective has this name.
        """
        return self.optimizer.predict(points, objective)

    def explain(self, point: Any, objective: str | None = None) -> Explanation | Any:
        """Explain what is known about a point, or why a trial was chosen; see `Optimizer.explain`.

        Args:
            point: in the form that the function receives or by name; or a trial or its number.
            objective: which of several objectives to explain.

        Returns:
            An explanation to print; if there are several objectives and none is named, a mapping with that of each by
            name.

        Raises:
            InvalidInput: the point is not in the space, or no objective has this name.
            TrialError: there is no trial with this number.
        """
        behind = self._behind(self.optimizer.located(point)[1])
        told = self.optimizer.explain(point, objective)
        if isinstance(told, OfEach):
            return OfEach({name: replace(each, behind=behind) for name, each in told.items()})
        return replace(told, behind=behind)

    def _behind(self, trial: Trial | None) -> int | None:
        """How many results had come in but were not known when a trial was chosen; None if that is unknown."""
        from aegisbo.review.record import Record
        from aegisbo.study.reading import exists

        if trial is None or self.study is None or not exists(self.study):
            return None

        decision = Record.of_study(self.study).decisions.get(trial.number)
        return None if decision is None else decision.behind

    def odds(
        self, evaluations: int | None = None, *, workers: int | None = None, better: str | float = "1%", seed: int = 0
    ) -> Odds:
        """Estimate the chance that further evaluations find something better; see `Optimizer.odds`.

        Args:
            evaluations: how many; None means what is left of the budget, or else half as many again as there were.
            workers: how many work at a time; None means as many as did.
            better: by how much, such as "1%" or 0.02.
            seed: decides all random numbers.

        Returns:
            The odds to print.

        Raises:
            InvalidInput: an argument is not valid.
        """
        from aegisbo.review.odds import odds

        return odds(self, evaluations, workers=workers, better=better, seed=seed)

    def plot(self, kind: str = "convergence", **options: Any) -> Picture:
        """Draw a figure of this run with the function of that name in `aegisbo.plot`; this needs matplotlib.

        Args:
            kind: "convergence", "timeline", "reasons", "slices", "contour", "importance", "decision" or, of several
                objectives, "front".
            options: the other arguments of that function.

        Returns:
            The figure. A notebook shows it by itself; `figure.savefig("run.svg")` saves it.

        Raises:
            UnknownName: no figure has this name.
            MissingExtra: matplotlib is not installed.
        """
        from aegisbo import plot

        return plot.draw(kind, self, **options)

    def to_pandas(self) -> DataFrame:
        """Make a table with a row for each trial, indexed by its number; this needs pandas.

        Returns:
            The columns `state`, `value`, `sd` if one was told, `param_...` for each parameter, `move`, `mean` and `std`
            (as predicted when the point was chosen), `started_at`, `ended_at`, `seconds`, `worker` and `reason`. With
            several objectives, `front` says which trials are on the front, and there are `measured_...`, `mean_...` and
            `std_...` for each. If evaluations have reported, `step` and `reported` are their last reports, and
            `expected_end` and `expected_end_sd` say where those that run or were stopped are expected to end.

        Raises:
            MissingExtra: pandas is not installed.
        """
        from aegisbo.optimizer.trial_frame import frame_of

        names, ends = [each.name for each in self.objectives], self.optimizer.expected_ends()
        return frame_of(self.trials, self.optimizer.space, names, self.front, ends)

    def _repr_html_(self) -> str:
        """What a notebook shows: the same as `repr` with six digits, in a table, and a picture of the best so far."""
        from aegisbo.review.picture import convergence_svg
        from aegisbo.review.record import Record

        left, lines = ' style="text-align: left"', self._lines()
        if self.single is not None:
            lines |= {"x": in_short(self.single.trial.params), "fun": f"{self.fun:.6g}"}
        rows = (f"<tr><th>{name}</th><td{left}>{escape(str(value))}</td></tr>" for name, value in lines.items())
        return f"<table>{''.join(rows)}</table>{convergence_svg(Record.of_optimizer(self.optimizer))}"
