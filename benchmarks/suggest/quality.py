"""How good one suggestion is: likelihoods, minima and Pareto fronts beside those of others on the same functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import fmean, median

import numpy as np
import torch
from numpy.random import Generator
from scipy.optimize import minimize
from torch import Tensor

from aegisbo.arrays import Array
from aegisbo.gp.isotropic_model import IsotropicLikelihood
from aegisbo.gp.paths import SamplePaths
from aegisbo.gp.posterior import GP
from aegisbo.search.blocks import by_blocks
from aegisbo.simulation import problems
from aegisbo.strategies.presets import paper_model
from benchmarks.suggest import botorch as theirs
from benchmarks.suggest import ours
from benchmarks.suggest.data import COMPARED, Data, finished, mid_run
from benchmarks.suggest.lines import Line

FITS = 200
SEEDS = 10


def compare(quick: bool) -> Iterator[tuple[str, list[Line]]]:
    """Title and lines of each comparison, as they are done."""
    sizes = ((2, 50), (10, 200)) if quick else COMPARED
    models = [(data, ours.fit(data, np.random.default_rng(0)).gp) for size in sizes for data in mid_run(*size)]
    yield "Log likelihood of the fit, against the best of ten full climbs", _likelihoods(FITS // 10 if quick else FITS)
    yield "Minimum of the mean, ours - BoTorch's, in standard deviations of the outputs", _minima_of_means(models)
    yield "Minimum of a path, ours - BoTorch's, in standard deviations of the outputs", _minima_of_paths(models)
    yield "Area dominated by the Pareto front, ours / pymoo's", _fronts(models)


def _likelihoods(count: int) -> list[Line]:
    gains, disagreements = [], []
    for i, data in enumerate(_fitted_data(count)):
        rng = np.random.default_rng([1, i])
        found = ours.fit(data, rng)
        gains.append((found.log_likelihood - _best_of_ten(data, rng)) / data.n)
        kernel = found.gp.kernel
        witness = theirs.log_likelihood(data, float(kernel.lengthscale[0]), kernel.outputscale)
        disagreements.append(abs(found.log_likelihood - witness) / data.n)
    return [
        Line("cases", count),
        Line("share not worse by more than 1e-6 a datum", _share(g >= -1e-6 for g in gains), ">= 0.99"),
        Line("share better by more than 1e-6 a datum", _share(g > 1e-6 for g in gains)),
        Line("largest loss a datum", max(-min(gains), 0.0)),
        Line("largest difference from GPyTorch's value a datum", max(disagreements), "rounding"),
    ]


def _fitted_data(count: int) -> Iterator[Data]:
    """All functions in turn, from 2 d to 150 points, every other round with half of the points concentrated."""
    names = problems.names()
    for i in range(count):
        rng = np.random.default_rng([0, i])
        name = names[i % len(names)]
        n = round(float(np.exp(rng.uniform(np.log(2 * problems.get(name).d), np.log(150)))))
        yield finished(name, n, 0.5 * (i // len(names) % 2), rng)


def _best_of_ten(data: Data, rng: Generator) -> float:
    model = paper_model(data.d)
    likelihood = IsotropicLikelihood(data.X, data.y, model)
    bounds = model.bounds

    def descent(phi: Array) -> tuple[float, Array]:
        value, gradient = likelihood.value_and_gradient(phi)
        return -value, -gradient

    starts = np.log(rng.uniform(*np.exp(bounds.T), size=(10, 2)))
    return max(-float(minimize(descent, phi, jac=True, method="L-BFGS-B", bounds=bounds).fun) for phi in starts)


def _minima_of_means(models: list[tuple[Data, GP]]) -> list[Line]:
    differences = {}
    for data, gp in models:
        same = theirs.unfitted(data)
        theirs.set_hyperparameters(same, float(gp.kernel.lengthscale[0]), gp.kernel.outputscale)
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            x = [ours.exploit(gp, np.random.default_rng(seed)), theirs.exploit(same)]
            mine, other = gp.mean(np.stack(x))
            differences[data.d, data.n, data.function, seed] = float(mine - other)
    return _summary(differences)


def _minima_of_paths(models: list[tuple[Data, GP]]) -> list[Line]:
    differences = {}
    for data, gp in models:
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            path = ours.path(gp, np.random.default_rng(seed))
            x = [ours.thompson(gp, np.random.default_rng(seed)), theirs.minimum_of_path(_TorchPath(path), data.d)]
            mine, other = path(np.stack(x))[0]
            differences[data.d, data.n, data.function, seed] = float(mine - other)
    return _summary(differences)


class _TorchPath:
    """A path of ours as a function that torch can differentiate."""

    def __init__(self, path: SamplePaths) -> None:
        self.frequencies, self.phases = torch.from_numpy(path.frequencies), torch.from_numpy(path.phases[0])
        self.amplitudes, self.update = torch.from_numpy(path.amplitudes[0]), torch.from_numpy(path.update[0])
        self.X = torch.from_numpy(path.gp.X)
        self.kernel = path.gp.kernel

    def __call__(self, Z: Tensor) -> Tensor:  # (m, d) -> (m,)
        c = 5**0.5 * torch.cdist(Z, self.X) / float(self.kernel.lengthscale[0])  # (m, n)
        k = self.kernel.outputscale * (1 + c + c**2 / 3) * torch.exp(-c)
        return torch.cos(Z @ self.frequencies.T + self.phases) @ self.amplitudes + k @ self.update


def _summary(differences: dict[tuple[int, int, str, int], float]) -> list[Line]:
    """Which of several valleys a search ends in is luck, so only the mean over many can be compared with a target."""
    values = np.array(list(differences.values()))
    error = values.std(ddof=1) / np.sqrt(len(values))
    lines = [
        Line("cases", len(values)),
        Line("mean", values.mean(), f"<= {max(2 * error, 1e-6):.1g}: nothing, or two standard errors"),
        Line("share where ours is lower by more than 1e-6", _share(values < -1e-6)),
        Line("share where theirs is lower by more than 1e-6", _share(values > 1e-6)),
    ]
    for d, n in dict.fromkeys(key[:2] for key in differences):
        cell = [value for key, value in differences.items() if key[:2] == (d, n)]
        lines.append(Line(f"mean at d = {d}, n = {n}", fmean(cell)))
    return lines


def _fronts(models: list[tuple[Data, GP]]) -> list[Line]:
    lines = []
    for data, gp in models:

        def objectives(Z: Array, gp: GP = gp) -> Array:
            return by_blocks(lambda block: ours.mean_and_spread(gp, block), Z)

        mine = [objectives(ours.pareto(gp, np.random.default_rng(seed))) for seed in range(SEEDS)]
        other = [theirs.front(objectives, data.d, seed) for seed in range(SEEDS)]
        seen = np.vstack(mine + other)
        reference = seen.max(axis=0) + 0.1 * np.ptp(seen, axis=0)
        ratio = fmean(_hypervolume(F, reference) for F in mine) / fmean(_hypervolume(F, reference) for F in other)
        lines.append(Line(f"{data.function}, n = {data.n}", ratio))
    ratios = [line.measured for line in lines]
    return [Line("mean of all", fmean(ratios), ">= 0.99"), Line("median of all", median(ratios)), *lines]


def _hypervolume(F: Array, reference: Array) -> float:
    """The area between the rows of F (m, 2) and a reference point (2,) that all of them dominate."""
    rows = F[np.argsort(F[:, 0])]
    # From left to right every row that lowers the staircase adds the slab between its step and the one before.
    steps = np.minimum.accumulate(np.append(reference[1], rows[:, 1]))
    return float((reference[0] - rows[:, 0]) @ -np.diff(steps))


def _share(hits: Iterable[bool]) -> float:
    return fmean(map(float, hits))
