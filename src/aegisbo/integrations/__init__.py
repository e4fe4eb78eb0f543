"""aegisbo inside other tools; each is imported only when its name is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from aegisbo.errors import MissingExtra

__all__ = ["AegisSampler", "from_optuna"]

if TYPE_CHECKING:
    from aegisbo.integrations.optuna_sampler import AegisSampler
    from aegisbo.integrations.optuna_warm_start import from_optuna
else:
    _HOME = {"AegisSampler": "optuna_sampler", "from_optuna": "optuna_warm_start"}

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            module = import_module(f"{__name__}.{_HOME[name]}")
        except ModuleNotFoundError as error:
            if error.name != "optuna":
                raise
            raise MissingExtra(f"aegisbo.{name}", "optuna") from error
        return getattr(module, name)
