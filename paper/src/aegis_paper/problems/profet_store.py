"""Instances on disk: one .npz file for all sets, weights in half precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aegis_paper.problems.profet_network import Network, Output
from aegisbo.errors import InvalidInput

# Rounding the many weights to 11 bits changes a value by about a thousandth; the few offsets can afford more.
_PRECISION = {
    "W1": np.float16,
    "b1": np.float32,
    "W2": np.float16,
    "b2": np.float32,
    "w3": np.float16,
    "b3": np.float32,
}


def write_networks(file: Path, sets: Mapping[str, Iterable[Network]]) -> None:
    """Write every set, under its name."""
    arrays: dict[str, Any] = {}
    for name, networks in sets.items():
        listed = list(networks)
        for part, precision in _PRECISION.items():
            arrays[f"{name}.{part}"] = np.array([getattr(network, part) for network in listed]).astype(precision)
    with file.open("wb") as stream:
        np.savez(stream, **arrays)


def read_networks(file: Path, name: str, output: Output) -> tuple[Network, ...]:
    """One set, as written."""
    with np.load(file) as archive:
        if f"{name}.W1" not in archive:
            raise InvalidInput(f"{file} holds no set {name!r}: build it with `aegis-paper build-profet`.")
        parts = {part: archive[f"{name}.{part}"].astype(np.float64) for part in _PRECISION}
    count = len(parts["b3"])
    return tuple(Network(**{part: array[i] for part, array in parts.items()}, output=output) for i in range(count))
