"""The Profet pipeline: from tables of results to instances, each a task's place and one draw of the weights.

After Klein, Dai, Hutter, Lawrence and Gonzalez (Meta-surrogate benchmarking for hyperparameter optimization, NeurIPS
2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator

from aegis_paper.problems.profet_bayes_net import Chain, draw_layers
from aegis_paper.problems.profet_data import Sweep, distil, read_public_network, read_sweep
from aegis_paper.problems.profet_embedding import Embedding, embed_tasks
from aegis_paper.problems.profet_network import Network, Output, Scaling, network_of_task
from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput
from aegisbo.simulation.problem import INSTANCES

_PLACE_DIMENSIONS = 2
_REPEATS = 5  # training data for every result, each with another draw of its task's place


@dataclass(frozen=True, eq=False)
class _TrainingSet:
    X: Array  # (n, d + q), standardized
    y: Array  # (n,)
    scaling: Scaling


def build_all(data: Path, chain: Chain, seed: int) -> Iterator[tuple[str, Network]]:
    """The instances of all three problems, each with its problem's name, in the order of the training."""
    for position, (name, build) in enumerate(BUILDERS.items()):
        for network in build(data, chain, np.random.default_rng([seed, position])):
            yield name, network


def build_svm(data: Path, chain: Chain, rng: Generator) -> Iterator[Network]:
    """Instances trained on the support-vector machine's sweep."""
    return build_instances(read_sweep(data / "svm_data.npz"), "sigmoid", chain, rng)


def build_fcnet(data: Path, chain: Chain, rng: Generator) -> Iterator[Network]:
    """Instances trained on pseudo-tasks of the one public FC-NET network, since its sweep is not public."""
    layers, scaling, place = read_public_network(data / "fcnet_net42.npz", "sigmoid")
    return build_instances(distil(layers, scaling, len(place), rng), "sigmoid", chain, rng)


def build_xgboost(data: Path, chain: Chain, rng: Generator) -> Iterator[Network]:
    """Instances trained on XGBoost's sweep."""
    return build_instances(read_sweep(data / "xgboost_data.npz"), "exp", chain, rng)


def build_instances(sweep: Sweep, output: Output, chain: Chain, rng: Generator) -> Iterator[Network]:
    """The instances, one after the other."""
    if output == "exp" and sweep.Y.min() <= 0:
        raise InvalidInput(f"Y holds {sweep.Y.min()}, which has no logarithm: squared errors must be above 0.")
    embedding = embed_tasks(sweep.Y, _PLACE_DIMENSIONS, rng)
    training = _training_set(sweep, embedding, output, rng)
    tasks = _shuffled_rounds(len(sweep.Y), rng)
    layers = draw_layers(training.X, training.y, output, chain, rng)
    for _ in range(INSTANCES):
        yield network_of_task(next(layers), training.scaling, embedding.draw(next(tasks), rng), output)


def _shuffled_rounds(tasks: int, rng: Generator) -> Iterator[int]:
    """Every task once, in random order, then every task once more, without end: a fair share for each."""
    while True:
        yield from map(int, rng.permutation(tasks))


def _training_set(sweep: Sweep, embedding: Embedding, output: Output, rng: Generator) -> _TrainingSet:
    tasks, configurations = sweep.Y.shape
    task, configuration, _ = np.indices((tasks, configurations, _REPEATS)).reshape(3, -1)
    places = embedding.mean[task] + embedding.sd[task] * rng.standard_normal((len(task), embedding.mean.shape[1]))
    X = np.hstack([sweep.X[configuration], places])
    y = sweep.Y[task, configuration]
    x_mean, x_std, y_mean, y_std = X.mean(axis=0), X.std(axis=0), 0.0, 1.0
    if output == "exp":
        y = np.log(y)
        y_mean, y_std = float(y.mean()), float(y.std())
    return _TrainingSet((X - x_mean) / x_std, (y - y_mean) / y_std, Scaling(x_mean, x_std, y_mean, y_std))


BUILDERS = {"SVM": build_svm, "FC-NET": build_fcnet, "XGBoost": build_xgboost}
