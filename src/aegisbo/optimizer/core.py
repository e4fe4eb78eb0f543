"""The core of every run: what has happened is applied to it, and it chooses the next point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral
from threading import Lock, RLock
from typing import Any, NamedTuple, Self

from aegisbo.errors import InvalidInput
from aegisbo.events import (
    OBSERVED,
    Added,
    Asked,
    Ended,
    Event,
    Forgotten,
    Halted,
    Observed,
    Reported,
    Resumed,
    Retried,
    StoredMemory,
    Widened,
    damaged,
)
from aegisbo.optimizer.best import UNSURE, best_of, standings
from aegisbo.optimizer.found import Found, Single
from aegisbo.optimizer.front import front_of, rows_of_front
from aegisbo.optimizer.model import Model
from aegisbo.optimizer.objectives import require_objective
from aegisbo.optimizer.policy import require_free_point
from aegisbo.optimizer.queue import INITIAL, Queue
from aegisbo.optimizer.settings import Settings, as_stored
from aegisbo.optimizer.several import Several
from aegisbo.optimizer.told import checked_seconds
from aegisbo.optimizer.trial import Trial
from aegisbo.optimizer.trials import Trials
from aegisbo.space import Params, Space
from aegisbo.stopping.expected_end import ExpectedEnd
from aegisbo.stopping.resuming import to_resume
from aegisbo.stopping.rule import objection
from aegisbo.strategies.base import Evidence, Memory, Strategy
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.beliefs import Beliefs

GROWTH = 1.05  # of the number of evaluations, after which the paces of workers are learned again


class Tallied(NamedTuple):
    """How a run stands, without asking a model."""

    done: int  # trials that have ended with a value
    failed: int  # and without one
    best: float | None  # value measured, also elsewhere; None if there is none that keeps all limits
    front: int | None = None  # points on the front, where there are several objectives
    stopped: int = 0  # trials that the run has stopped


class Core:
    """What is known of a run, and what it would do next; choices that the settings leave open are made now.

    Many threads may use it: nothing waits while a point is being chosen.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings.decided()
        self.direction = settings.direction
        self._policy = self.settings.policy()
        self._queue = Queue(self.settings.initial or ())
        self._memory: Memory = {}
        self._trials = Trials(self.settings)
        self._paces: tuple[int, Mapping[int, float]] = (0, {})  # after so many evaluations whose times are known
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

    def state(self) -> dict[str, Any]:
        """Everything that decides what comes next, for `Optimizer.from_state`.

        Returns:
            A dict in JSON's types; a foreign strategy object is left out.
        """
        with self._lock:
            memory, observed, trials, queue = self._memory, self.observed, self.trials, self._queue
        described = {
            "memory": memory,
            "observed": [trial.describe() for trial in observed],
            "trials": [trial.describe() for trial in trials],
            "added": queue.waiting,
        }
        if any(event.by for event in queue.added):
            described["added_by"] = [event.by for event in queue.added]
        return {**self.settings.describe(), **as_stored(described)}

    def restore(
        self,
        trials: Iterable[Mapping[str, Any]],
        memory: Memory | None = None,
        added: Sequence[Params] = (),
        added_by: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Take in parts of a `state` that have been through JSON and that nobody will change: all that there is yet."""
        waiting = tuple(Added(params, **by) for params, by in zip(added, added_by or [{}] * len(added), strict=True))
        self._memory, self._queue = StoredMemory(memory or {}), replace(self._queue, added=waiting)
        for entry in trials:
            self._trials.add(**entry)

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
                case Reported() | Halted() | Resumed() | Ended():
                    return self._went_on(event)
                case Observed():
                    number, note = -1 - len(self._trials.observed), dict(event.note or OBSERVED)
                    return self._trials.add(number, event.params, event.outcome, note=note)
                case Added():
                    self._queue = self._queue.plus(event)
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

    def _went_on(self, event: Reported | Halted | Resumed | Ended) -> Trial:
        """Let this have happened to an evaluation."""
        match event:
            case Reported():
                return self._trials.report(event.number, event.report)
            case Halted():
                return self._trials.halt(event.number, event.reason, event.step)
            case Resumed():
                return self._trials.resume(event.number)
        return self._trials.end(event.number, event.outcome)

    def _widen(self, space: Space) -> None:
        self.settings = replace(self.settings, space=space.given(self.space.constraints))
        self._trials = self._trials.under(self.settings)
        self._policy, self._memory = self.settings.policy(), {}  # what was learned of the old cube does not hold

    def addition(self, x: Any, author: str | None = None) -> Added:
        """What happens if somebody wants a point to be tried, `x` in the form that the function receives or by name.

        Raises:
            InvalidInput: it is no point of the space, or breaks a constraint; or a trial has been there or will be,
                unless values are noisy.
        """
        params = self.space.check(x)
        self.space.require_allowed(params)
        if not self.settings.noisy:
            self._queue.require_untried(params, self._trials.asked)
        return Added(params, author=author)

    def choose(self, within: float | None = None) -> Asked:
        """The next point, chosen from what is known now; nothing changes until it is applied.

        Args:
            within: seconds that are left, if there is a limit.

        Raises:
            SpaceExhausted: every point of a finite space is evaluated or under evaluation.
            NoTime: no evaluation would probably be finished within that time.
            InvalidInput: `within` is not a number of seconds.
        """
        within = checked_seconds(within, "within")
        with self._lock:
            evidence, memory = self.evidence(within), self._memory
            number, queue = len(self._trials.asked), self._queue
        if (first := queue.first(number)) is not None:
            params, given = first
            if given["move"] == INITIAL and not self.settings.noisy:
                require_free_point(evidence)
            return Asked(number, params, dict(given), memory, seen=0, seconds=0.0)
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
        return Asked(number, params, dict(note), after, seen=0, seconds=0.0)

    def verdict(self, number: int) -> Halted | None:
        """The decision to stop a trial that has just reported; None if it may go on, or nothing new is decided.

        Raises:
            TrialError: it was never asked for.
        """
        with self._lock:
            trial, rule = self._trials.known(number), self.settings.stop_early
            if not rule or trial.state != "pending" or trial.halted:
                return None
            reason = objection(rule, number, self._trials.curves())
        return Halted(number, reason, seen=0, step=trial.reports[-1].step) if reason else None

    def resumption(self) -> Resumed | None:
        """The decision that an evaluation that was stopped goes on before another begins; None if none does."""
        with self._lock:
            rule = self.settings.stop_early
            paused = self._trials.paused() if rule and self.settings.resumable else {}
            number = to_resume(rule, paused, self._trials.curves()) if rule and paused else None
        return None if number is None else Resumed(number, seen=0)

    @property
    def last_step(self) -> float | None:
        """The last step that evaluations report, as told or learned; None if it is not known yet."""
        with self._lock:
            return self._trials.last_step()

    def expected_ends(self) -> dict[int, ExpectedEnd]:
        """Where evaluations will end that run, or would have ended that were stopped, by number of the trial.

        Only those are there that have reported, and of whose end something can be said: enough others have ended that
        reported at that step. What was measured elsewhere counts for the best value, but has no reports to learn from.
        """
        with self._lock:
            return self._trials.expected_ends()

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

    def model(self, objective: str | None = None) -> Model:
        """The model as it is now, to be asked again and again without another fit.

        Args:
            objective: whose model is meant, if there are several objectives.

        Returns:
            An object with the methods `predict` and `explain`, which knows nothing of what comes in later.

        Raises:
            NoModel: the strategy has no model, or there are too few values for it.
            SeveralObjectives: there are several, and none is named.
            UnknownName: there is no objective of this name.
            OneNumber: an objective is named, but there is one number.
        """
        require_objective(objective, self.settings.objectives)
        return self.models()[objective]

    def models(self) -> dict[str | None, Model]:
        """The model of each objective by name, from one fit; of one number the only one, under None.

        Raises:
            NoModel: the strategy has no model, or there are too few values for it.
        """
        with self._lock:
            number, evidence, memory = len(self._trials.asked), self.evidence(), self._memory
            measured = self._trials.measured()
            done, failed = tuple(self._trials.done()), tuple(self._trials.failed())
        believed, rest = self._policy.believed(evidence, memory, number), (self.space, self.settings.noisy)
        several = believed if isinstance(believed, Beliefs) else None
        beliefs = (believed,) if isinstance(believed, Belief) else believed.each
        asked = zip(self.settings.directions.items(), beliefs, measured.each, strict=True)
        return {
            name: Model(belief, alone, done, failed, direction, *rest, name, several)
            for (name, direction), belief, alone in asked
        }

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials asked for; `trials[k]` has the number k."""
        return tuple(self._trials.asked)

    def trial(self, trial: Trial | int) -> Trial:
        """A trial as it is now, known by its number; `trials` makes a tuple of all.

        Raises:
            TrialError: it was never asked for.
        """
        return self._trials.known(trial)

    @property
    def observed(self) -> tuple[Trial, ...]:
        """The points observed elsewhere, in the order they came in."""
        return tuple(self._trials.observed)

    @property
    def waiting(self) -> tuple[Params, ...]:
        """The points that were added and have not been asked for, in the order in which they will be."""
        return self._queue.waiting

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
            values, (done, failed, stopped) = self._trials.values(), self._trials.counts()
            excess, counts = self._trials.excess(), self._trials.allowed()
            evidence = self._trials.measured() if self.settings.objectives else None
        if evidence is not None:
            return Tallied(done, failed, None, len(rows_of_front(evidence, evidence.y)), stopped)
        values = values[counts if excess is None else counts & (excess <= 0.0).all(axis=1)]
        best = float(self.direction.turned(self.direction.turned(values).min())) if len(values) else None
        return Tallied(done, failed, best, stopped=stopped)

    @property
    def paces(self) -> Mapping[int, float]:
        """How many times as long evaluations take on each worker as on a typical one, where workers clearly differ.

        They are learned again when there are 5 % more evaluations; {} while workers may be alike.
        """
        with self._lock:
            (known, paces), count = self._paces, self._trials.timings()
            if known <= count < max(GROWTH * known, known + 1):
                return paces
            timing = self._trials.timing()
        self._paces = count, timing.paces
        return timing.paces

    def pace(self, trial: Trial) -> float:
        """The pace of the worker that evaluated a trial; 1 where nobody knows."""
        return 1.0 if trial.worker is None else self.paces.get(trial.worker, 1.0)

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

    def found(self, message: str = "") -> Found[Self]:
        """What has been found so far, which does not change when more comes in; the message says why it ends here."""
        with self._lock:
            trials, done, evidence, memory = self.trials, self._trials.done(), self._trials.measured(), self._memory
            ended, now = sum(self._trials.counts()), copy(self)
        ending, objectives = message or "No trial has given a value.", self.settings.objectives
        several = Several(objectives) if objectives else None
        nothing = Found(ended, False, ending, trials, now, several=several)
        if not done:
            return nothing
        if objectives:
            several, remark = front_of(objectives, done, evidence, self._policy, memory, len(trials))
            ending = " ".join(filter(None, [message or "The front so far.", remark]))
            return replace(nothing, success=bool(several.front), ending=ending, several=several)
        best = best_of(done, evidence, self._policy, memory, len(trials))
        if best is None:
            return nothing
        unsure = best.trial.number < 0 and self.space.lacks_a_function
        return replace(
            nothing,
            success=best.feasible,
            ending=" ".join(filter(None, [message or "The best so far.", best.remark, UNSURE if unsure else ""])),
            single=Single(best.trial, self.direction.turned(float(best.losses[best.row]))),
            limits=standings(self.settings.limits, best, evidence),
        )

    def measured(self) -> Evidence:
        """What has been measured: `evidence` without the ends that are only expected of stopped evaluations."""
        with self._lock:
            return self._trials.measured()

    def evidence(self, within: float | None = None) -> Evidence:
        """What the strategy would be shown now: observed points first, then trials by number, whoever ended first."""
        with self._lock:
            return self._trials.evidence(within)
