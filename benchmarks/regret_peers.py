"""What users would pick instead, under ask and tell. A library is loaded only when its peer is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from numpy.random import Generator

from aegisbo.optimizer import Optimizer, Trial
from aegisbo.runners.protocol import Asked
from aegisbo.strategies.base import Evidence, Memory, Suggestion

Bounds = tuple[tuple[float, float], ...]


class Method(Protocol):
    """Hands out points by number, the first 2d of them those of our design, and takes in their values."""

    def ask(self) -> Asked: ...

    def tell(self, number: int, value: float, /) -> object: ...


class OptunaStudy:
    """An Optuna study under ask and tell: what is under evaluation is a running trial, which its samplers respect."""

    def __init__(self, sampler: Any, bounds: Bounds, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(sampler=sampler)
        self._kinds = {f"x{i}": optuna.distributions.FloatDistribution(*side) for i, side in enumerate(bounds)}
        self._initial = Optimizer(dict(zip(self._kinds, bounds, strict=True)), seed=seed)  # the start that all share
        self._live: list[Any] = []

    def ask(self) -> Trial:
        number = len(self._live)
        if number < self._initial.n_initial:
            # Waiting in the queue it goes past the sampler, which otherwise would fit a model to choose it.
            self._study.enqueue_trial(self._initial.ask().params)
        trial = self._study.ask(self._kinds)
        self._live.append(trial)
        return Trial(number, [trial.params[name] for name in self._kinds], trial.params)

    def tell(self, number: int, value: float) -> None:
        self._study.tell(self._live[number], value)


class LogExpectedImprovement:
    """BoTorch's defaults (ARD, priors scaled with the dimension, standardised values) and its qLogEI, as a strategy."""

    def suggest(self, evidence: Evidence, memory: Memory, rng: Generator) -> Suggestion:
        import torch
        from botorch.acquisition import qLogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from botorch.sampling import SobolQMCNormalSampler
        from gpytorch.mlls import ExactMarginalLogLikelihood

        torch.manual_seed(int(rng.integers(2**31)))
        X, y = torch.from_numpy(evidence.X), -torch.from_numpy(evidence.y)[:, None]  # it maximises
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


def _optuna_gp(bounds: Bounds, seed: int, noisy: bool) -> Method:
    from optuna.samplers import GPSampler

    sampler = GPSampler(seed=seed, n_startup_trials=0, deterministic_objective=not noisy)
    return OptunaStudy(sampler, bounds, seed)


def _optuna_tpe(bounds: Bounds, seed: int, noisy: bool) -> Method:
    from optuna.samplers import TPESampler

    # With these two switches it models the coordinates together and keeps away from running trials.
    sampler = TPESampler(seed=seed, n_startup_trials=0, multivariate=True, constant_liar=True)
    return OptunaStudy(sampler, bounds, seed)


def _botorch(bounds: Bounds, seed: int, noisy: bool) -> Method:
    return Optimizer(bounds, strategy=LogExpectedImprovement(), seed=seed)


@dataclass(frozen=True)
class Peer:
    """Another optimiser: how it is made, and what must be installed for it."""

    make: Callable[[Bounds, int, bool], Method]  # bounds, seed, whether the values are noisy
    needs: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        return [package for package in self.needs if find_spec(package) is None]

    def start(self, bounds: Bounds, seed: int, noisy: bool) -> Method:
        for package in self.needs:
            import_module(package)  # now, so that no suggestion pays for it
        return self.make(bounds, seed, noisy)


PEERS = {
    "optuna-gp": Peer(_optuna_gp, ("optuna", "torch")),
    "optuna-tpe": Peer(_optuna_tpe, ("optuna",)),
    "botorch": Peer(_botorch, ("torch", "botorch")),
}
