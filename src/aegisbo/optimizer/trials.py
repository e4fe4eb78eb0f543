"""All trials of a run, as objects by number and as arrays for the strategy."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from aegisbo.arrays import Array, Mask
from aegisbo.errors import InvalidInput, TrialError
from aegisbo.number import as_whole
from aegisbo.optimizer.columns import DONE, FAILED, PENDING, STOPPED, Columns
from aegisbo.optimizer.settings import Settings
from aegisbo.optimizer.trial import Trial
from aegisbo.outcome import FAILURES, Outcome, Report, with_measured
from aegisbo.stopping.curve import Curve
from aegisbo.stopping.curves import Curves
from aegisbo.stopping.end_model import EndModel
from aegisbo.stopping.expected_end import ExpectedEnd
from aegisbo.strategies.base import Evidence
from aegisbo.strategies.timing import Timing


class Trials:
    """What is known of all trials and of points observed elsewhere. Whoever shares it between threads guards it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.space, self.limits = settings.space, settings.limits
        self.asked: list[Trial] = []  # by number
        self.observed: list[Trial] = []
        self.most_pending = 0  # at a time
        self._observed, self._asked = (
            Columns(self.space.cube.width, self.limits, settings.objectives) for _ in range(2)
        )
        self._curves: dict[int, tuple[Trial, Curve]] = {}  # by number, made from the trial as it was
        self._model = EndModel(())
        self._inside = np.empty(0, dtype=np.bool_)  # which of the first observed points with a value are allowed

    def under(self, settings: Settings) -> Trials:
        """All of them under other settings, whose space has their points, too."""
        moved = Trials(settings)
        for trial in (*self.observed, *self.asked):
            moved._add(replace(trial, x=settings.space.arrange(trial.params)))
        moved.most_pending = self.most_pending
        return moved

    def copied(self) -> Trials:
        """A copy that changes independently of this one."""
        other = copy(self)
        other.asked, other.observed = list(self.asked), list(self.observed)
        other._curves = dict(self._curves)
        other._asked, other._observed = self._asked.copied(), self._observed.copied()
        return other

    def add(self, number: int, params: Any, outcome: Outcome | None = None, **rest: Any) -> Trial:
        """A further trial, or a further point observed elsewhere if the number is negative, which may have ended."""
        params = self.space.check(params)
        if "reports" in rest:  # as JSON has them
            rest["reports"] = tuple(Report(*each) for each in rest["reports"])
        trial = Trial(number, self.space.arrange(params), params, **rest)
        return self._add(trial if outcome is None else trial.after(self._complete(outcome)))

    def _add(self, trial: Trial) -> Trial:
        # Back from the values: the model sees what is evaluated, and the same after the values were stored and read.
        point = self.space.encoded(trial.params)
        (self.asked if trial.number >= 0 else self.observed).append(trial)
        (self._asked if trial.number >= 0 else self._observed).append(trial, point)
        if trial.state == "pending":
            self.most_pending = max(self.most_pending, self._asked.count(PENDING))
        return trial

    def report(self, number: int, report: Report) -> Trial:
        """Let a running evaluation have said how far it is."""
        current = self.known(number)
        if current.state == "pending":  # else it has ended elsewhere
            self.asked[number] = current.reported(report)
        return self.asked[number]

    def halt(self, number: int, reason: str, step: float | None) -> Trial:
        """Let it be decided that a running evaluation is to stop, of which reports up to a step were known.

        Later ones may have been written before the decision was: whoever reads the study has them already.
        """
        current = self.known(number)
        if current.state == "pending":
            known = len(current.reports) if step is None else sum(each.step <= step for each in current.reports)
            self.asked[number] = replace(current, halted=reason, paused=known)
        return self.asked[number]

    def resume(self, number: int) -> Trial:
        """Let an evaluation that was stopped go on.

        Raises:
            TrialError: it was not stopped by the run.
        """
        current = self.known(number)
        if current.state != "stopped" or not current.paused:
            raise TrialError(f"Trial {number} was not stopped by the run ({current.state}): it cannot go on.")
        trial = self.put(current.resumed())
        self.most_pending = max(self.most_pending, self._asked.count(PENDING))
        return trial

    def paused(self) -> dict[int, int]:
        """Those that may go on, by number, with how many reports there were when they were stopped."""
        return {trial.number: trial.paused for trial in self.asked if trial.state == "stopped" and trial.paused}

    def put(self, trial: Trial) -> Trial:
        """Let this be what is known of a trial from now on."""
        self.asked[trial.number] = trial
        self._asked.put(trial.number, trial)
        return trial

    def end(self, number: int, outcome: Outcome) -> Trial:
        """Let an evaluation of a trial have ended like this; if that is no news, the trial stays as it is."""
        current, outcome = self.known(number), self._complete(outcome)
        if not _is_news(current, outcome):
            return current
        return self.put(current.after(outcome))

    def require_open(self, trial: Trial | int, outcome: Outcome) -> int:
        """The number of a trial, if whoever waits for it may say that it ended like this.

        Raises:
            TrialError: it was never asked for, or has ended already.
        """
        current = self.known(trial)
        # A value may come after all from a trial that was given up: lost, or too slow where it cannot be stopped.
        late = current.state == "lost" or (current.state == "timed_out" and outcome.state == "done")
        late = late and outcome.state != "lost"
        if current.state != "pending" and not late:
            ended = "was forgotten" if current.state == "forgotten" else f"has already ended ({current.state})"
            raise TrialError(f"Trial {current.number} {ended}: to add data, use observe.")
        return current.number

    def _complete(self, outcome: Outcome) -> Outcome:
        """The outcome, which is invalid if something was not measured that is an objective or has a limit.

        Raises:
            ValueError: it has one number where there are several objectives, or none where one number is wanted.
        """
        wanted = self.settings.wanted
        if outcome.state != "done":
            return outcome
        if (outcome.value is None) != bool(wanted.objectives):
            raise ValueError(f"the value is {outcome.value}, and the objectives are {wanted.objectives}")
        if all(name in outcome.measured for name in (*wanted.names, *wanted.known)):
            return outcome
        incomplete = with_measured(outcome, outcome.measured, wanted)
        return replace(outcome, state=incomplete.state, value=math.nan, reason=incomplete.reason)

    def retry(self, trial: Trial | int) -> Trial:
        """Let a trial that has ended be pending again."""
        current = self.known(trial)
        if current.state == "pending":
            raise TrialError(f"Trial {current.number} is pending: only a trial that has ended can be retried.")
        if current.state == "forgotten":
            raise TrialError(f"Trial {current.number} was forgotten: a forgotten trial cannot be retried.")
        return self.put(Trial(current.number, current.x, current.params, note=current.note))

    def forget(self, trial: Trial | int) -> Trial:
        """Let a trial count for nothing."""
        current = self.known(trial)
        if current.state == "forgotten":
            raise TrialError(f"Trial {current.number} was forgotten already: leave it out.")
        return self.put(replace(current, state="forgotten", value=None, sd=None))

    def known(self, trial: Trial | int) -> Trial:
        """The trial that is meant, as it is now.

        Raises:
            InvalidInput: it is neither a trial nor a number.
            TrialError: it was never asked for.
        """
        number = as_whole(trial.number if isinstance(trial, Trial) else trial)
        if number is None:
            raise InvalidInput(f"Expected a trial or its number, got {trial!r}.")
        if not 0 <= number < len(self.asked):
            raise TrialError(f"Trial {number} was never asked for: {len(self.asked)} trials are known.")
        return self.asked[number]

    def done(self) -> list[Trial]:
        """All with a value, in the order of the rows of the evidence."""
        return [trial for trial in (*self.observed, *self.asked) if trial.state == "done"]

    def failed(self) -> list[Trial]:
        """All that gave no value and will give none, in the order of the rows of the evidence."""
        return [trial for trial in (*self.observed, *self.asked) if trial.state in FAILURES]

    def values(self) -> Array:  # (n,); of m objectives (n, m)
        """What was measured, as the user measured it, in the order of the rows of the evidence."""
        return self._all("value")

    def _all(self, name: str, kind: int = DONE) -> Array:
        """A column of observed points first, then of trials by number, whoever ended first."""
        return np.concatenate([each.column(name, kind) for each in (self._observed, self._asked)])

    def counts(self) -> tuple[int, int, int]:
        """How many trials, observed points aside, have ended with a value, failed, and were stopped."""
        done, failed, stopped = (self._asked.count(kind) for kind in (DONE, FAILED, STOPPED))
        return done, failed, stopped

    def curves(self) -> Curves:
        """What the trials have reported, to be minimized."""
        alive = [trial for trial in self.asked if trial.state in ("pending", "done")]
        said = [trial for trial in self.asked if trial.reports and trial.state != "forgotten"]
        return Curves(
            {trial.number: self._curve(trial) for trial in said},
            first=alive[0].number if alive else len(self.asked),
            last_step=self.last_step(),
            measured=self._best(),
            learned=self._ends(),
        )

    def _best(self) -> float:
        """The lowest value measured, to be minimized."""
        return float(self.settings.direction.turned(self.values())[self.allowed()].min(initial=math.inf))

    def last_step(self) -> float | None:
        """At which evaluations end, as told, or as the longest one did that has a value; None if unknown."""
        lasts = [trial.reports[-1].step for trial in self.asked if trial.state == "done" and trial.reports]
        return max(lasts, default=None) if self.settings.steps is None else self.settings.steps

    def _curve(self, trial: Trial) -> Curve:
        known, curve = self._curves.get(trial.number, (None, None))
        if known is not trial or curve is None:
            turned = self.settings.direction.turned
            curve = Curve(
                np.array([each.step for each in trial.reports], dtype=np.float64),
                np.array([math.inf if each.value is None else turned(each.value) for each in trial.reports]),
                end=None if trial.value is None else turned(trial.value),
                runs=trial.state == "pending",
                point=self._asked.point(trial.number),
                seconds=trial.reports[-1].seconds if trial.seconds is None else trial.seconds,
            )
            self._curves[trial.number] = trial, curve
        return curve

    def _ends(self) -> EndModel:
        """What is learned from the curves of those with a value; the same object until there is another one."""
        ended = tuple(self._curve(trial) for trial in self.asked if trial.state == "done" and trial.reports)
        if ended != self._model.ended:
            self._model = EndModel(ended)
        return self._model

    def expected_ends(self) -> dict[int, ExpectedEnd]:
        """Where those will end or would have ended that have reported and have no value, if that can be said."""
        if self.settings.objectives:
            return {}
        without = [trial for trial in self.asked if trial.reports and trial.state in ("pending", "stopped")]
        forecasts, best = self._ends().forecasts(map(self._curve, without)), self._best()
        turned = self.settings.direction.turned
        return {
            trial.number: ExpectedEnd(turned(each.mean), each.sd, each.below(best))
            for trial, each in zip(without, forecasts, strict=True)
            if each is not None
        }

    def excess(self) -> Array | None:  # (n, l)
        """By how much they are beyond each limit, in the order of the rows of the evidence; None without limits."""
        return self._all("excess") if self.limits else None

    def allowed(self) -> Mask:  # (n,)
        """Which of them keep the constraints, as far as these are here: points that were observed may break them."""
        known = len(self._inside)
        if known < self._observed.count(DONE):  # each is asked for once: a constraint may be a function of the user's
            new = [trial for trial in self.observed if trial.state == "done"][known:]
            self._inside = np.append(self._inside, [not self.space.broken(trial.params) for trial in new])
        return np.append(self._inside, np.full(self._asked.count(DONE), True))

    def evidence(self, within: float | None) -> Evidence:
        """What a strategy is shown; the times, too, because of `cost` or because only so many seconds are left."""
        measured = self.measured(within)
        return measured if not self._asked.count(STOPPED) else self._with_stopped(measured)

    def _with_stopped(self, measured: Evidence) -> Evidence:
        """The evidence with the points whose evaluation was stopped; last, those with an end that can be expected."""
        points = self._asked.column("point", STOPPED)
        if measured.several or measured.excess is not None:  # nobody knows what they would have measured
            return replace(measured, stopped=points)
        stopped = [trial for trial in self.asked if trial.state == "stopped"]
        rows = [k for k, trial in enumerate(stopped) if trial.reports]
        forecasts = self._ends().forecasts(self._curve(stopped[k]) for k in rows)
        known = [(k, each) for k, each in zip(rows, forecasts, strict=True) if each is not None]
        expected = np.zeros(len(points), dtype=np.bool_)
        expected[[k for k, _ in known]] = True
        # What is only expected may not pass for the best.
        mean = np.maximum([each.mean for _, each in known], measured.y.min(initial=math.inf))
        sd = np.array([each.sd for _, each in known])
        n, kept = len(measured.y), measured.kept
        return replace(
            measured,
            X=np.vstack([measured.X, points[expected]]),
            y=np.append(measured.y, mean),
            sd=np.append(np.zeros(n) if measured.sd is None else measured.sd, sd),
            allowed=np.append(kept, np.full(len(known), False)),
            stopped=points[~expected],
        )

    def timings(self) -> int:
        """How many evaluations there are whose time is known."""
        return self._asked.timings()

    def timing(self, within: float | None = None) -> Timing:
        """How long evaluations took, on which worker, and why that matters."""
        X, seconds, workers = self._asked.timed()
        return Timing(X, seconds, workers, costly=bool(self.settings.cost), limit=within)

    def measured(self, within: float | None = None) -> Evidence:
        """What has been measured, without what is only expected: a row for each trial with a value."""
        sd, allowed, costly = self._all("sd"), self.allowed(), bool(self.settings.cost)
        return Evidence(
            X=self._all("point"),
            y=self.settings.direction.turned(self.values()),
            failed=self._all("point", FAILED),
            pending=self._asked.column("point", PENDING),
            cube=self.space.cube,
            timing=self.timing(within) if costly or within is not None else None,
            excess=self.excess(),
            sd=sd if sd.any() else None,
            noisy=self.settings.noisy,
            known=self.settings.on_cube,
            allowed=None if allowed.all() else allowed,
        )


def _is_news(trial: Trial, outcome: Outcome) -> bool:
    """Whether an ending decides, when two may have written at the same moment, and either may come first.

    The first value goes before all failures, and having been given up as too slow before the others.
    """
    if trial.state in ("done", "forgotten"):
        return False
    return trial.state in ("pending", "lost") or outcome.state in ("done", "timed_out")
