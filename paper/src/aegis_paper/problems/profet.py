"""Hyper-parameter tuning without the training: surrogate functions drawn from results on many data sets (Profet).

Each instance imitates one way that a model's error may depend on its settings. The unit cube is the box, as in the
paper; the parameters say what its coordinates stand for (the supplement's table "Parameters tuned in the Profet
benchmark"), in the alphabetical order in which the results were recorded. The shipped instances were trained by
`aegis-paper build-profet`; paper/docs/problems.md tells on what, and how they differ from the public ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import as_file, files
from pathlib import Path

from aegis_paper.problems.profet_network import Network, Output
from aegis_paper.problems.profet_store import read_networks
from aegisbo.errors import UnknownName
from aegisbo.simulation.problem import Family, Parameter

_E10 = math.exp(10)


@dataclass(frozen=True)
class _Kind:
    parameters: tuple[Parameter, ...]
    output: Output


_KINDS = {
    "SVM": _Kind(
        (Parameter("C", 1 / _E10, _E10, log=True), Parameter("gamma", 1 / _E10, _E10, log=True)),
        "sigmoid",
    ),
    "FC-NET": _Kind(
        (
            Parameter("batch_size", 2**3, 2**7, log=True, integer=True),
            Parameter("dropout_1", 0.0, 0.99),
            Parameter("dropout_2", 0.0, 0.99),
            Parameter("learning_rate", 1e-6, 1e-1, log=True),
            Parameter("n_units_1", 2**4, 2**9, log=True, integer=True),
            Parameter("n_units_2", 2**4, 2**9, log=True, integer=True),
        ),
        "sigmoid",
    ),
    "XGBoost": _Kind(
        (
            Parameter("gamma", 0.0, 2.0),
            Parameter("learning_rate", 1e-6, 1e-1, log=True),
            Parameter("max_depth", 1, 15, integer=True),
            Parameter("min_child_weight", 0, 20, integer=True),
            Parameter("n_estimators", 10, 500, integer=True),
            Parameter("reg_alpha", 1e-5, 1e3, log=True),
            Parameter("reg_lambda", 1e-5, 1e3, log=True),
            Parameter("subsample", 0.1, 1.0),
        ),
        "exp",
    ),
}


def family_in(file: Path, name: str) -> Family:
    """The family `name` of a file written by `aegis-paper build-profet`: SVM, FC-NET or XGBoost."""
    if name not in _KINDS:
        raise UnknownName("Profet problem", name, _KINDS)
    return _family(name, partial(_network, file, name))


def _shipped(name: str) -> Family:
    return _family(name, partial(_shipped_network, name))


def _family(name: str, function: Callable[[int], Network]) -> Family:
    parameters = _KINDS[name].parameters
    cube = ((0.0, 1.0),) * len(parameters)
    return Family(name, parameters, cube, function, "Klein et al., 2019; retrained")


def _shipped_network(name: str, number: int) -> Network:
    with as_file(files("aegis_paper.problems") / "data" / "profet.npz") as file:
        return _network(file, name, number)


def _network(file: Path, name: str, number: int) -> Network:
    return _networks(file, name)[number - 1]


@cache
def _networks(file: Path, name: str) -> tuple[Network, ...]:
    return read_networks(file, name, _KINDS[name].output)


SVM, FC_NET, XGBOOST = map(_shipped, _KINDS)
