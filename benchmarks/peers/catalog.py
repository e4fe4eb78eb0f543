"""What users would pick instead, behind ask and tell. A library is loaded only when its peer is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from numpy.random import default_rng

from aegisbo import Choice, Int, Optimizer
from aegisbo.arrays import Array
from aegisbo.space.parameters import Parameter, Params
from benchmarks.peers.botorch import LogExpectedImprovement
from benchmarks.peers.descents import Cobyqa, LqCmaes
from benchmarks.peers.evolution import Evolution
from benchmarks.peers.foreign import Bounds, Foreign, Method
from benchmarks.peers.smac import Smac


class Uniform(Foreign):
    """Points drawn uniformly from the space, whatever was found."""

    def __init__(self, bounds: Bounds, seed: int, n_initial: int | None) -> None:
        super().__init__(bounds, seed, n_initial)
        self._rng = default_rng(seed)

    def suggest(self, number: int, initial: Params | None) -> Params:
        return initial or self.space.params(self._rng.random(self.space.cube.width))


class OptunaStudy(Foreign):
    """An Optuna study behind ask and tell. A point under evaluation is a running trial, which its samplers respect."""

    def __init__(self, sampler: Any, bounds: Bounds, seed: int, n_initial: int | None, objectives: int = 1) -> None:
        import optuna

        super().__init__(bounds, seed, n_initial)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(sampler=sampler, directions=["minimize"] * objectives)
        self._kinds = {name: _distribution(parameter) for name, parameter in self.space.parameters.items()}
        self._live: list[Any] = []

    def suggest(self, number: int, initial: Params | None) -> Params:
        if initial is not None:
            # A queued trial does not reach the sampler, which otherwise would fit a model to choose it.
            self._study.enqueue_trial(initial)
        self._live.append(self._study.ask(self._kinds))
        return self._live[-1].params

    def tell(self, number: int, value: float | list[float]) -> None:
        self._study.tell(self._live[number], value)

    def fail(self, number: int) -> None:
        from optuna.trial import TrialState

        self._study.tell(self._live[number], state=TrialState.FAIL)

    def observe(self, x: Array, y: float) -> None:
        from optuna.trial import create_trial

        params = self.space.check(x)
        self._study.add_trial(create_trial(params=params, distributions=self._kinds, value=y))


def _distribution(parameter: Parameter) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(parameter, Choice):
        return CategoricalDistribution(parameter.values)
    kind = IntDistribution if isinstance(parameter, Int) else FloatDistribution
    return kind(parameter.low, parameter.high)


def _startup(n_initial: int | None) -> int:
    """Random trials of an Optuna sampler before its model: none after our design, else its default."""
    return 10 if n_initial is None else 0


def _optuna_gp(bounds: Bounds, seed: int, n_initial: int | None, noisy: bool) -> Method:
    from optuna.samplers import GPSampler

    sampler = GPSampler(seed=seed, n_startup_trials=_startup(n_initial), deterministic_objective=not noisy)
    return OptunaStudy(sampler, bounds, seed, n_initial)


def _optuna_tpe(bounds: Bounds, seed: int, n_initial: int | None, noisy: bool) -> Method:
    from optuna.samplers import TPESampler

    # With these two switches it models the coordinates together and keeps away from running trials.
    sampler = TPESampler(seed=seed, n_startup_trials=_startup(n_initial), multivariate=True, constant_liar=True)
    return OptunaStudy(sampler, bounds, seed, n_initial)


def _botorch(bounds: Bounds, seed: int, n_initial: int | None, noisy: bool) -> Method:
    return Optimizer(bounds, strategy=LogExpectedImprovement(), seed=seed, n_initial=n_initial)


def _uniform(bounds: Bounds, seed: int, n_initial: int | None, noisy: bool) -> Method:
    return Uniform(bounds, seed, n_initial)


def _cmaes(bounds: Bounds, seed: int, n_initial: int | None, noisy: bool) -> Method:
    return Evolution(bounds, seed, n_initial)


def _cobyqa(bounds: Bounds, seed: int, n_initial: int | None, noisy: bool) -> Method:
    return Cobyqa(bounds, seed, n_initial)


def _lq_cmaes(bounds: Bounds, seed: int, n_initial: int | None, noisy: bool) -> Method:
    return LqCmaes(bounds, seed, n_initial)


def _smac(bounds: Bounds, seed: int, n_initial: int | None, noisy: bool) -> Method:
    return Smac(bounds, seed, n_initial)


@dataclass(frozen=True)
class Peer:
    """Another optimizer: how it is made, and what must be installed for it."""

    make: Callable[[Bounds, int, int | None, bool], Method]  # bounds, seed, n_initial, whether the values are noisy
    needs: tuple[str, ...]
    sequential: bool = False  # evaluates one point at a time: a reference, run with one worker
    real_only: bool = False  # has no notion of whole numbers and choices

    @property
    def missing(self) -> list[str]:
        return [package for package in self.needs if find_spec(package) is None]

    def start(self, bounds: Bounds, seed: int, n_initial: int | None, noisy: bool) -> Method:
        for package in self.needs:
            import_module(package)  # now, so that no suggestion pays for it
        return self.make(bounds, seed, n_initial, noisy)


PEERS = {
    "optuna-gp": Peer(_optuna_gp, ("optuna", "torch")),
    "optuna-tpe": Peer(_optuna_tpe, ("optuna",)),
    "botorch": Peer(_botorch, ("torch", "botorch")),
    "smac": Peer(_smac, ("smac",)),
    "cmaes": Peer(_cmaes, ("cmaes",)),
    "cobyqa": Peer(_cobyqa, ("cobyqa", "greenlet"), sequential=True, real_only=True),
    "lq-cmaes": Peer(_lq_cmaes, ("cma", "greenlet"), sequential=True, real_only=True),
    "uniform": Peer(_uniform, ()),
}
