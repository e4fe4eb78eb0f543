"""What the model loses with more than 1,200 results, of which its posterior has 1,200.

    python -m benchmarks.suggest.thinning regret --to thinning.csv [--functions Ackley5] [--seeds 0 1 2 3 4]
    python -m benchmarks.suggest.thinning methods [--functions Ackley5] [--results 10000]

regret: from 2,400 results, 64 further evaluations on 32 virtual workers, by the exact posterior and by the thinned
one, with the same start and job times. Rows that the file has are not run again.

methods: the same hyper-parameters and data for several ways to make a posterior: error and log density of its
prediction at 400 further points as a run asks for them, half of them around the best points, half anywhere; processor
seconds to make it and for the mean at a thousand points.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from unittest.mock import patch

import numpy as np
from numpy.random import Generator, default_rng
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize
from scipy.spatial import KDTree

from aegisbo import Optimizer
from aegisbo.arrays import Array
from aegisbo.gp import additive_fit
from aegisbo.gp.additive_model import AdditiveHyperparameters
from aegisbo.gp.output_transform import soft_scale_of
from aegisbo.gp.thinning import thinned
from aegisbo.runners.loop import run
from aegisbo.simulation import problems
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import half_normal
from aegisbo.simulation.problem import Problem
from aegisbo.strategies import surrogates
from aegisbo.strategies.presets import modern_model
from aegisbo.study import Study
from benchmarks.sign_test import sign_test

FUNCTIONS = ("Eggholder", "Ackley5", "Michalewicz5", "Hartmann6", "Rosenbrock7", "StyblinskiTang7", "StyblinskiTang10")
RESULTS, EVALUATIONS, WORKERS = 2400, 64, 32
VALLEYS = 8  # around which two thirds of the results lie
LEVEL = 0.01  # relative difference of two regrets that counts
Predictor = Callable[[Array], tuple[Array, Array]]  # mean and variance (m,) at (m, d)


def results_of(problem: Problem, n: int, rng: Generator) -> tuple[Array, Array]:
    """Points (n, d) of the unit cube as a long run leaves them, and their values: anywhere, and in some valleys."""
    low, high = np.array(problem.bounds).T

    def value(u: Array) -> float:
        return problem(low + np.clip(u, 0.0, 1.0) * (high - low))

    d, each = problem.d, (n - n // 3) // VALLEYS
    points = [rng.random((n - each * VALLEYS, d))]
    for _ in range(VALLEYS):
        bottom = minimize(value, rng.random(d), bounds=[(0, 1)] * d, options={"maxfun": 6 * (d + 1)}).x
        reach = 10 ** rng.uniform(-2.5, -0.6, (each, 1))
        points.append(np.clip(bottom + reach * rng.standard_normal((each, d)), 0.0, 1.0))
    U = rng.permutation(np.vstack(points))
    return U, np.array([value(u) for u in U])


def regret(name: str, seed: int, exact: bool) -> tuple[float, float]:
    """The regret at the end, and processor seconds of one suggestion."""
    problem = problems.get(name)
    low, high = np.array(problem.bounds).T
    U, values = results_of(problem, RESULTS, default_rng(seed))
    optimizer = Optimizer(problem.bounds, seed=seed, n_initial=0)
    for u, value in zip(U, values, strict=True):
        optimizer.observe(low + u * (high - low), value)
    most = 10 * RESULTS if exact else surrogates.CONDITIONED_ON
    begin = process_time()
    with patch.object(surrogates, "CONDITIONED_ON", most):
        run(Study(optimizer), VirtualWorkers(problem, WORKERS, half_normal, seed=seed), EVALUATIONS)
    seconds = (process_time() - begin) / EVALUATIONS
    return float(optimizer.tally().best or np.nan) - float(problem.minimum or 0.0), seconds


def compare(functions: list[str], seeds: list[int], to: Path) -> None:
    """Fill the file with what is missing, and tell who was lower how often."""
    there = [] if not to.exists() else list(csv.reader(to.open()))
    for seed in seeds:
        for name in functions:
            if [name, str(seed)] not in [row[:2] for row in there]:
                (all_data, slow), (some, quick) = (regret(name, seed, exact) for exact in (True, False))
                row = [name, str(seed), f"{all_data:.4g}", f"{some:.4g}", f"{slow:.3f}", f"{quick:.3f}"]
                there.append(row)
                with to.open("a") as file:
                    csv.writer(file).writerow(row)
    print("function          pairs   thinned lower   higher   exact: s   thinned: s")
    for name in [*functions, ""]:
        rows = np.array([row[2:] for row in there if row[0] == name or not name], dtype=np.float64)
        if len(rows):
            close = np.abs(rows[:, 0] - rows[:, 1]) <= LEVEL * np.abs(rows[:, :2]).max(axis=1)
            lower, higher = (int((~close & (sign * (rows[:, 1] - rows[:, 0]) < 0)).sum()) for sign in (1, -1))
            seconds = "".join(f"{s:11.3f}" for s in np.median(rows[:, 2:], axis=0))
            print(f"{name or 'all':18}{len(rows):5}{lower:16}{higher:9}{seconds}")
    if lower + higher:
        print(f"sign test over all: p = {sign_test(lower, higher):.2f}")


@dataclass(frozen=True)
class Data:
    """What all methods are given."""

    hyperparameters: AdditiveHyperparameters
    X: Array  # (n, d)
    y: Array  # (n,) standardized

    @property
    def kept(self) -> Array:
        return thinned(self.X, self.y, self.hyperparameters.lengthscale, surrogates.CONDITIONED_ON)


def some_data(data: Data) -> Predictor:
    rows = data.kept
    return data.hyperparameters.given(data.X[rows], data.y[rows]).predict


def all_data(data: Data) -> Predictor:
    return data.hyperparameters.given(data.X, data.y).predict


def inducing_points(data: Data, m: int) -> Predictor:
    """All data through m points (DTC's mean, FITC's variance, Quiñonero-Candela and Rasmussen 2005)."""
    rows = thinned(data.X, data.y, data.hyperparameters.lengthscale, m)
    prior = data.hyperparameters.given(data.X[rows], data.y[rows])
    noise, y = prior.noise, data.y - prior.constant
    K_uu = prior._prior_covariance(prior.X, prior.X) + 1e-8 * prior.kernel.outputscale * np.eye(m)
    L = np.linalg.cholesky(K_uu)
    white = solve_triangular(L, prior.covariances(data.X), lower=True)  # (m, n)
    B = cho_factor(noise * np.eye(m) + white @ white.T, lower=True)
    weights = cho_solve(B, white @ y)

    def predict(Z: Array) -> tuple[Array, Array]:
        v = solve_triangular(L, prior.covariances(Z), lower=True)
        total = np.array([prior._prior_covariance(z[None], z[None])[0, 0] for z in Z])
        variance = total - (v**2).sum(axis=0) + noise * np.einsum("um,um->m", v, cho_solve(B, v))
        return prior.constant + weights @ v, np.maximum(variance, 0.0)

    return predict


def nearest_neighbors(data: Data, m: int) -> Predictor:
    """At each point the posterior given the m nearest data."""
    lengthscale = data.hyperparameters.lengthscale
    tree = KDTree(data.X / lengthscale)

    def predict(Z: Array) -> tuple[Array, Array]:
        rows = tree.query(Z / lengthscale, m)[1]
        each = [
            data.hyperparameters.given(data.X[near], data.y[near]).predict(z[None])
            for z, near in zip(Z, rows, strict=True)
        ]
        return np.array([mean[0] for mean, _ in each]), np.array([variance[0] for _, variance in each])

    return predict


METHODS: dict[str, Callable[[Data], Predictor]] = {
    "1,200 of the data": some_data,
    "inducing points, 500": lambda data: inducing_points(data, 500),
    "inducing points, 1,200": lambda data: inducing_points(data, 1200),
    "50 nearest neighbors": lambda data: nearest_neighbors(data, 50),
    "all data": all_data,
}
MOST_EXACT = 5000  # data that all can be used of: eight bytes for each pair


def predictions(name: str, n: int) -> Iterator[str]:
    """A line for each method."""
    U, values = results_of(problems.get(name), n + 2000, default_rng(0))
    scale = soft_scale_of(values[:n])
    X, y = U[:n], scale.standardized(values[:n])
    some = np.linspace(0, n - 1, surrogates.LEARNED_FROM_MANY).round().astype(np.intp)
    learned = additive_fit.fit(X[some], y[some], modern_model(X.shape[1]), default_rng(0)).hyperparameters
    further = scale.standardized(values[n:])
    low = np.argsort(further)[:200]
    rows = np.append(low, np.setdiff1d(np.arange(len(further)), low)[:200])
    Z, truth = U[n:][rows], further[rows]
    for method, make in METHODS.items():
        if method == "all data" and n > MOST_EXACT:
            continue
        begin = process_time()
        predict = make(Data(learned, X, y))
        made = process_time()
        mean, variance = predict(Z)
        asked = (process_time() - made) * 1000 / len(Z)
        variance = variance + learned.s * np.exp(learned.phi[-1])
        density = -0.5 * np.log(2 * np.pi * variance) - 0.5 * (mean - truth) ** 2 / variance
        near, far = (f"{np.abs(mean - truth)[part].mean():9.2g}{density[part].mean():9.2f}" for part in HALVES)
        yield f"{name:18}{n:7}  {method:24}{near}{far}{made - begin:10.2f}{asked:10.2f}"


HALVES = (slice(0, 200), slice(200, 400))  # around the best points, and anywhere


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["regret", "methods"])
    parser.add_argument("--functions", nargs="+", default=list(FUNCTIONS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--results", type=int, default=10000)
    parser.add_argument("--to", type=Path, default=Path("thinning.csv"))
    options = parser.parse_args()
    if options.part == "regret":
        compare(options.functions, options.seeds, options.to)
        return
    print(
        "function          results  method                    near  density      far  density   making   1,000 means: s"
    )
    for name in options.functions:
        for line in predictions(name, options.results):
            print(line, flush=True)


if __name__ == "__main__":
    main()
