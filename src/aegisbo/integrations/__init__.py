"""aegisbo inside other tools; each is imported only when its name is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from aegisbo.errors import MissingExtra

__all__ = [
    "AegisGenerator",
    "AegisPruner",
    "AegisSampler",
    "AegisScheduler",
    "AegisSearch",
    "AegisSearchCV",
    "MLflowCallback",
    "TensorBoardCallback",
    "WandbCallback",
    "from_optuna",
]

if TYPE_CHECKING:
    from aegisbo.integrations.gest_generator import AegisGenerator
    from aegisbo.integrations.mlflow_callback import MLflowCallback
    from aegisbo.integrations.optuna_pruner import AegisPruner
    from aegisbo.integrations.optuna_sampler import AegisSampler
    from aegisbo.integrations.optuna_warm_start import from_optuna
    from aegisbo.integrations.sklearn_search import AegisSearchCV
    from aegisbo.integrations.tensorboard_callback import TensorBoardCallback
    from aegisbo.integrations.tune_scheduler import AegisScheduler
    from aegisbo.integrations.tune_search import AegisSearch
    from aegisbo.integrations.wandb_callback import WandbCallback
else:
    _HOME = {
        "AegisGenerator": "gest_generator",
        "AegisPruner": "optuna_pruner",
        "AegisSampler": "optuna_sampler",
        "AegisScheduler": "tune_scheduler",
        "AegisSearch": "tune_search",
        "AegisSearchCV": "sklearn_search",
        "MLflowCallback": "mlflow_callback",
        "TensorBoardCallback": "tensorboard_callback",
        "WandbCallback": "wandb_callback",
        "from_optuna": "optuna_warm_start",
    }
    # Ray can be installed without the dependencies of Tune.
    _TUNE = ("ray", "ray.tune", "pandas", "pyarrow", "fsspec", "requests")
    _LEARN = ("sklearn", "joblib")
    _EXTRAS = {  # by the package that is missing
        "optuna": "optuna",
        "gest_api": "gest",
        **dict.fromkeys(_TUNE, "tune"),
        **dict.fromkeys(_LEARN, "sklearn"),
        **dict.fromkeys(("tensorboard", "tensorboard.compat"), "tensorboard"),
        "mlflow": "mlflow",
        "wandb": "wandb",
    }

    def __getattr__(name: str) -> object:
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            module = import_module(f"{__name__}.{_HOME[name]}")
        except ImportError as error:
            missing = getattr(error.__cause__ or error, "name", None)
            if missing not in _EXTRAS:
                raise
            place = "aegisbo" if name in ("AegisSampler", "from_optuna") else "aegisbo.integrations"
            raise MissingExtra(f"{place}.{name}", _EXTRAS[missing]) from error
        return getattr(module, name)
