"""What the Profet instances are trained on: every task's results for the same configurations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import qmc

from aegis_paper.problems.profet_network import Layers, Network, Output, Scaling, network_of_task
from aegisbo.arrays import Array, as_floats
from aegisbo.errors import InvalidInput

_PSEUDO_TASKS = 27  # as many tasks as the lost FC-NET sweep had
_PSEUDO_CONFIGURATIONS = 600
_FARTHEST = 2.0  # standard deviations from the middle of the known tasks


@dataclass(frozen=True, eq=False)
class Sweep:
    """Results of N configurations on T tasks."""

    X: Array  # (N, d) in the unit cube
    Y: Array  # (T, N)


def read_sweep(file: Path) -> Sweep:
    """A sweep from an .npz file with the arrays X and Y."""
    arrays = read_arrays(file, ["X", "Y"])
    X, Y = (as_floats(arrays[name], f"{name} in {file.name}") for name in "XY")
    if X.ndim != 2 or Y.ndim != 2 or Y.shape[1] != len(X):
        raise InvalidInput(f"X and Y in {file.name} must have shapes (N, d) and (T, N), got {X.shape} and {Y.shape}.")
    if (flat := np.flatnonzero(np.ptp(Y, axis=1) == 0)).size:
        raise InvalidInput(
            f"Row {flat[0]} of Y in {file.name} is the same for all configurations: leave that task out."
        )
    return Sweep(X, Y)


def read_public_network(file: Path, output: Output) -> tuple[Layers, Scaling, Array]:
    """Layers, scaling and task place (q,) of a public posterior draw, from an .npz file named after its tensors."""
    tensors = ["fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias", "fc3_weight", "fc3_bias"]
    log_scale = ["y_mean", "y_std"] if output == "exp" else []
    arrays = read_arrays(file, [*tensors, "x_mean", "x_std", "task_feature", *log_scale])
    W1, b1, W2, b2, w3, b3 = (arrays[name] for name in tensors)
    layers = Layers(W1, b1, W2, b2, w3.ravel(), float(b3.item()))
    scaling = Scaling(arrays["x_mean"], arrays["x_std"], *(float(arrays[name]) for name in log_scale))
    return layers, scaling, arrays["task_feature"]


def distil(layers: Layers, scaling: Scaling, q: int, rng: Generator) -> Sweep:
    """A sweep over pseudo-tasks, which are random places in the latent space of one public network."""
    d = len(scaling.x_mean) - q
    X = qmc.Sobol(d, scramble=False).random_base2(10)[1 : _PSEUDO_CONFIGURATIONS + 1]
    spread = np.clip(rng.standard_normal((_PSEUDO_TASKS, q)), -_FARTHEST, _FARTHEST)
    places = scaling.x_mean[d:] + spread * scaling.x_std[d:]
    tasks: list[Network] = [network_of_task(layers, scaling, place, "sigmoid") for place in places]
    return Sweep(X, np.array([task.values(X) for task in tasks]))


def read_arrays(file: Path, names: list[str]) -> dict[str, NDArray[np.float64]]:
    """The named arrays of an .npz file."""
    if not file.is_file():
        raise InvalidInput(f"{file} is missing: name the folder that holds {file.name}.")
    with np.load(file) as archive:
        if missing := [name for name in names if name not in archive]:
            raise InvalidInput(f"{file} holds no array {', '.join(missing)}: its layout is in paper/docs/problems.md.")
        return {name: archive[name] for name in names}
