"""AEGiS, and every other strategy of the registry, as a sampler for Optuna."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any
from zlib import crc32

import numpy as np
from optuna import Study, logging
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from aegisbo.errors import InvalidInput, SpaceExhausted
from aegisbo.integrations.optuna_conditions import conditions_of, joint_space, objection
from aegisbo.integrations.optuna_history import History, Reader, direction_of
from aegisbo.integrations.optuna_space import SearchSpace, to_choose
from aegisbo.integrations.optuna_storage import (
    ATTEMPTS,
    PublishedPoint,
    all_trials,
    explain,
    publish,
    record_of,
    shared_seed,
    store_constraints,
)
from aegisbo.number import as_number
from aegisbo.optimizer.direction import Direction
from aegisbo.optimizer.policy import Policy, Role, default_initial
from aegisbo.optimizer.settings import check_cost, check_looks_at_several, chosen
from aegisbo.options import natural
from aegisbo.space.cube import Cube
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion
from aegisbo.strategies.duplicates import is_taken
from aegisbo.strategies.registry import DEFAULT_PRESET

# One suggestion at a time in a process: each sees what the one before it published.
_ONE_AT_A_TIME = Lock()

_LOGGER = logging.get_logger("optuna.aegisbo")  # shown and silenced like Optuna's own messages


class AegisSampler(BaseSampler):
    """Choose the parameters of Optuna's trials by AEGiS, with regard to trials that are still running.

    The sampler has no state of its own. It stores its choices with the trials, and its random numbers depend only on
    the seed and the trial's number. Threads, processes and restarts can therefore share a study, and the same asks and
    results in the same order give the same points, whichever process asks. A study may have up to four directions; the
    strategies aegis, thompson and random can choose for several.

    Args:
        strategy: a name from the registry, such as "aegis" or "thompson", or a strategy object.
        preset: the variant of a strategy given by name; None uses its default.
        seed: makes all random numbers repeatable; give all processes the same. None picks a seed for the study and
            stores it in the user attribute "aegisbo:seed".
        search_space: Optuna's distributions by name, so that the first trials are spread out well, too. None takes
            those of completed trials. If these show when a parameter exists, branches are modeled, too.
        stale_after: seconds after which a running trial is taken for dead and no longer avoided. None means an hour, or
            five times the longest finished trial if that is longer.
        n_initial: how many trials to spread over the space before the strategy takes over; None means twice the number
            of parameters.
        cost: "time" makes AEGiS prefer trials that are quick, if they gain more per second.
        constraints_func: takes a trial that has ended with a value and returns numbers, each above 0 if the trial
            breaks a constraint, as for Optuna's own samplers. An objective that calls `trial.set_constraint` needs
            none. The model ignores trials that lack a constraint which others have.
    """

    def __init__(
        self,
        *,
        strategy: str | Strategy = "aegis",
        preset: str | None = None,
        seed: int | None = None,
        search_space: Mapping[str, BaseDistribution] | None = None,
        stale_after: float | None = None,
        n_initial: int | None = None,
        cost: str | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
    ) -> None:
        self._strategy, text, preset = chosen(strategy, preset)
        self._owner = type(strategy).__name__ if text is None else f"{text}, {preset or DEFAULT_PRESET}"
        self._seed = natural("seed", seed)
        self._search_space = None if search_space is None else to_choose(search_space)
        self._stale_after = None if stale_after is None else _positive(stale_after, "stale_after")
        self._n_initial = natural("n_initial", n_initial)
        check_cost(cost, self._strategy)
        self._priced = cost is not None
        if constraints_func is not None and not callable(constraints_func):
            raise InvalidInput(f"constraints_func must be a function of a trial, got {constraints_func!r}.")
        self._constraints_func = constraints_func
        self._warned = False

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that are chosen together."""
        trials = all_trials(study)
        space = joint_space(trials) if self._search_space is None else self._search_space
        self._warn_of_branches(trials, space)
        return dict(space)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Values for the parameters that are chosen together, published before they are returned."""
        direction = self._direction(study)
        if not search_space:
            explain(study, trial, {"move": "independent"})
            return {}
        space = SearchSpace(search_space, conditions_of(all_trials(study), search_space))
        reader = Reader(space, direction, self._stale_after, self._priced)
        with _ONE_AT_A_TIME:
            started = time.perf_counter()
            suggestion = self._settle(study, trial, reader)
            seconds = time.perf_counter() - started
        explain(study, trial, {**direction.turned_note(suggestion.note), "seconds": seconds})
        return reader.space.params(suggestion.x)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A uniformly random value for a parameter that the model does not know, or not in this branch."""
        self._direction(study)
        space = SearchSpace({param_name: param_distribution})
        rng = self._policy(study, space.cube).rng(Role.ASIDE, trial.number, crc32(param_name.encode()))
        return space.params(space.cube.fill(rng.random((1, 1)))[0])[param_name]

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Store the trial's constraints where Optuna's own samplers do."""
        if self._constraints_func is not None and state in (TrialState.COMPLETE, TrialState.PRUNED):
            store_constraints(study, trial, _numbers(self._constraints_func(trial)))

    def _warn_of_branches(self, trials: list[FrozenTrial], space: Mapping[str, BaseDistribution]) -> None:
        """Warn once about what the model cannot see: otherwise a study with branches would silently be random."""
        given = self._search_space is not None
        with _ONE_AT_A_TIME:
            if self._warned or not (words := objection(trials, space, given=given, n_initial=self._n_initial)):
                return
            self._warned = True
        _LOGGER.warning(words)

    def _direction(self, study: Study) -> Direction:
        """Which values are good; an error if the strategy cannot choose for as many objectives."""
        direction = direction_of(study)
        if direction.several:
            check_looks_at_several(self._strategy)
        return direction

    def _settle(self, study: Study, trial: FrozenTrial, reader: Reader) -> Suggestion:
        """Publish a suggestion that differs from all published before it.

        Another process may publish a point while this one is still choosing. The later one sees the other's point when
        it looks again, and if it is the same, chooses again.
        """
        history, memory = self._look(study, trial, reader)
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            suggestion = (self._elsewhere if last else self._suggest)(study, trial.number, history.evidence, memory)
            record = PublishedPoint(reader.space.digest, suggestion.x.tolist(), self._owner, suggestion.memory)
            publish(study, trial, record, attempt)
            earlier, (history, memory) = history, self._look(study, trial, reader)
            lengthscale = np.asarray(suggestion.note.get("lengthscale", 1.0))
            if not is_taken(suggestion.x, history.news_since(earlier), lengthscale):
                break
        return suggestion

    def _look(self, study: Study, trial: FrozenTrial, reader: Reader) -> tuple[History, Memory]:
        """What is known now, and what the strategy remembered after the newest trial that it chose."""
        trials = all_trials(study)
        records = (record_of(other) for other in reversed(trials) if other.number != trial.number)
        ours = (each for each in records if each and (each.space, each.strategy) == (reader.space.digest, self._owner))
        last = next(ours, None)
        return reader.read(trials, trial.number), {} if last is None else last.memory

    def _suggest(self, study: Study, number: int, evidence: Evidence, memory: Memory) -> Suggestion:
        """Choose as the optimizer would, but keep spreading points in an exhausted space, where Optuna continues."""
        policy = self._policy(study, evidence.cube)
        try:
            return policy.suggest(number, evidence, memory)
        except SpaceExhausted:
            return Suggestion(policy.spread(number, evidence.cube), memory, {"move": "exhausted"})

    def _elsewhere(self, study: Study, number: int, evidence: Evidence, memory: Memory) -> Suggestion:
        """A random point, for a trial whose every choice was made by another process at the same moment."""
        cube = evidence.cube
        U = self._policy(study, cube).rng(Role.STRATEGY, number).random((1, cube.parameters))
        return Suggestion(cube.unused(cube.fill(U)[0], evidence.taken), memory, {"move": "random"})

    def _policy(self, study: Study, cube: Cube) -> Policy:
        """How points are chosen. The first ones depend only on their number, so that independent processes agree."""
        seed = shared_seed(study) if self._seed is None else self._seed
        n_initial = default_initial(cube.parameters) if self._n_initial is None else self._n_initial
        return Policy(self._strategy, seed, n_initial)


def _numbers(given: Any) -> list[float]:
    """The numbers that a constraints function returned."""
    numbers = [as_number(each) for each in given] if isinstance(given, Iterable) else [None]
    if any(number is None or math.isnan(number) for number in numbers):
        raise InvalidInput(f"constraints_func must return a list of numbers, got {given!r}.")
    return [float(number) for number in numbers if number is not None]


def _positive(seconds: object, name: str) -> float:
    number = as_number(seconds)
    if number is None or not number > 0:
        raise InvalidInput(f"{name} must be a number of seconds above 0, or None, got {seconds!r}.")
    return number
