"""The optimizer behind every front door: it hands out trials and takes in how they ended."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral
from threading import Lock, RLock
from typing import Any, NamedTuple, Self, cast

from aegisbo.errors import InvalidInput, NoModel, UnknownName
from aegisbo.events import (
    OBSERVED,
    Added,
    Asked,
    Ended,
    Event,
    Expired,
    Forgotten,
    Observed,
    Retried,
    StoredMemory,
    Widened,
    damaged,
)
from aegisbo.optimizer.best import UNSURE, best_of
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.explanation import Explanation
from aegisbo.optimizer.found import Found
from aegisbo.optimizer.limits import standings
from aegisbo.optimizer.model import Model
from aegisbo.optimizer.next_point import NextPoint
from aegisbo.optimizer.policy import require_free_point
from aegisbo.optimizer.prediction import Prediction
from aegisbo.optimizer.queue import INITIAL, Queue
from aegisbo.optimizer.settings import Settings, as_stored
from aegisbo.optimizer.told import checked_seconds, outcome_told
from aegisbo.optimizer.trial import Trial, in_brief
from aegisbo.optimizer.trials import Trials
from aegisbo.outcome import FAILURES, Failure, Outcome
from aegisbo.printable import printable
from aegisbo.space import Params, Space
from aegisbo.space.constraints import Constraint
from aegisbo.strategies.base import Evidence, Memory, Strategy

OLD_NAMES = {"expired": "lost"}  # states as version 0.1 called them


class Tallied(NamedTuple):
    """How a run stands, without asking a model."""

    done: int  # trials that have ended with a value
    failed: int  # and without one
    best: float | None  # value measured, also elsewhere; None if there is none that keeps all limits


class Optimizer:
    """Hands out trials of a run and takes in how they ended, for whoever drives it. Make one with `from_settings`.

    Many threads may use it: asks take turns, and nothing else waits for them.
    """

    def _begin(self, settings: Settings) -> None:
        self.settings = settings.decided()
        self.direction = Direction(settings.maximize)
        self._policy = self.settings.policy()
        self._queue = Queue(self.settings.initial or ())
        self._memory: Memory = {}
        self._trials = Trials(self.space, self.settings.limits)
        self._make_locks()

    def _make_locks(self) -> None:
        self._turn = Lock()  # of the one who asks: only asks add trials and change the memory
        self._lock = RLock()  # of what is known; never held while a point is being chosen or a model is fitted

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = {name: value for name, value in vars(self).items() if name not in ("_turn", "_lock")}
            return {**state, "_trials": self._trials.copied()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_locks()

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The optimizer that these settings define; choices that they leave open are made now."""
        optimizer = cls.__new__(cls)
        optimizer._begin(settings)
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
        parts = ("memory", "observed", "trials", "added")  # of which older versions do not know the last
        return cls.restored(settings, **as_stored({name: state[name] for name in parts if name in state}))

    @classmethod
    def restored(
        cls,
        settings: Settings,
        memory: Memory,
        observed: Sequence[Mapping[str, Any]],
        trials: Sequence[Mapping[str, Any]],
        added: Iterable[Params] = (),
    ) -> Self:
        """The same from parts that have been through JSON already and that nobody will change."""
        optimizer = cls.from_settings(settings)
        optimizer._memory, optimizer._queue = StoredMemory(memory), replace(optimizer._queue, added=tuple(added))
        for entry in (*observed, *trials):
            state = entry.get("state", "pending")
            optimizer._trials.add(**{**entry, "state": OLD_NAMES.get(state, state)})
        return optimizer

    def state(self) -> dict[str, Any]:
        """Everything that decides what comes next, for `from_state`.

        Returns:
            A dict in JSON's types; a foreign strategy object is left out.
        """
        with self._lock:
            memory, observed, trials, added = self._memory, self.observed, self.trials, self._queue.added
        described = {
            "memory": memory,
            "observed": [trial.describe() for trial in observed],
            "trials": [trial.describe() for trial in trials],
            "added": added,
        }
        return {**self.settings.describe(), **as_stored(described)}

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
            point = self.next_point(within=within)
            with self._lock:
                asked = Asked(point.number, point.params, dict(point.note), point.memory, seen=0, seconds=0.0)
                return cast("Trial", self.apply(asked))

    def apply(self, event: Event) -> Trial | None:
        """Let this have happened: the only way in which anything changes what is known.

        Returns:
            The trial that it happened to, as it is now, if that is one.

        Raises:
            InvalidInput: it holds no point of the space.
            TrialError: there is no such trial, or nothing of the kind can happen to it.
        """
        with self._lock:
            match event:
                case Asked():
                    return self._asked(event)
                case Ended():
                    return self._trials.end(event.number, event.outcome)
                case Expired():
                    return self._trials.end(event.number, Outcome("lost", reason="lost"))
                case Observed():
                    return self._trials.learn(event.params, event.outcome, event.note or OBSERVED)
                case Added():
                    self._queue = self._queue.plus(event.params)
                case Retried() | Forgotten():
                    change = self._trials.retry if isinstance(event, Retried) else self._trials.forget
                    for number in event.numbers:
                        change(number)
                    self._memory = {}  # which was learned from what is gone now
                case Widened():
                    self._widen(Space.from_description(event.space))
            return None

    def _asked(self, event: Asked) -> Trial:
        if event.number != len(self._trials.asked):
            raise damaged(event, f"trial {len(self._trials.asked)} comes next")
        trial = self._trials.add(event.number, event.params, note=event.note)
        self._queue = self._queue.after(trial)
        self._memory = event.memory  # last, so that a suggestion which cannot be used leaves no trace
        return trial

    def _widen(self, space: Space) -> None:
        self.settings = replace(self.settings, space=space.with_functions(self.space.constraints))
        self._trials = self._trials.within(self.space)
        self._policy, self._memory = self.settings.policy(), {}  # what was learned of the old cube does not hold

    def next_point(self, *, within: float | None = None) -> NextPoint:
        """What `ask` would hand out now, as replay wants to know it; nothing changes."""
        within = checked_seconds(within, "within")
        with self._lock:
            evidence, memory = self.evidence(within), self._memory
            number, queue = len(self._trials.asked), self._queue
        if (first := queue.first(number)) is not None:
            params, move = first
            if move == INITIAL and not self.settings.noisy:
                require_free_point(evidence)
            return NextPoint(number, params, {"move": move}, memory)
        suggestion = self._policy.suggest(number, evidence, memory)
        try:
            after, note = as_stored(suggestion.memory), as_stored(suggestion.note)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"The strategy {self.strategy!r} gave a memory or a note that is not JSON ({error}): use plain "
                "numbers, text, lists and dicts."
            ) from error
        note |= {} if evidence.timing is None else evidence.timing.note(suggestion.x)
        params, note = self.space.params(suggestion.x), self.direction.turned_note(note)
        return NextPoint(number, params, note, after)

    def add(self, x: Any) -> Params:
        """Let a point be tried that you want to be tried: the next `ask` returns it, after others that wait.

        Points of `initial` come first. It counts as any other trial.

        Args:
            x: in the form that the function receives, or by name.

        Returns:
            Its values by name.

        Raises:
            InvalidInput: it is no point of the space, or breaks a constraint; or a trial has been there or will be,
                unless values are noisy.
        """
        params = self.space.check(x)
        self.space.require_allowed(params)
        with self._lock:
            if not self.settings.noisy:
                self._queue.require_untried(params, self._trials.asked)
            self.apply(Added(params))
        return params

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
            sd: the standard deviation of this value, if you know it: that of a mean of 5 measurements, say. The model
                trusts the value accordingly, besides the noise that it learns (not with the `paper` preset).
            measured: other quantities by name; without one that has a limit the trial is invalid.

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
        """Give up waiting for a trial: it is lost, its point is free again, but a late `tell` or `fail` still counts.

        Args:
            trial: it or its number.

        Returns:
            The trial as it is now.

        Raises:
            TrialError: the trial was never asked for, or has ended already.
        """
        with self._lock:
            number = self._trials.require_open(trial, Outcome("lost"))
            return cast("Trial", self.apply(Expired(number)))

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
            number = self._trials.known(trial).number
            self.apply(kind([number]))
            return self._trials.asked[number]

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
        outcome = outcome_told(y, sd, measured)
        with self._lock:
            return cast("Trial", self.apply(Observed(-1 - len(self._trials.observed), self.space.check(x), outcome)))

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

    def located(self, point: Any) -> tuple[Params, Trial | None]:
        """The values of a point by name, and the trial as it is now if the point was given as one or by its number.

        Raises:
            InvalidInput: it is no point of the space.
            TrialError: there is no trial with this number.
        """
        if not isinstance(point, Trial | Integral):
            return self.space.check(point), None
        number: Any = point.number if isinstance(point, Trial) else point
        elsewhere = {trial.number: trial for trial in self.observed}
        trial = elsewhere[number] if number in elsewhere else self._trials.known(number)
        return trial.params, trial

    def model(self) -> Model:
        """The model as it is now, to be asked again and again without another fit.

        Returns:
            An object with the methods `predict` and `explain`, which knows nothing of what comes in later.

        Raises:
            NoModel: the strategy has no model, or there are too few values for it.
        """
        with self._lock:
            number, evidence, memory = len(self._trials.asked), self.evidence(), self._memory
            done, failed = self._trials.done(), self._trials.failed()
        belief = self._policy.belief(evidence, memory, number)
        return Model(belief, evidence, tuple(done), tuple(failed), self.space, self.direction, self.settings.noisy)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials asked for; `trials[k]` has the number k."""
        return tuple(self._trials.asked)

    def trial(self, number: int) -> Trial:
        """The trial with this number as it is now; `trials` makes a tuple of all.

        Raises:
            TrialError: it was never asked for.
        """
        return self._trials.known(number)

    @property
    def observed(self) -> tuple[Trial, ...]:
        """The points observed elsewhere, in the order they came in."""
        return tuple(self._trials.observed)

    @property
    def waiting(self) -> tuple[Params, ...]:
        """The points that were added and have not been asked for, in the order in which they will be."""
        return self._queue.added

    @property
    def pending(self) -> tuple[Trial, ...]:
        """The trials that have been asked for and have not ended."""
        return tuple(trial for trial in self.trials if trial.state == "pending")

    @property
    def most_pending(self) -> int:
        """How many trials were pending at a time, at most, since this object was made."""
        return self._trials.most_pending

    def tally(self) -> Tallied:
        """How many trials have ended with a value and without one, and the best value measured; no model is asked."""
        with self._lock:
            values, (done, failed) = self._trials.values(), self._trials.counts()
            excess, counts = self._trials.excess(), self._trials.allowed()
        values = values[counts if excess is None else counts & (excess <= 0.0).all(axis=1)]
        best = float(self.direction.turned(self.direction.turned(values).min())) if len(values) else None
        return Tallied(done, failed, best)

    @property
    def best(self) -> Trial | None:
        """The trial or observed point with the best value so far, the first of equals; None without any value.

        If values are noisy it is the one with the best posterior mean, for which a model is fitted at each look.
        """
        return self.found().best

    @property
    def memory(self) -> Memory:
        """What the strategy remembers after the last ask, in JSON's types."""
        return self._memory

    @property
    def space(self) -> Space:
        """What is searched."""
        return self.settings.space

    @property
    def seed(self) -> int:
        """What decides all random numbers."""
        return self._policy.seed

    @property
    def strategy(self) -> Strategy:
        """Who chooses the points."""
        return self._policy.strategy

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

    def found(self, message: str = "") -> Found[Self]:
        """What has been found so far.

        Args:
            message: why it ends here, in your words.

        Returns:
            The best point and all trials; it does not change when more comes in.
        """
        with self._lock:
            trials, done, evidence, memory = self.trials, self._trials.done(), self.evidence(), self._memory
            ended, now = sum(self._trials.counts()), copy(self)
        best = best_of(done, evidence, self._policy, memory, len(trials))
        message = message or ("No trial has given a value." if best is None else "The best so far.")
        unsure = best is not None and best.trial.number < 0 and self.space.lacks_a_function
        remarks = [message, "" if best is None else best.remark, UNSURE if unsure else ""]
        return Found(
            x=None if best is None else best.trial.x,
            fun=math.nan if best is None else self.direction.turned(best.loss),
            nfev=ended,
            success=best is not None and best.feasible,
            ending=" ".join(filter(None, remarks)),
            trials=trials,
            best=None if best is None else best.trial,
            optimizer=now,
            limits=() if best is None else standings(self.settings.limits, best.trial, done, best.losses),
        )

    def evidence(self, within: float | None = None) -> Evidence:
        """What the strategy would be shown now: observed points first, then trials by number, whoever ended first.

        Where time matters, because of `cost` or because only so many seconds are left, it is shown the times, too.
        """
        matters = bool(self.settings.cost) or within is not None
        with self._lock:
            timing = self._trials.timing(bool(self.settings.cost), within) if matters else None
            losses = self.direction.turned(self._trials.values())
            return self._trials.evidence(losses, timing, noisy=self.settings.noisy)
