"""Asynchronous Bayesian optimization that never lets a worker wait."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from aegisbo.errors import AegisError, SpaceExhausted, Stopped

OPTIONAL = ["AegisSampler", "from_optuna"]  # need an extra, so a star import leaves them out

if TYPE_CHECKING:
    from aegisbo import advice as advice
    from aegisbo import executors as executors
    from aegisbo import integrations as integrations
    from aegisbo import plot as plot
    from aegisbo import space as space
    from aegisbo import strategies as strategies
    from aegisbo import study as study
    from aegisbo.integrations import AegisSampler as AegisSampler
    from aegisbo.integrations import from_optuna as from_optuna
    from aegisbo.optimizer import Trial
    from aegisbo.public.load import load
    from aegisbo.public.minimize import minimize
    from aegisbo.public.optimizer_and_result import Optimizer, Result
    from aegisbo.runners.command import Command
    from aegisbo.runners.reports import report
    from aegisbo.runners.slots import worker
    from aegisbo.space import Choice, Int, Real, Space
    from aegisbo.strategies.base import Strategy
else:
    _HOMES = {
        **dict.fromkeys(["Choice", "Int", "Real", "Space"], "aegisbo.space"),
        **dict.fromkeys(["Optimizer", "Result"], "aegisbo.public.optimizer_and_result"),
        **dict.fromkeys(OPTIONAL, "aegisbo.integrations"),
        "Command": "aegisbo.runners.command",
        "Strategy": "aegisbo.strategies.base",
        "Trial": "aegisbo.optimizer",
        "load": "aegisbo.public.load",
        "minimize": "aegisbo.public.minimize",
        "report": "aegisbo.runners.reports",
        "worker": "aegisbo.runners.slots",
    }

    def __getattr__(name: str) -> object:
        """Load what is asked for, and SciPy with it, on first use: `import aegisbo` alone is quick."""
        if name in ("advice", "executors", "integrations", "plot", "space", "strategies", "study"):
            return import_module(f"aegisbo.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


__version__ = "0.2.0.dev0"

__all__ = [
    "AegisError",
    "Choice",
    "Command",
    "Int",
    "Optimizer",
    "Real",
    "Result",
    "Space",
    "SpaceExhausted",
    "Stopped",
    "Strategy",
    "Trial",
    "__version__",
    "load",
    "minimize",
    "report",
    "worker",
]


def __dir__() -> list[str]:
    return sorted([*__all__, *OPTIONAL])
