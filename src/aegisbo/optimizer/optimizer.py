"""The optimiser behind every front door: it hands out trials and takes in what became of them."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import IntEnum
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from aegisbo.arrays import Array, as_number
from aegisbo.errors import InvalidInput, SpaceExhausted, TrialError, UnknownName
from aegisbo.optimizer.choosing import chosen, natural, one_blas_thread
from aegisbo.optimizer.result import Result
from aegisbo.optimizer.trial import FAILURES, Failure, Trial
from aegisbo.search.designs import maximin_latin_hypercube, sobol
from aegisbo.space import Params, Space
from aegisbo.space.space import SpaceLike
from aegisbo.strategies.base import Evidence, Memory, Smoother, Strategy, Suggestion

FORMAT = 1  # of a stored state
# Whether a function is noisy cannot be seen in its values: a rough one looks the same. Hence an option, and a remark.
SMOOTHED = "Values are noisy: x has the best posterior mean of all evaluated points, and fun is that mean."
UNSMOOTHED = "Values are noisy, but there is no model to smooth them: x and fun are the best one measured."


class Role(IntEnum):
    """What a random number is for. Stored runs are continued and replayed by these numbers: never change one."""

    DESIGN = 0
    SEQUENCE = 1
    STRATEGY = 2
    SMOOTHING = 3


class Optimizer:
    """Choose points of a space, one at a time and without ever waiting, to find where a function is smallest.

    Args:
        space: parameters by name or in a list, see `Space`.
        strategy: a name from the registry, or a strategy object.
        preset: which variant of a named strategy; None for the default one.
        seed: decides all random numbers; None draws one, to be read from `seed`.
        n_initial: how many points to spread out before the strategy takes over: by default the number of `initial`
            points if there are any, else twice the number of parameters; 0 to rely on observed data.
        initial: points to start with; a Latin hypercube completes them to `n_initial`.
        maximize: look for where the function is largest instead.
        noisy: the function gives another value each time, so that the best one measured is merely lucky: the best
            point is then the evaluated one with the best posterior mean.
    """

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
    ) -> None:
        self.space = space if isinstance(space, Space) else Space(space)
        self.seed = secrets.randbits(32) if seed is None else natural(seed, "seed")
        self.maximize = maximize
        self.noisy = noisy
        self.initial = tuple(self.space.check(x) for x in (() if initial is None else initial))
        default = len(self.initial) or 2 * self.space.cube.parameters
        self.n_initial = default if n_initial is None else natural(n_initial, "n_initial")
        if self.n_initial < len(self.initial):
            raise InvalidInput(
                f"n_initial={n_initial} is less than the {len(self.initial)} initial points: leave it out."
            )
        self.strategy_name, self.preset, self.strategy = chosen(strategy, preset)
        self._memory: Memory = {}
        self._trials: list[Trial] = []  # by number
        self._observed: list[Trial] = []
        self._points: dict[int, Array] = {}  # (width,) by number of the trial, observed ones included

    @classmethod
    def from_state(cls, state: Mapping[str, Any], strategy: Strategy | None = None) -> Optimizer:
        """Go on from a stored `state` as if nothing had happened.

        Args:
            state: what the method `state` returned.
            strategy: the strategy object, if the run had one instead of a strategy's name.
        """
        if state.get("format") != FORMAT:
            raise InvalidInput(
                f"The state has format {state.get('format')!r}, not {FORMAT}: use the aegisbo that wrote it."
            )
        if (state["strategy"] is None) == (strategy is None):
            remedy = "pass the object that the run had" if strategy is None else "leave the argument out"
            raise InvalidInput(f"The state was stored with strategy={state['strategy']!r}, got {strategy!r}: {remedy}.")
        optimizer = cls(
            Space.from_description(state["space"]),
            strategy=state["strategy"] if strategy is None else strategy,
            preset=state["preset"],
            seed=state["seed"],
            n_initial=state["n_initial"],
            initial=state["initial"],
            maximize=state["maximize"],
            noisy=state.get("noisy", False),  # older states do not say
        )
        optimizer._memory = _as_stored(state["memory"])
        for entry in [*state["observed"], *state["trials"]]:
            optimizer._add(**_as_stored(entry))
        return optimizer

    def state(self) -> dict[str, Any]:
        """Everything that decides what comes next, in JSON's types; a strategy object is left out."""
        state = {
            "format": FORMAT,
            "space": self.space.describe(),
            "strategy": self.strategy_name,
            "preset": self.preset,
            "seed": self.seed,
            "n_initial": self.n_initial,
            "initial": self.initial,
            "maximize": self.maximize,
            "noisy": self.noisy,
            "memory": self._memory,
            "observed": [trial.describe() for trial in self._observed],
            "trials": [trial.describe() for trial in self._trials],
        }
        return _as_stored(state)

    def ask(self) -> Trial:
        """The next trial to evaluate, pending from now on."""
        number = len(self._trials)
        evidence = self.evidence()
        taken = np.vstack([evidence.X, evidence.failed, evidence.pending])
        if evidence.cube.exhausted(taken):
            raise SpaceExhausted(
                f"All {evidence.cube.size} points are evaluated or under evaluation: widen the space or stop."
            )
        if number < self.n_initial or len(evidence.y) < evidence.cube.parameters + 1:
            return self._add(number, self._initial(number, taken), note={"move": "initial"})
        suggestion = self._suggest(number, evidence)
        memory = _as_stored(suggestion.memory)
        note = _as_stored(suggestion.note)
        if "mean" in note:
            note["mean"] = self._turned(note["mean"])  # as the user measures it
        trial = self._add(number, self.space.params(suggestion.x), note=note)
        self._memory = memory  # last, so that a suggestion which cannot be used leaves no trace
        return trial

    def tell(self, trial: Trial | int, value: float) -> Trial:
        """End a trial with the value measured; one that is not finite makes the trial invalid."""
        return self._end(trial, **_outcome(value))

    def fail(self, trial: Trial | int, reason: str, state: Failure = "failed") -> Trial:
        """End a trial that gave no usable value; its point counts as a bad one."""
        if state not in FAILURES:
            raise UnknownName("way to fail", state, FAILURES)
        return self._end(trial, state=state, reason=str(reason))

    def expire(self, trial: Trial | int) -> Trial:
        """Give up waiting for a trial: its point is free again, but a late `tell` or `fail` is still welcome."""
        return self._end(trial, state="expired", reason="lost")

    def observe(self, x: Any, y: float) -> Trial:
        """Take in a value that was measured elsewhere; `x` in the form that the function receives, or by name."""
        return self._add(-1 - len(self._observed), x, note={"move": "observed"}, **_outcome(y))

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials asked for; `trials[k]` has the number k."""
        return tuple(self._trials)

    @property
    def observed(self) -> tuple[Trial, ...]:
        """The points observed elsewhere, in the order they came in."""
        return tuple(self._observed)

    @property
    def pending(self) -> tuple[Trial, ...]:
        """The trials that have been asked for and have not ended."""
        return tuple(trial for trial in self._trials if trial.state == "pending")

    @property
    def best(self) -> Trial | None:
        """The trial or observed point with the best value so far, or posterior mean if `noisy`; the first of equals."""
        return self.result().best

    @property
    def memory(self) -> Memory:
        """What the strategy remembers after the last ask, in JSON's types."""
        return self._memory

    def result(self, message: str = "") -> Result:
        """What has been found so far, with a message that says why it ends here."""
        losses, remark = self._losses()
        best = self._with_value()[losses.argmin()] if len(losses) else None
        message = message or ("No trial has given a value." if best is None else "The best so far.")
        return Result(
            x=None if best is None else best.x,
            fun=math.nan if best is None else self._turned(float(losses.min())),
            nfev=sum(trial.state in ("done", *FAILURES) for trial in self._trials),
            success=best is not None,
            message=f"{message} {remark}".rstrip(),
            trials=self.trials,
            best=best,
        )

    def evidence(self) -> Evidence:
        """What the strategy would be shown now: observed points first, then trials by number, whoever ended first."""
        done = self._with_value()
        failed = [trial for trial in (*self._observed, *self._trials) if trial.state in FAILURES]
        return Evidence(
            X=self._stacked(done),
            y=np.array([self._loss(trial) for trial in done]),
            failed=self._stacked(failed),
            pending=self._stacked(self.pending),
            cube=self.space.cube,
        )

    def _initial(self, number: int, taken: Array) -> Params:
        """A given point, one of the Latin hypercube that completes them, or one of the Sobol sequence beyond."""
        given, d = len(self.initial), self.space.cube.parameters
        if number < given:
            return self.initial[number]
        if number < self.n_initial:
            U = self._latin_hypercube[[number - given]]
        else:
            U = sobol(1, d, self._rng(Role.SEQUENCE), skip=number - self.n_initial)
        return self.space.params(self.space.cube.unused(self.space.cube.fill(U)[0], taken))

    @cached_property
    def _latin_hypercube(self) -> Array:  # (n_initial - given, parameters)
        n = self.n_initial - len(self.initial)
        return maximin_latin_hypercube(n, self.space.cube.parameters, self._rng(Role.DESIGN))

    def _suggest(self, number: int, evidence: Evidence) -> Suggestion:
        with one_blas_thread():
            return self.strategy.suggest(evidence, self._memory, self._rng(Role.STRATEGY, number))

    def _rng(self, role: Role, number: int = 0) -> Generator:
        """Random numbers by address, so that nobody's draws depend on who asked or finished before."""
        return default_rng([self.seed, role, number])

    def _add(self, number: int, params: Any, **rest: Any) -> Trial:
        params = self.space.check(params)
        trial = Trial(number, self.space.arrange(params), params, **rest)
        # Back from the values: the model sees what is evaluated, and the same after the values were stored and read.
        self._points[number] = self.space.to_unit(params)
        (self._trials if number >= 0 else self._observed).append(trial)
        return trial

    def _end(self, trial: Trial | int, **outcome: Any) -> Trial:
        number = trial.number if isinstance(trial, Trial) else trial
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise InvalidInput(f"Expected a trial or its number, got {trial!r}.")
        if not 0 <= number < len(self._trials):
            raise TrialError(f"Trial {number} was never asked for: {len(self._trials)} trials are known.")
        current = self._trials[number]
        # A value may come after all from a trial that was given up: lost, or too slow in a pool that cannot stop it.
        late = current.state == "expired" or (current.state == "timed_out" and outcome["state"] == "done")
        late = late and outcome["state"] != "expired"
        if current.state != "pending" and not late:
            raise TrialError(f"Trial {number} has already ended ({current.state}): to add data, use observe.")
        self._trials[number] = replace(current, **{"value": None, "reason": None, **outcome})
        return self._trials[number]

    def _with_value(self) -> list[Trial]:
        return [trial for trial in (*self._observed, *self._trials) if trial.state == "done"]

    def _losses(self) -> tuple[Array, str]:  # (n,)
        """What the points with a value are compared by, and what the user must be told of it."""
        evidence = self.evidence()
        if not self.noisy or len(evidence.y) == 0:
            return evidence.y, ""
        if not isinstance(self.strategy, Smoother) or len(evidence.y) <= evidence.cube.parameters:
            return evidence.y, UNSMOOTHED
        with one_blas_thread():
            rng = self._rng(Role.SMOOTHING, len(self._trials))
            return self.strategy.smoothed(evidence, self._memory, rng), SMOOTHED

    def _loss(self, trial: Trial) -> float:
        assert trial.value is not None  # only trials that are done are compared
        return self._turned(trial.value)

    def _turned(self, value: float) -> float:
        """From what the user measures to what is minimised, or back: the one place that knows of maximisation."""
        return -value if self.maximize else value

    def _stacked(self, trials: Iterable[Trial]) -> Array:  # (m, width)
        return np.array([self._points[trial.number] for trial in trials]).reshape(-1, self.space.cube.width)


def _outcome(value: object) -> dict[str, Any]:
    """How a trial ends that returned `value`."""
    number = as_number(value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value)
    if number is None:
        raise InvalidInput(f"The value of a trial must be a number, got {value!r}: use float(...), or call fail.")
    if not math.isfinite(number):
        return {"state": "invalid", "reason": f"the value was {number}"}
    return {"state": "done", "value": number}


def _as_stored(value: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that has been through JSON, so that a run goes on alike from memory and from a file."""
    return dict(json.loads(json.dumps(value)))
