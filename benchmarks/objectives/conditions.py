"""Parameters that are there only sometimes: regret on three such problems, against Optuna's samplers.

    python -m benchmarks.objectives.conditions [--seeds 0 1] [--budget 60] [--problems layers] [--methods aegis]

Four workers on a virtual clock, with the same job times for all methods at one seed. `aegis` is told the conditions,
`aegis in Optuna` is `AegisSampler`, which has to tell them from the trials; Optuna's own samplers meet the same
objective. For each problem and method: the median over the seeds of the regret (of `diabetes` the value itself) after
half and after all of the budget, the worst at the end, how often it is better than random search with the same seed,
and the seconds for one suggestion and its evaluation. Needs Optuna, PyTorch for its GP, and scikit-learn.
"""

from __future__ import annotations

import argparse
import heapq
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from statistics import median
from typing import Any

import numpy as np
import optuna

from aegisbo import AegisSampler, Choice, Int, Optimizer, Real
from aegisbo.space.parameters import Parameter

WORKERS = 4
Ask = Callable[[str], Any]  # the value of a parameter, which is there if it is asked for


@dataclass(frozen=True)
class Problem:
    """What is minimized, as a function that asks for parameters as it goes, and the lowest value known."""

    space: dict[str, Parameter]
    value: Callable[[Ask], float]
    minimum: float


def optimizers(ask: Ask) -> float:
    """Three methods of training with parameters of their own, and one that they share."""
    shared = 0.3 * (ask("decay") - 0.2) ** 2
    match ask("optimizer"):
        case "adam":
            return shared + 0.3 * (math.log10(ask("adam_lr")) + 2.5) ** 2 + (ask("beta") - 0.9) ** 2
        case "sgd":
            rate, momentum = math.log10(ask("sgd_lr")), ask("momentum")
            return shared + 0.1 + 0.3 * (rate + 1 + momentum) ** 2 + (momentum - 0.8) ** 2
    return shared + 0.05 + abs(ask("memory") - 14) / 20


def layers(ask: Ask) -> float:
    """A network of one to four layers, each with a width and a dropout of its own."""
    count = ask("layers")
    value = 0.25 * abs(count - 3) + 0.2 * (math.log10(ask("lr")) + 3) ** 2
    for k, best in zip(range(1, count + 1), (0.7, 0.5, 0.4, 0.2), strict=False):
        value += (ask(f"width{k}") - best) ** 2 + 0.5 * (ask(f"dropout{k}") - 0.3) ** 2 / k
    return value


def diabetes(ask: Ask) -> float:
    """What one of three models of scikit-learn leaves unexplained of the progress of a disease, by cross-validation."""
    from sklearn.linear_model import ElasticNet
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.svm import SVR

    model = ask("model")
    if model == "svm":
        kernel = ask("kernel")
        shape = {"gamma": ask("gamma")} if kernel == "rbf" else {"degree": ask("degree"), "coef0": ask("coef0")}
        made: Any = SVR(C=ask("C"), epsilon=ask("epsilon"), kernel=kernel, max_iter=20_000, **shape)
    elif model == "neighbors":
        made = KNeighborsRegressor(n_neighbors=ask("k"), p=ask("p"), weights=ask("weights"))
    else:
        made = ElasticNet(alpha=ask("alpha"), l1_ratio=ask("l1"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return 1.0 - float(cross_val_score(made, *_patients(), cv=5).mean())


@cache
def _patients() -> tuple[Any, Any]:
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return X / X.std(axis=0), (y - y.mean()) / y.std()


PROBLEMS = {
    "optimizers": Problem(
        {
            "decay": Real(0, 1),
            "optimizer": Choice(["adam", "sgd", "lbfgs"]),
            "adam_lr": Real(1e-5, 1, log=True, when={"optimizer": "adam"}),
            "beta": Real(0, 1, when={"optimizer": "adam"}),
            "sgd_lr": Real(1e-5, 1, log=True, when={"optimizer": "sgd"}),
            "momentum": Real(0, 1, when={"optimizer": "sgd"}),
            "memory": Int(2, 40, when={"optimizer": "lbfgs"}),
        },
        optimizers,
        0.0,
    ),
    "layers": Problem(
        {
            "layers": Int(1, 4),
            "lr": Real(1e-5, 1e-1, log=True),
            **{
                f"{what}{k}": Real(0, 1, when={"layers": f">= {k}"} if k > 1 else None)
                for k in range(1, 5)
                for what in ("width", "dropout")
            },
        },
        layers,
        0.0,
    ),
    "diabetes": Problem(
        {
            "model": Choice(["svm", "neighbors", "linear"]),
            "C": Real(1e-3, 1e3, log=True, when={"model": "svm"}),
            "epsilon": Real(1e-3, 1, log=True, when={"model": "svm"}),
            "kernel": Choice(["rbf", "poly"], when={"model": "svm"}),
            "gamma": Real(1e-4, 1e1, log=True, when={"kernel": "rbf"}),
            "degree": Int(2, 5, when={"kernel": "poly"}),
            "coef0": Real(0, 2, when={"kernel": "poly"}),
            "k": Int(1, 50, log=True, when={"model": "neighbors"}),
            "p": Choice([1, 2], when={"model": "neighbors"}),
            "weights": Choice(["uniform", "distance"], when={"model": "neighbors"}),
            "alpha": Real(1e-4, 1e1, log=True, when={"model": "linear"}),
            "l1": Real(0, 1, when={"model": "linear"}),
        },
        diabetes,
        0.0,  # nobody knows the lowest: what is shown is the value itself
    ),
}


@dataclass
class Native:
    """Our optimizer, told of the conditions."""

    problem: Problem
    seed: int
    strategy: str = "aegis"
    optimizer: Optimizer = field(init=False)

    def __post_init__(self) -> None:
        self.optimizer = Optimizer(self.problem.space, seed=self.seed, strategy=self.strategy)

    def begin(self) -> tuple[Any, float]:
        trial = self.optimizer.ask()
        return trial, self.problem.value(trial.params.__getitem__)

    def end(self, trial: Any, value: float) -> None:
        self.optimizer.tell(trial, value)


@dataclass
class ByOptuna:
    """A sampler in a study of Optuna, whose objective asks for what it needs."""

    problem: Problem
    sampler: optuna.samplers.BaseSampler
    study: optuna.Study = field(init=False)

    def __post_init__(self) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(sampler=self.sampler)

    def begin(self) -> tuple[Any, float]:
        trial = self.study.ask()
        return trial, self.problem.value(lambda name: suggested(trial, name, self.problem.space[name]))

    def end(self, trial: Any, value: float) -> None:
        self.study.tell(trial, value)


def suggested(trial: optuna.Trial, name: str, parameter: Parameter) -> Any:
    match parameter:
        case Choice():
            return trial.suggest_categorical(name, parameter.values)
        case Int():
            return trial.suggest_int(name, parameter.low, parameter.high, log=parameter.log)
    return trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log)


def tpe(seed: int) -> optuna.samplers.BaseSampler:
    return optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True, constant_liar=True)


METHODS: dict[str, Callable[[Problem, int], Native | ByOptuna]] = {
    "aegis": Native,
    "aegis in Optuna": lambda problem, seed: ByOptuna(problem, AegisSampler(seed=seed)),
    "random": lambda problem, seed: ByOptuna(problem, optuna.samplers.RandomSampler(seed=seed)),
    "Optuna TPE": lambda problem, seed: ByOptuna(problem, optuna.samplers.TPESampler(seed=seed)),
    "Optuna TPE, group": lambda problem, seed: ByOptuna(problem, tpe(seed)),
    "Optuna GP": lambda problem, seed: ByOptuna(problem, optuna.samplers.GPSampler(seed=seed)),
}


@dataclass(frozen=True)
class Run:
    """How one run went."""

    regrets: list[float]  # after each evaluation that has ended
    seconds: float  # for one suggestion and its evaluation


def perform(problem: Problem, method: str, seed: int, budget: int) -> Run:
    """Evaluate on four workers: a result is told when its job ends, and only then is the next point asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # experimental options of Optuna
        system, rng = METHODS[method](problem, seed), np.random.default_rng(7000 + seed)
        running: list[tuple[float, int, Any, float]] = []
        best, regrets, asked, seconds = math.inf, [], 0, 0.0
        while len(regrets) < budget:
            now = 0.0
            if len(running) == WORKERS or asked == budget:
                now, _, trial, value = heapq.heappop(running)
                system.end(trial, value)
                best = min(best, value)
                regrets.append(best - problem.minimum)
            if asked < budget:
                begin = time.perf_counter()
                trial, value = system.begin()
                seconds += time.perf_counter() - begin
                heapq.heappush(running, (now + abs(rng.normal()), asked, trial, value))
                asked += 1
    return Run(regrets, seconds / budget)


def lines(name: str, methods: list[str], seeds: list[int], budget: int) -> Iterator[str]:
    chance = [perform(PROBLEMS[name], "random", seed, budget).regrets[-1] for seed in seeds]
    for method in methods:
        runs = [perform(PROBLEMS[name], method, seed, budget) for seed in seeds]
        half, end = (median(run.regrets[at] for run in runs) for at in (budget // 2 - 1, -1))
        better = sum(run.regrets[-1] < other for run, other in zip(runs, chance, strict=True))
        seconds = median(run.seconds for run in runs)
        worst = max(run.regrets[-1] for run in runs)
        yield (f"{name:12}{method:18}{half:11.4g}{end:11.4g}{worst:11.4g}{better:11} of {len(seeds)}{seconds:10.3g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    options = parser.parse_args()
    print("problem     method                at half     at end      worst  beats random   seconds")
    for name in options.problems:
        for line in lines(name, options.methods, options.seeds, options.budget):
            print(line, flush=True)


if __name__ == "__main__":
    main()
