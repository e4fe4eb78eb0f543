"""Asynchronous Bayesian optimisation that never lets a worker wait."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from aegisbo.errors import AegisError, InvalidInput, SpaceExhausted

if TYPE_CHECKING:
    from aegisbo.optimizer import Choice, Int, Optimizer, Real, Result, Trial
else:

    def __getattr__(name: str) -> object:
        """Load the optimiser, and SciPy with it, on first use: `import aegisbo` alone is quick."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("aegisbo.optimizer"), name)


__version__ = "0.1.0"

__all__ = [
    "AegisError",
    "Choice",
    "Int",
    "InvalidInput",
    "Optimizer",
    "Real",
    "Result",
    "SpaceExhausted",
    "Trial",
    "__version__",
]


def __dir__() -> list[str]:
    return __all__
