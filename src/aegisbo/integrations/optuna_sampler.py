"""AEGiS, and every other strategy of the registry, as a sampler for Optuna."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import IntEnum
from threading import Lock
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import Generator, default_rng
from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.search_space import intersection_search_space
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial

from aegisbo.arrays import as_number
from aegisbo.errors import InvalidInput
from aegisbo.integrations.optuna_history import History, Reader, refuse_constraints, refuse_several_objectives
from aegisbo.integrations.optuna_space import SearchSpace, to_choose
from aegisbo.integrations.optuna_storage import ATTEMPTS, Record, all_trials, explain, publish, record_of, shared_seed
from aegisbo.optimizer.choosing import chosen, natural, one_blas_thread
from aegisbo.search.designs import sobol
from aegisbo.strategies.base import Evidence, Memory, Strategy, Suggestion
from aegisbo.strategies.duplicates import is_taken

# One suggestion at a time in a process: each sees what the one before it published, and the limit of BLAS threads,
# which holds for the whole process, is not lifted by one while another still computes.
_ONE_AT_A_TIME = Lock()


class Role(IntEnum):
    """What a random number is for, as in the optimiser. Studies are continued by these numbers: never change one."""

    SEQUENCE = 1
    STRATEGY = 2
    INDEPENDENT = 3


class AegisSampler(BaseSampler):
    """Choose the parameters of Optuna's trials by AEGiS, also while others are running.

    The sampler keeps nothing to itself. What it has chosen and learned is stored with the trials, and its random
    numbers come from the seed and the trial's number. Threads, processes and restarts may therefore share a study, and
    the same asks and results in the same order give the same points, whichever process asks.

    Args:
        strategy: a name from the registry, such as "aegis" or "thompson", or a strategy object.
        preset: which variant of a named strategy; None for the default one.
        seed: decides all random numbers; give all processes the same. None draws one for the study, which is stored
            in its user attribute "aegisbo:seed".
        search_space: Optuna's distributions by name, so that the first trials are spread out well, too; None to take
            the parameters that all completed trials have in common.
        stale_after: seconds after which a running trial is taken for dead and no longer avoided; None for the larger
            of an hour and five times the longest finished trial.
        n_initial: how many trials to spread out before the strategy takes over; None for twice the number of
            parameters.
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
    ) -> None:
        name, preset, self._strategy = chosen(strategy, preset)
        self._owner = f"{name}, {preset}" if name else type(strategy).__name__
        self._seed = None if seed is None else natural(seed, "seed")
        self._search_space = None if search_space is None else to_choose(search_space)
        self._stale_after = None if stale_after is None else _positive(stale_after, "stale_after")
        self._n_initial = None if n_initial is None else natural(n_initial, "n_initial")

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that are chosen together."""
        if self._search_space is not None:
            return dict(self._search_space)
        return to_choose(intersection_search_space(all_trials(study)))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Values for the parameters that are chosen together, published before they are returned."""
        refuse_several_objectives(study)
        if not search_space:
            explain(study, trial, {"move": "independent"})
            return {}
        reader = Reader(SearchSpace(search_space), study.direction == StudyDirection.MAXIMIZE, self._stale_after)
        with _ONE_AT_A_TIME:
            started = time.perf_counter()
            suggestion = self._settle(study, trial, reader)
            seconds = time.perf_counter() - started
        explain(study, trial, {**_note(suggestion, reader.maximize), "seconds": seconds})
        return reader.space.params(suggestion.x)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A uniformly random value for a parameter that not all trials have."""
        refuse_several_objectives(study)
        space = SearchSpace({param_name: param_distribution})
        rng = self._rng(study, Role.INDEPENDENT, trial.number, crc32(param_name.encode()))
        return space.params(space.cube.fill(rng.random((1, 1)))[0])[param_name]

    def _settle(self, study: Study, trial: FrozenTrial, reader: Reader) -> Suggestion:
        """A suggestion that is published and differs from all that were published before it.

        Another process may publish a point while this one is still choosing. Whoever is the later to publish sees the
        other's point when he looks again, and if it is the same, chooses again.
        """
        history, memory = self._look(study, trial, reader)
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            suggestion = (self._elsewhere if last else self._suggest)(study, trial.number, history.evidence, memory)
            record = Record(reader.space.digest, suggestion.x.tolist(), self._owner, suggestion.memory)
            publish(study, trial, record, attempt)
            earlier, (history, memory) = history, self._look(study, trial, reader)
            lengthscale = np.asarray(suggestion.note.get("lengthscale", 1.0))
            if not is_taken(suggestion.x, history.news_since(earlier), lengthscale):
                break
        return suggestion

    def _look(self, study: Study, trial: FrozenTrial, reader: Reader) -> tuple[History, Memory]:
        """What is known now, and what the strategy remembered after the newest trial that it chose."""
        trials = all_trials(study)
        refuse_constraints(trials)
        for other in reversed(trials):
            record = record_of(other) if other.number != trial.number else None
            if record and (record.space, record.strategy) == (reader.space.digest, self._owner):
                return reader.read(trials, trial.number), record.memory
        return reader.read(trials, trial.number), {}

    def _suggest(self, study: Study, number: int, evidence: Evidence, memory: Memory) -> Suggestion:
        """What the optimiser would do for a trial of this number, but for an exhausted space, where Optuna goes on."""
        cube = evidence.cube
        taken = np.vstack([evidence.X, evidence.failed, evidence.pending])
        exhausted = cube.exhausted(taken)
        n_initial = 2 * cube.parameters if self._n_initial is None else self._n_initial
        if exhausted or number < n_initial or len(evidence.y) < cube.parameters + 1:
            # By number, so that processes that know nothing of each other fill the space together.
            x = cube.fill(sobol(1, cube.parameters, self._rng(study, Role.SEQUENCE), skip=number))[0]
            if exhausted:
                return Suggestion(x, memory, {"move": "exhausted"})
            return Suggestion(cube.unused(x, taken), memory, {"move": "initial"})
        with one_blas_thread():
            return self._strategy.suggest(evidence, memory, self._rng(study, Role.STRATEGY, number))

    def _elsewhere(self, study: Study, number: int, evidence: Evidence, memory: Memory) -> Suggestion:
        """A random point, for a trial whose every choice somebody else has made at the same moment."""
        U = self._rng(study, Role.STRATEGY, number).random((1, evidence.cube.parameters))
        taken = np.vstack([evidence.X, evidence.failed, evidence.pending])
        return Suggestion(evidence.cube.unused(evidence.cube.fill(U)[0], taken), memory, {"move": "random"})

    def _rng(self, study: Study, *address: int) -> Generator:
        """Random numbers by address: nobody's draws depend on who asked or finished before."""
        return default_rng([shared_seed(study) if self._seed is None else self._seed, *address])


def _note(suggestion: Suggestion, maximize: bool) -> dict[str, Any]:
    """The reason for a point, in the direction of the study."""
    note = dict(suggestion.note)
    if maximize and "mean" in note:
        note["mean"] = -note["mean"]
    return note


def _positive(seconds: object, name: str) -> float:
    number = as_number(seconds)
    if number is None or not number > 0:
        raise InvalidInput(f"{name} must be a number of seconds above 0, or None, got {seconds!r}.")
    return number
