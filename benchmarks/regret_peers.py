"""What users would pick instead, behind ask and tell. A library is loaded only when its peer is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator, default_rng

from aegisbo.arrays import Array
from aegisbo.optimizer import Optimizer, Trial
from aegisbo.runners.protocol import Asked
from aegisbo.strategies.base import Evidence, Memory, Suggestion

Bounds = tuple[tuple[float, float], ...]


class Method(Protocol):
    """Hands out points by number, beginning with `n_initial` points of our design, and takes in their values."""

    def ask(self) -> Asked: ...

    def tell(self, number: int, value: float, /) -> object: ...

    def observe(self, x: Array, y: float, /) -> object:
        """Take in a value that was known before the run."""


class Uniform:
    """Points drawn uniformly from the box, whatever was found."""

    def __init__(self, bounds: Bounds, seed: int, n_initial: int) -> None:
        self._low, self._high = np.array(bounds).T
        self._initial = Optimizer(bounds, seed=seed, n_initial=n_initial)  # the start that all share
        self._n_initial = n_initial
        self._rng = default_rng(seed)
        self._asked = 0

    def ask(self) -> Trial:
        number, self._asked = self._asked, self._asked + 1
        if number < self._n_initial:
            return self._initial.ask()
        x = self._low + self._rng.random(len(self._low)) * (self._high - self._low)
        return Trial(number, x, {f"x{i}": value for i, value in enumerate(x.tolist())})

    def tell(self, number: int, value: float) -> None:
        """Learn nothing."""

    def observe(self, x: Array, y: float) -> None:
        """Learn nothing."""


class OptunaStudy:
    """An Optuna study behind ask and tell. A point under evaluation is a running trial, which its samplers respect."""

    def __init__(self, sampler: Any, bounds: Bounds, seed: int, n_initial: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(sampler=sampler)
        self._kinds = {f"x{i}": optuna.distributions.FloatDistribution(*side) for i, side in enumerate(bounds)}
        space = dict(zip(self._kinds, bounds, strict=True))
        self._initial = Optimizer(space, seed=seed, n_initial=n_initial)  # the start that all share
        self._n_initial = n_initial
        self._live: list[Any] = []

    def ask(self) -> Trial:
        number = len(self._live)
        if number < self._n_initial:
            # A queued trial does not reach the sampler, which otherwise would fit a model to choose it.
            self._study.enqueue_trial(self._initial.ask().params)
        trial = self._study.ask(self._kinds)
        self._live.append(trial)
        return Trial(number, [trial.params[name] for name in self._kinds], trial.params)

    def tell(self, number: int, value: float) -> None:
        self._study.tell(self._live[number], value)

    def observe(self, x: Array, y: float) -> None:
        from optuna.trial import create_trial

        params = dict(zip(self._kinds, x.tolist(), strict=True))
        self._study.add_trial(create_trial(params=params, distributions=self._kinds, value=y))


class LogExpectedImprovement:
    """BoTorch's defaults (ARD, priors scaled with the dimension, standardized values) and its qLogEI, as a strategy."""

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        import torch
        from botorch.acquisition import qLogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from botorch.sampling import SobolQMCNormalSampler
        from gpytorch.mlls import ExactMarginalLogLikelihood

        torch.manual_seed(int(rng.integers(2**31)))
        X, y = torch.from_numpy(evidence.X), -torch.from_numpy(evidence.y)[:, None]  # it maximizes
        model = SingleTaskGP(X, y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        improvement = qLogExpectedImprovement(
            model,
            best_f=y.max(),
            sampler=SobolQMCNormalSampler(torch.Size([64])),
            X_pending=torch.from_numpy(evidence.pending) if len(evidence.pending) else None,
        )
        cube = torch.stack([torch.zeros(X.shape[1]), torch.ones(X.shape[1])]).double()
        x, _ = optimize_acqf(improvement, cube, q=1, num_restarts=4, raw_samples=256)
        return Suggestion(x[0].numpy(), note={"move": "improve"})


def _optuna_gp(bounds: Bounds, seed: int, n_initial: int, noisy: bool) -> Method:
    from optuna.samplers import GPSampler

    sampler = GPSampler(seed=seed, n_startup_trials=0, deterministic_objective=not noisy)
    return OptunaStudy(sampler, bounds, seed, n_initial)


def _optuna_tpe(bounds: Bounds, seed: int, n_initial: int, noisy: bool) -> Method:
    from optuna.samplers import TPESampler

    # With these two switches it models the coordinates together and keeps away from running trials.
    sampler = TPESampler(seed=seed, n_startup_trials=0, multivariate=True, constant_liar=True)
    return OptunaStudy(sampler, bounds, seed, n_initial)


def _botorch(bounds: Bounds, seed: int, n_initial: int, noisy: bool) -> Method:
    return Optimizer(bounds, strategy=LogExpectedImprovement(), seed=seed, n_initial=n_initial)


def _uniform(bounds: Bounds, seed: int, n_initial: int, noisy: bool) -> Method:
    return Uniform(bounds, seed, n_initial)


@dataclass(frozen=True)
class Peer:
    """Another optimizer: how it is made, and what must be installed for it."""

    make: Callable[[Bounds, int, int, bool], Method]  # bounds, seed, n_initial, whether the values are noisy
    needs: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        return [package for package in self.needs if find_spec(package) is None]

    def start(self, bounds: Bounds, seed: int, n_initial: int, noisy: bool) -> Method:
        for package in self.needs:
            import_module(package)  # now, so that no suggestion pays for it
        return self.make(bounds, seed, n_initial, noisy)


PEERS = {
    "optuna-gp": Peer(_optuna_gp, ("optuna", "torch")),
    "optuna-tpe": Peer(_optuna_tpe, ("optuna",)),
    "botorch": Peer(_botorch, ("torch", "botorch")),
    "uniform": Peer(_uniform, ()),
}
