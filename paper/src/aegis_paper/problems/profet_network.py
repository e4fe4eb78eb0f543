"""The function behind a Profet instance: a small network from the unit cube to an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from aegisbo.arrays import Array, Floats
from aegisbo.errors import InvalidInput

Output = Literal["sigmoid", "exp"]  # a share of mistakes in [0, 1], or an error of any size above 0


@dataclass(frozen=True, eq=False)
class Network:
    """Two hidden layers of tanh units: x -> output(w3 tanh(W2 tanh(W1 x + b1) + b2) + b3)."""

    W1: Array  # (h, d)
    b1: Array  # (h,)
    W2: Array  # (h, h)
    b2: Array  # (h,)
    w3: Array  # (h,)
    b3: float
    output: Output

    def __post_init__(self) -> None:
        if self.output not in get_args(Output):
            raise InvalidInput(f"output is {self.output!r}: choose one of {', '.join(get_args(Output))}.")

    def __call__(self, x: Array) -> float:  # (d,)
        """The value at one point."""
        return float(self.values(x))

    def values(self, X: Array) -> Array:  # (..., d) -> (...)
        """The values at many points."""
        from scipy.special import expit  # here, because whoever only lists the problems need not load it

        hidden = np.tanh(X @ self.W1.T + self.b1)
        hidden = np.tanh(hidden @ self.W2.T + self.b2)
        last = hidden @ self.w3 + self.b3
        return np.asarray(expit(last) if self.output == "sigmoid" else np.exp(last))


@dataclass(frozen=True, eq=False)
class Scaling:
    """How a network was trained: inputs (x, h) standardized by column, and for `exp` the logarithm of the error."""

    x_mean: Array  # (d + q,)
    x_std: Array  # (d + q,)
    y_mean: float = 0.0
    y_std: float = 1.0


@dataclass(frozen=True, eq=False)
class Layers:
    """The weights as trained, on standardized configuration and task place."""

    W1: Floats  # (h, d + q)
    b1: Floats  # (h,)
    W2: Floats  # (h, h)
    b2: Floats  # (h,)
    w3: Floats  # (h,)
    b3: float


def network_of_task(layers: Layers, scaling: Scaling, place: Array, output: Output) -> Network:
    """The network for one task: its place and all standardization become part of the weights."""
    d = len(scaling.x_mean) - len(place)
    W1 = layers.W1.astype(np.float64) / scaling.x_std
    b1 = layers.b1 - W1 @ scaling.x_mean + W1[:, d:] @ place
    return Network(
        W1=W1[:, :d],
        b1=b1,
        W2=layers.W2.astype(np.float64),
        b2=layers.b2.astype(np.float64),
        w3=layers.w3.astype(np.float64) * scaling.y_std,
        b3=float(layers.b3) * scaling.y_std + scaling.y_mean,
        output=output,
    )
