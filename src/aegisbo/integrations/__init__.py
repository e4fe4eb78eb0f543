"""aegisbo inside other tools; each is imported only when its name is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from aegisbo.errors import MissingExtra

__all__ = ["AegisGenerator", "AegisSampler", "from_optuna"]

if TYPE_CHECKING:
    from aegisbo.integrations.gest_generator import AegisGenerator
    from aegisbo.integrations.optuna_sampler import AegisSampler
    from aegisbo.integrations.optuna_warm_start import from_optuna
else:
    _HOME = {
        "AegisGenerator": "gest_generator",
        "AegisSampler": "optuna_sampler",
        "from_optuna": "optuna_warm_start",
    }
    _EXTRAS = {"optuna": "optuna", "gest_api": "gest"}  # by the package that is missing

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            module = import_module(f"{__name__}.{_HOME[name]}")
        except ModuleNotFoundError as error:
            if error.name not in _EXTRAS:
                raise
            place = "aegisbo.integrations" if name == "AegisGenerator" else "aegisbo"
            raise MissingExtra(f"{place}.{name}", _EXTRAS[error.name]) from error
        return getattr(module, name)
