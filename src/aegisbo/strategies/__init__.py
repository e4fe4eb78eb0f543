"""Strategies: each chooses one point of the unit cube from what is known and what is running.

The classes below make a strategy; `Evidence`, `Suggestion` and `Strategy` are what a strategy of your own needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aegisbo.strategies.aegis import Aegis as Aegis
    from aegisbo.strategies.base import Evidence as Evidence
    from aegisbo.strategies.base import Strategy as Strategy
    from aegisbo.strategies.base import Suggestion as Suggestion
    from aegisbo.strategies.baselines import Random as Random
    from aegisbo.strategies.believer import KrigingBeliever as KrigingBeliever
    from aegisbo.strategies.expected_improvement import ExpectedImprovement as ExpectedImprovement
    from aegisbo.strategies.local_quadratic import LocalQuadratic as LocalQuadratic
    from aegisbo.strategies.penalization import LocalPenalization as LocalPenalization
    from aegisbo.strategies.penalization import Playbook as Playbook
    from aegisbo.strategies.presets import Preset as Preset
    from aegisbo.strategies.thompson import Thompson as Thompson
else:
    _HOMES = {
        "Aegis": "aegis",
        "Evidence": "base",
        "ExpectedImprovement": "expected_improvement",
        "KrigingBeliever": "believer",
        "LocalPenalization": "penalization",
        "LocalQuadratic": "local_quadratic",
        "Playbook": "penalization",
        "Preset": "presets",
        "Random": "baselines",
        "Strategy": "base",
        "Suggestion": "base",
        "Thompson": "thompson",
    }

    def __getattr__(name: str) -> object:
        """Load what is asked for, and SciPy with it, on first use."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"aegisbo.strategies.{_HOMES[name]}"), name)

    __all__ = list(_HOMES)

    def __dir__() -> list[str]:
        return __all__
