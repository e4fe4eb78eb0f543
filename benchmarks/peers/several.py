"""Methods for several objectives behind ask and tell. They are told a number for each objective, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aegisbo import Optimizer
from aegisbo.arrays import Array
from aegisbo.outcome import Outcome
from aegisbo.space.parameters import Params
from benchmarks.peers.catalog import OptunaStudy, Uniform
from benchmarks.peers.driven import Driven
from benchmarks.peers.foreign import Bounds, Foreign

Values = Mapping[str, float]  # of the objectives, in their order


class SeveralDriven(Driven):
    """Tells what was measured instead of one value."""

    def told(self, number: int, outcome: Outcome) -> None:
        self.method.tell(number, outcome.measured)


class OptunaFront(OptunaStudy):
    """An Optuna study with several directions."""

    def tell(self, number: int, value: Any) -> None:
        super().tell(number, list(value.values()))


def _optuna_tpe(bounds: Bounds, seed: int, n_initial: int, m: int) -> OptunaFront:
    from optuna.samplers import TPESampler

    sampler = TPESampler(seed=seed, n_startup_trials=0, multivariate=True, constant_liar=True)
    return OptunaFront(sampler, bounds, seed, n_initial, m)


def _optuna_gp(bounds: Bounds, seed: int, n_initial: int, m: int) -> OptunaFront:
    from optuna.samplers import GPSampler

    sampler = GPSampler(seed=seed, n_startup_trials=0, deterministic_objective=True)
    return OptunaFront(sampler, bounds, seed, n_initial, m)


def _optuna_nsga2(bounds: Bounds, seed: int, n_initial: int, m: int) -> OptunaFront:
    from optuna.samplers import NSGAIISampler

    return OptunaFront(NSGAIISampler(seed=seed), bounds, seed, n_initial, m)


class BotorchFront(Foreign):
    """BoTorch's qLogNEHVI with its default models, one for each objective, and the points that are pending.

    The reference point is the one that BoTorch infers from the front so far.
    """

    def __init__(self, bounds: Bounds, seed: int, n_initial: int | None) -> None:
        super().__init__(bounds, seed, n_initial)
        self._seed = seed
        self._pending: dict[int, Array] = {}  # by trial number
        self._X: list[Array] = []
        self._Y: list[list[float]] = []

    def suggest(self, number: int, initial: Params | None) -> Params:
        u = self.space.to_unit(initial) if initial is not None else self._search(number)
        self._pending[number] = u
        return self.space.params(u) if initial is None else initial

    def tell(self, number: int, value: Any) -> None:
        self._X.append(self._pending.pop(number))
        self._Y.append([-each for each in value.values()])  # BoTorch maximizes

    def _search(self, number: int) -> Array:  # (width,)
        import numpy as np
        import torch
        from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import ModelListGP, SingleTaskGP
        from botorch.optim import optimize_acqf
        from botorch.sampling import SobolQMCNormalSampler
        from botorch.utils.multi_objective.hypervolume import infer_reference_point
        from botorch.utils.multi_objective.pareto import is_non_dominated
        from gpytorch.mlls import SumMarginalLogLikelihood

        torch.manual_seed(self._seed % 2**31 + number)
        X, Y = torch.from_numpy(np.array(self._X)), torch.tensor(self._Y, dtype=torch.double)
        model = ModelListGP(*(SingleTaskGP(X, Y[:, [k]]) for k in range(Y.shape[1])))
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        improvement = qLogNoisyExpectedHypervolumeImprovement(
            model,
            ref_point=infer_reference_point(Y[is_non_dominated(Y)]),
            X_baseline=X,
            prune_baseline=True,
            sampler=SobolQMCNormalSampler(torch.Size([64])),
            X_pending=torch.from_numpy(np.array(list(self._pending.values()))) if self._pending else None,
        )
        cube = torch.stack([torch.zeros(X.shape[1]), torch.ones(X.shape[1])]).double()
        x, _ = optimize_acqf(improvement, cube, q=1, num_restarts=4, raw_samples=256)
        found: Array = x[0].numpy()
        return found


# From bounds, seed, initial points and the number of objectives.
PEERS: dict[str, Callable[[Bounds, int, int, int], Any]] = {
    "optuna-tpe": _optuna_tpe,
    "optuna-nsga2": _optuna_nsga2,
    "optuna-gp": _optuna_gp,
    "botorch": lambda bounds, seed, n_initial, m: BotorchFront(bounds, seed, n_initial),
    "uniform": lambda bounds, seed, n_initial, m: Uniform(bounds, seed, n_initial),
}


def method_named(name: str, bounds: Bounds, seed: int, objectives: list[str]) -> Any:
    """A peer, or ours: `strategy` or `strategy/preset`. Each begins with the same 2d points of our design."""
    n_initial = 2 * len(bounds)
    if name in PEERS:
        return PEERS[name](bounds, seed, n_initial, len(objectives))
    strategy, _, preset = name.partition("/")
    wanted = dict.fromkeys(objectives, "min")
    return Optimizer(
        bounds, objectives=wanted, strategy=strategy, preset=preset or None, seed=seed, n_initial=n_initial
    )
