"""The same work with BoTorch, GPyTorch and pymoo: same model, same numbers of starts, features and evaluations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log

import moocore
import numpy as np
import torch
from botorch.acquisition import PosteriorMean
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.optim.fit import fit_gpytorch_mll_scipy
from botorch.sampling.pathwise import draw_kernel_feature_paths, draw_matheron_paths
from botorch.utils.constraints import LogTransformedInterval
from botorch.utils.sampling import optimize_posterior_samples
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.means import ZeroMean
from gpytorch.mlls import ExactMarginalLogLikelihood
from numpy.random import Generator
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.optimize import minimize
from torch import Tensor

from aegisbo.arrays import Array
from aegisbo.gp import isotropic_fit
from aegisbo.gp.paths import FEATURES
from aegisbo.strategies.presets import PAPER, paper_model
from benchmarks.suggest.data import Data

STARTS = PAPER.search.starts
CANDIDATES = PAPER.search.candidates  # for each coordinate


def unfitted(data: Data) -> SingleTaskGP:
    paper = paper_model(data.d)
    # Of the constraints on offer (hard bounds on the raw values, a sigmoid, logarithms) this one lets L-BFGS-B
    # finish with the fewest evaluations; bounds and logarithms are also what our own fit uses.
    kernel = ScaleKernel(
        MaternKernel(nu=2.5, lengthscale_constraint=LogTransformedInterval(*paper.lengthscale)),
        outputscale_constraint=LogTransformedInterval(*paper.outputscale),
    )
    X, y = torch.from_numpy(data.X), torch.from_numpy(data.y)[:, None]
    return SingleTaskGP(
        X,
        y,
        torch.full_like(y, paper.noise),
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=None,
    ).double()


def set_hyperparameters(model: SingleTaskGP, lengthscale: float, outputscale: float) -> None:
    # Their logarithms are the raw parameters. The setters would refuse a value on its bound that is off by rounding.
    model.covar_module.base_kernel.raw_lengthscale.data.fill_(log(lengthscale))
    model.covar_module.raw_outputscale.data.fill_(log(outputscale))


def log_likelihood(data: Data, lengthscale: float, outputscale: float) -> float:
    model = unfitted(data)
    set_hyperparameters(model, lengthscale, outputscale)
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    with torch.no_grad():
        return data.n * float(mll(model(*model.train_inputs), model.train_targets))  # GPyTorch reports it a datum


def fit(data: Data, rng: Generator) -> SingleTaskGP:
    """The best of ten full fits, their starts uniform in the box."""
    model, paper = unfitted(data), paper_model(data.d)
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    best, best_state = np.inf, model.state_dict()
    for _ in range(isotropic_fit.PAPER_STARTS):
        set_hyperparameters(model, rng.uniform(*paper.lengthscale), rng.uniform(*paper.outputscale))
        found = fit_gpytorch_mll_scipy(mll.train())
        if found.fval < best:
            best, best_state = found.fval, {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(best_state)
    return model.eval()


def exploit(model: SingleTaskGP) -> Array:
    """Where the posterior mean is lowest."""
    mean = PosteriorMean(_fresh(model), maximize=False)
    d = _dimension(model)
    x, _ = optimize_acqf(mean, _cube(d), q=1, num_restarts=STARTS, raw_samples=CANDIDATES * d)
    return x[0].numpy()


def thompson(model: SingleTaskGP) -> Array:
    """Where a path drawn from the posterior is lowest."""
    prior = partial(draw_kernel_feature_paths, num_features=FEATURES)
    path = draw_matheron_paths(_fresh(model), torch.Size([1]), prior_sampler=prior)
    return minimum_of_path(path, _dimension(model))


def minimum_of_path(path: Callable[[Tensor], Tensor], d: int) -> Array:
    # Faster than optimize_acqf on a path, which would treat every candidate as a batch of its own.
    x, _ = optimize_posterior_samples(
        path,
        _cube(d),
        raw_samples=CANDIDATES * d,
        num_restarts=STARTS,
        sample_transform=torch.neg,  # it maximizes
        return_transformed=True,
    )
    return x.reshape(-1).detach().numpy()


def pareto(model: SingleTaskGP, seed: int) -> Array:
    """The front (k, 2) of mean and negative standard deviation among all points that the search has evaluated."""
    model = _fresh(model)

    def mean_and_spread(Z: Array) -> Array:
        with torch.no_grad():
            posterior = model.posterior(torch.from_numpy(Z))
            mean, variance = posterior.mean, posterior.variance  # lazy: the joint covariance is never formed
            return torch.hstack([mean, -variance.sqrt()]).numpy()

    return front(mean_and_spread, _dimension(model), seed)


def front(objectives: Callable[[Array], Array], d: int, seed: int) -> Array:
    """pymoo's NSGA-II with the settings of the paper."""
    problem = _Archiving(objectives, d)
    algorithm = NSGA2(
        pop_size=100 * d,
        crossover=SBX(prob=0.8, eta=20),
        mutation=PM(prob=1.0, prob_var=1.0 / d, eta=20),
        eliminate_duplicates=False,  # neither does ours; comparing all pairs would cost it time
    )
    minimize(problem, algorithm, ("n_gen", 10), seed=seed)  # pymoo counts the first population as a generation
    F = np.concatenate(problem.seen)
    return F[moocore.is_nondominated(F)]


class _Archiving(Problem):
    """Two objectives on the unit cube, every value remembered."""

    def __init__(self, objectives: Callable[[Array], Array], d: int) -> None:
        super().__init__(n_var=d, n_obj=2, xl=0.0, xu=1.0)
        self.objectives = objectives
        self.seen: list[Array] = []

    def _evaluate(self, x: Array, out: dict[str, Array]) -> None:
        out["F"] = self.objectives(x)
        self.seen.append(out["F"])


def _fresh(model: SingleTaskGP) -> SingleTaskGP:
    """The same model without what it has cached: each suggestion follows a new fit."""
    return model.train().eval()


def _dimension(model: SingleTaskGP) -> int:
    return int(model.train_inputs[0].shape[1])


def _cube(d: int) -> Tensor:
    return torch.stack([torch.zeros(d), torch.ones(d)]).double()
