"""AegisSampler beside Optuna's GPSampler and TPESampler: the same studies, eight trials at a time, in one run.

    python -m benchmarks.regret.optuna_sampler [--trials 100] [--jobs 8] [--seeds 3] [-o optuna_sampler.json]

Needs Optuna, and torch for the GPSampler (without it that one is left out). For each problem and sampler:

- best: the lowest value found, above the known minimum; the median over the seeds, with the worst in parentheses;
- work: processor seconds per suggestion, the mean over the trials that a model chose; waiting does not count;
- wait: wall-clock seconds from the request to the answer, likewise, with all threads in each other's way;
- repeats: trials within a thousandth of the range, in every parameter, of an earlier one; the mean over the seeds.

Every trial takes as long as its number says, whatever the sampler: half-normal times, 0.2 seconds on average.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, GPSampler, TPESampler

from aegisbo.integrations import AegisSampler
from aegisbo.integrations.optuna_space import SearchSpace
from aegisbo.simulation.problems import get

SAMPLERS: dict[str, Callable[[int], BaseSampler]] = {
    "AegisSampler": lambda seed: AegisSampler(seed=seed),
    "GPSampler": lambda seed: GPSampler(seed=seed),
    "TPESampler": lambda seed: TPESampler(seed=seed),
}
STARTED = 20  # from this trial on, all of them use their model
MEAN_SECONDS = 0.2
SAME = 1e-3  # of the range


@dataclass(frozen=True)
class Problem:
    """A function of named parameters with a known minimum."""

    space: dict[str, BaseDistribution]
    function: Callable[[dict[str, Any]], float]
    minimum: float


@dataclass(frozen=True)
class Run:
    """What one sampler did in one study."""

    problem: str
    sampler: str
    seed: int
    gap: float
    work: float
    wait: float
    repeats: int


def hartmann6() -> Problem:
    problem = get("Hartmann6")
    names = [f"x{k}" for k in range(6)]
    space = {name: FloatDistribution(*bounds) for name, bounds in zip(names, problem.bounds, strict=True)}
    return Problem(space, lambda p: float(problem(np.array([p[name] for name in names]))), problem.minimum)


def mixed10() -> Problem:
    """A made-up training: ten parameters of all kinds, of which some only matter together; the minimum is 0."""
    space: dict[str, BaseDistribution] = {
        "lr": FloatDistribution(1e-5, 1e0, log=True),
        "decay": FloatDistribution(1e-7, 1e-1, log=True),
        "momentum": FloatDistribution(0.0, 0.99),
        "dropout": FloatDistribution(0.0, 0.9, step=0.05),
        "warmup": FloatDistribution(0.0, 10.0, step=0.5),
        "batch": IntDistribution(8, 1024, log=True),
        "units": IntDistribution(16, 512, step=16),
        "layers": IntDistribution(1, 8),
        "optimizer": CategoricalDistribution(["sgd", "adam", "rmsprop"]),
        "activation": CategoricalDistribution(["relu", "tanh", "gelu", "sigmoid"]),
    }
    best_lr = {"sgd": -1.0, "adam": -3.0, "rmsprop": -3.5}
    penalty = {"sgd": 0.3, "adam": 0.0, "rmsprop": 0.15, "gelu": 0.0, "relu": 0.1, "tanh": 0.4, "sigmoid": 1.0}

    def loss(p: dict[str, Any]) -> float:
        lr = math.log10(p["lr"]) - best_lr[p["optimizer"]] - 0.5 * math.log2(p["batch"] / 64) / 3
        size = math.log2(p["units"] * p["layers"] / 1024)
        return (
            lr**2
            + 0.1 * (math.log10(p["decay"]) + 4) ** 2
            + (p["momentum"] - 0.9) ** 2
            + 2 * (p["dropout"] - 0.2 - 0.05 * max(0.0, size)) ** 2
            + 0.02 * (p["warmup"] - 3) ** 2
            + 0.05 * math.log2(p["batch"] / 64) ** 2
            + 0.2 * size**2
            + 0.1 * abs(p["layers"] - 4)
            + penalty[p["optimizer"]]
            + penalty[p["activation"]]
        )

    return Problem(space, loss, 0.0)


PROBLEMS: dict[str, Callable[[], Problem]] = {"Hartmann6": hartmann6, "Mixed10": mixed10}


def run(problem_name: str, sampler_name: str, seed: int, trials: int, jobs: int) -> Run:
    problem = PROBLEMS[problem_name]()
    study = optuna.create_study(sampler=SAMPLERS[sampler_name](seed))
    work, wait = {}, {}

    def objective(trial: optuna.Trial) -> float:
        worked, waited = time.thread_time(), time.perf_counter()
        params = {name: suggest(trial, name, kind) for name, kind in problem.space.items()}
        work[trial.number] = time.thread_time() - worked
        wait[trial.number] = time.perf_counter() - waited
        rng = np.random.default_rng([seed, trial.number])
        time.sleep(MEAN_SECONDS * math.sqrt(math.pi / 2) * abs(rng.normal()))
        return problem.function(params)

    study.optimize(objective, n_trials=trials, n_jobs=jobs)
    late = range(min(STARTED, trials // 2), trials)
    return Run(
        problem_name,
        sampler_name,
        seed,
        study.best_value - problem.minimum,
        mean(work[number] for number in late),
        mean(wait[number] for number in late),
        repeats(study, problem),
    )


def suggest(trial: optuna.Trial, name: str, kind: BaseDistribution) -> Any:
    match kind:
        case CategoricalDistribution():
            return trial.suggest_categorical(name, kind.choices)
        case IntDistribution():
            return trial.suggest_int(name, kind.low, kind.high, step=kind.step, log=kind.log)
        case FloatDistribution():
            return trial.suggest_float(name, kind.low, kind.high, step=kind.step, log=kind.log)
    raise TypeError(f"{kind!r} is none of the three")


def repeats(study: optuna.Study, problem: Problem) -> int:
    space = SearchSpace(problem.space)
    X = np.array([space.point(trial.params) for trial in study.trials])
    return sum(bool((np.abs(X[:k] - X[k]).max(axis=1) < SAME).any()) for k in range(1, len(X)))


def rows(runs: list[Run]) -> Iterator[str]:
    yield f"{'problem':10} {'sampler':13} {'best':>19} {'work':>8} {'wait':>8} {'repeats':>8}"
    for key in dict.fromkeys((run.problem, run.sampler) for run in runs):
        mine = [run for run in runs if (run.problem, run.sampler) == key]
        gaps = [run.gap for run in mine]
        work, wait, again = (mean(getattr(run, name) for run in mine) for name in ("work", "wait", "repeats"))
        best = f"{median(gaps):.4f} ({max(gaps):.4f})"
        yield f"{key[0]:10} {key[1]:13} {best:>19} {work:8.3f} {wait:8.3f} {again:8.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, default=Path("optuna_sampler.json"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers = [name for name in SAMPLERS if name != "GPSampler" or importlib.util.find_spec("torch")]
    runs = []
    for seed in range(options.seeds):
        for problem in PROBLEMS:
            for sampler in samplers:
                runs.append(run(problem, sampler, seed, options.trials, options.jobs))
                print(f"seed {seed}: {problem}, {sampler}: {runs[-1].gap:.4f} above the minimum", flush=True)
    options.output.write_text(json.dumps([asdict(run) for run in runs], indent=1))
    print(*rows(runs), sep="\n")


if __name__ == "__main__":
    main()
