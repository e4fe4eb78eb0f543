"""A study for the tests of trackers, and whether a tracker's package is there."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import aegisbo

SPACE = {
    "lr": aegisbo.Real(-5.0, 10.0),
    "act": aegisbo.Choice(["a", "b"]),
    "n": aegisbo.Int(1, 3, when={"act": "a"}),
}


def require(package: str) -> None:
    """Skip the tests of a module without this package."""
    if find_spec(package) is None:
        pytest.skip(
            f"{package} is not installed: pip install -r tests/engines/requirements.txt", allow_module_level=True
        )


def train(lr: float, act: str, n: int = 0) -> tuple[float, dict[str, float]]:
    for epoch in (1, 2):
        aegisbo.report(lr / epoch, step=epoch)
    if lr > 7.0:
        raise ValueError("diverged")
    return (lr - 3.0) ** 2 + (act == "b") + n, {"latency": lr}


def run(folder: Path, budget: int, *callbacks: Any) -> aegisbo.Result:
    """Of `train`, with a study; the second trial fails."""
    options = {"executor": "serial", "raise_errors": False, "strategy": "random", "n_initial": 2, "seed": 1}
    first = [{"lr": 1.0, "act": "a", "n": 2}, {"lr": 8.0, "act": "b"}]
    return aegisbo.minimize(
        train, SPACE, budget=budget, study=folder / "run.db", initial=first, limits=["latency <= 2"],
        callbacks=callbacks, **options,
    )  # fmt: skip
