"""Asynchronous Bayesian optimisation that never lets a worker wait."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from aegisbo.errors import AegisError

OPTIONAL = ["AegisSampler", "from_optuna"]  # need an extra, so a star import leaves them out

if TYPE_CHECKING:
    from aegisbo.integrations import AegisSampler as AegisSampler
    from aegisbo.integrations import from_optuna as from_optuna
    from aegisbo.optimizer import Choice, Int, Optimizer, Real, Result, Trial
    from aegisbo.runners.minimize import minimize
    from aegisbo.study import load
else:
    _HOMES = {
        **dict.fromkeys(["Choice", "Int", "Optimizer", "Real", "Result", "Trial"], "aegisbo.optimizer"),
        **dict.fromkeys(OPTIONAL, "aegisbo.integrations"),
        "load": "aegisbo.study",
        "minimize": "aegisbo.runners.minimize",
    }

    def __getattr__(name: str) -> object:
        """Load what is asked for, and SciPy with it, on first use: `import aegisbo` alone is quick."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


__version__ = "0.1.0"

__all__ = [
    "AegisError",
    "Choice",
    "Int",
    "Optimizer",
    "Real",
    "Result",
    "Trial",
    "__version__",
    "load",
    "minimize",
]


def __dir__() -> list[str]:
    return sorted([*__all__, *OPTIONAL])
