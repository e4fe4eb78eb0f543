"""Ten kinds of functions, each with a space of its own, and points to ask about: anywhere, and near the best one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, cos, exp, hypot, log2, log10, pi, sin
from typing import Any

import numpy as np
from numpy.random import Generator

from aegisbo import Choice, Int, Real
from aegisbo.simulation.synthetic import SYNTHETIC
from aegisbo.space import Params, Space

NEAR = 0.03  # standard deviation of a step away from the best point, in sides of the cube
SWITCHED = 0.15  # how often such a step changes a choice
LOUD = 0.3  # standard deviation of the noise of the noisy kind

HARTMANN = next(problem for problem in SYNTHETIC if problem.name == "Hartmann3")


@dataclass(frozen=True)
class Kind:
    """A function of named parameters, to be minimized."""

    name: str
    parameters: dict[str, Any]
    function: Callable[[dict[str, Any]], float]
    noise: float = field(default=0.0, kw_only=True)  # standard deviation of what a measurement adds

    @cached_property
    def space(self) -> Space:
        return Space(self.parameters)

    def anywhere(self, count: int, rng: Generator) -> list[Params]:
        """Random points of the space."""
        cube = self.space.cube
        return self.space.params_of_all(cube.round(cube.fill(rng.uniform(size=(count, cube.parameters)))))

    def near(self, best: Params, count: int, rng: Generator) -> list[Params]:
        """Points a small step away from the best one; a choice is changed now and then."""
        return [self._stepped(best, other, rng) for other in self.anywhere(count, rng)]

    def _stepped(self, best: Params, other: Params, rng: Generator) -> Params:
        changes: dict[str, Any] = {}
        for name, value in best.items():
            parameter = self.space.parameters[name]
            if not isinstance(parameter, Choice):
                place = np.array([parameter.encode(value)]) + NEAR * rng.standard_normal()
                changes[name] = parameter.decoded(np.clip(place, 0.0, 1.0))[0].item()
            elif rng.random() < SWITCHED:
                changes[name] = other.get(name, value)
        return self.space.changed(best, changes)


def _reals(d: int, low: float, high: float) -> dict[str, Any]:
    return {f"x{i}": Real(low, high) for i in range(d)}


def _smooth(p: dict[str, Any]) -> float:
    return HARTMANN(np.array([*p.values()]))


def _rough(p: dict[str, Any]) -> float:  # Rastrigin's, shifted
    return sum((x - 0.7) ** 2 - 4.0 * cos(2.0 * pi * (x - 0.7)) + 4.0 for x in p.values())


def _magnitudes(p: dict[str, Any]) -> float:  # from about 1e-4 to 1e6
    x, y, z = p.values()
    return exp(1.5 * abs(x - 1.0)) * ((x - 1.0) ** 2 + (y + 0.5 * x) ** 2 + 0.5 * (z - 0.3) ** 2) ** 2 + 1e-4


def _kinked(p: dict[str, Any]) -> float:
    x, y, z = p.values()
    return abs(x - 1.3) + 2.0 * abs(y + x + 0.4) + max(z, -0.5 * z - 1.0)


def _plateau(p: dict[str, Any]) -> float:  # steps, and nothing but a ceiling far away
    return min(ceil(4.0 * hypot(*(x - 0.6 for x in p.values()))) / 2.0, 5.0)


def _mixed(p: dict[str, Any]) -> float:  # a training
    kind = {"adam": 0.0, "sgd": 0.4, "rms": 0.2}[p["kind"]]
    best = {"adam": -3.0, "sgd": -1.5, "rms": -3.5}[p["kind"]]
    return kind + 0.3 * (log10(p["lr"]) - best) ** 2 + 0.1 * log2(p["units"] / 96) ** 2 + 0.05 * abs(p["layers"] - 3)


def _conditional(p: dict[str, Any]) -> float:
    value = 0.2 * abs(p["layers"] - 2)
    if p["kind"] == "lbfgs":
        return value + 0.5
    rate = (log10(p["lr"]) + 2.0) ** 2
    return value + rate + (0.4 if p["kind"] == "adam" else (p["momentum"] - 0.9) ** 2)


def _irrelevant(p: dict[str, Any]) -> float:  # three of eight matter
    x, y, z, *_ = p.values()
    return sin(3.0 * x) + (y - 0.4) ** 2 * 3.0 + x * z + 0.5 * z**2


def _valley(p: dict[str, Any]) -> float:  # a rotated ellipsoid, 1 : 1000
    x = np.array([*p.values()]) - np.array([0.4, -0.3, 0.8, -1.1])
    along = VALLEY @ x
    return float(np.geomspace(1.0, 1000.0, len(x)) @ along**2)


VALLEY = np.linalg.qr(np.random.default_rng(7).standard_normal((4, 4)))[0]

_TRAINING = {"lr": Real(1e-6, 1.0, log=True), "units": Int(8, 512, log=True), "layers": Int(1, 6)}
_OPTIONAL = {
    "kind": Choice(["adam", "sgd", "lbfgs"]),
    "lr": Real(1e-5, 1.0, log=True, when={"kind": ["adam", "sgd"]}),
    "momentum": Real(0.0, 1.0, when={"kind": "sgd"}),
    "layers": Int(1, 4),
}

KINDS = (
    Kind("smooth", _reals(3, 0.0, 1.0), _smooth),
    Kind("many minima", _reals(2, -2.0, 3.0), _rough),
    Kind("magnitudes", _reals(3, -4.0, 5.0), _magnitudes),
    Kind("kinked", _reals(3, -3.0, 4.0), _kinked),
    Kind("plateaus", _reals(2, -2.0, 2.0), _plateau),
    Kind("mixed", {**_TRAINING, "kind": Choice(["adam", "sgd", "rms"])}, _mixed),
    Kind("conditional", _OPTIONAL, _conditional),
    Kind("irrelevant", _reals(8, -1.0, 2.0), _irrelevant),
    Kind("valley", _reals(4, -3.0, 3.0), _valley),
    Kind("noisy", _reals(3, 0.0, 1.0), _smooth, noise=LOUD),
)
