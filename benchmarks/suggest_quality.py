"""How good one suggestion is: likelihoods, minima and Pareto fronts beside those of others on the same functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import suggest_botorch as theirs
import suggest_ours as ours
import torch
from numpy.random import Generator
from scipy.optimize import minimize
from suggest_data import Data, finished, mid_run
from suggest_times import COMPARED
from torch import Tensor

from aegisbo import problems
from aegisbo.arrays import Array
from aegisbo.numerics.blocks import by_blocks
from aegisbo.numerics.gp import GP
from aegisbo.numerics.likelihood import Likelihood
from aegisbo.numerics.pareto import hypervolume
from aegisbo.numerics.paths import SamplePaths
from aegisbo.strategies.presets import paper_model

Numbers = dict[str, object]
FITS = 200
SEEDS = 5


def compare(quick: bool) -> dict[str, Numbers]:
    sizes = ((2, 50), (10, 200)) if quick else COMPARED
    models = [(data, ours.fit(data, np.random.default_rng(0)).gp) for size in sizes for data in mid_run(*size)]
    return {
        "Log likelihood": _likelihoods(FITS // 10 if quick else FITS),
        "Minimum of the mean": _minima_of_means(models),
        "Minimum of a path": _minima_of_paths(models),
        "Pareto front": _fronts(models),
    }


def _likelihoods(count: int) -> Numbers:
    """Our fit, which climbs few hills, against the best of ten climbs to the very top."""
    gains, disagreements = [], []
    for i, data in enumerate(_fitted_data(count)):
        rng = np.random.default_rng([1, i])
        found = ours.fit(data, rng)
        gains.append((found.log_likelihood - _best_of_ten(data, rng)) / data.n)
        if i % 10 == 0:
            theta = found.gp.kernel
            witness = theirs.log_likelihood(data, float(theta.lengthscale[0]), theta.outputscale)
            disagreements.append(abs(found.log_likelihood - witness) / data.n)
    return {
        "cases": count,
        "not worse by more than 1e-6 a datum": float(np.mean(np.array(gains) >= -1e-6)),
        "target": 0.99,
        "better by more than 1e-6 a datum": float(np.mean(np.array(gains) > 1e-6)),
        "largest loss a datum": -min(gains),
        "largest difference from GPyTorch's value a datum": max(disagreements),
    }


def _fitted_data(count: int) -> Iterator[Data]:
    """All functions in turn, from 2 d to 150 points, every other data set partly concentrated."""
    names = problems.names()
    for i in range(count):
        rng = np.random.default_rng([0, i])
        name = names[i % len(names)]
        n = round(float(np.exp(rng.uniform(np.log(2 * problems.get(name).d), np.log(150)))))
        yield finished(name, n, rng.choice([0.0, 0.5]), rng)


def _best_of_ten(data: Data, rng: Generator) -> float:
    model = paper_model(data.d)
    likelihood = Likelihood(data.X, data.y, model)
    bounds = model.bounds(data.d)

    def descent(phi: Array) -> tuple[float, Array]:
        value, gradient = likelihood.value_and_gradient(phi)
        return -value, -gradient

    starts = np.log(rng.uniform(*np.exp(bounds.T), size=(10, 2)))
    return max(-float(minimize(descent, phi, jac=True, method="L-BFGS-B", bounds=bounds).fun) for phi in starts)


def _minima_of_means(models: list[tuple[Data, GP]]) -> Numbers:
    gains = []
    for data, gp in models:
        torch_model = theirs.unfitted(data)
        theirs.set_hyperparameters(torch_model, float(gp.kernel.lengthscale[0]), gp.kernel.outputscale)
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            x = np.stack([theirs.exploit(torch_model), ours.exploit(gp, np.random.default_rng(seed))])
            gains.append(-np.diff(gp.mean(x))[0])
    return _summary(gains)


def _minima_of_paths(models: list[tuple[Data, GP]]) -> Numbers:
    gains = []
    for data, gp in models:
        cube = torch.stack([torch.zeros(data.d), torch.ones(data.d)]).double()
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            path = ours.path(gp, np.random.default_rng(seed))
            x = np.stack(
                [theirs.minimum_of_path(_in_torch(path), cube), ours.thompson(gp, np.random.default_rng(seed))]
            )
            gains.append(-np.diff(path(x)[0])[0])
    return _summary(gains)
