"""Other tools are imported on use, and named when they are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import aegisbo.integrations
from aegisbo.errors import MissingExtra

WITHOUT_EXTRAS = """
import sys
sys.modules["optuna"] = sys.modules["gest_api"] = sys.modules["ray"] = sys.modules["sklearn"] = None
sys.modules["mlflow"] = sys.modules["wandb"] = sys.modules["tensorboard"] = None
import aegisbo.integrations
from aegisbo.errors import MissingExtra
for name in aegisbo.integrations.__all__:
    try:
        getattr(aegisbo.integrations, name)
    except MissingExtra as error:
        print(error)
"""


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_extras_are_not_imported_before_they_are_used() -> None:
    extras = {"optuna", "gest_api", "ray", "sklearn", "mlflow", "wandb", "tensorboard"}
    code = f"import sys, aegisbo.integrations; print({extras} & set(sys.modules))"
    assert run(code) == "set()\n"


def test_a_missing_extra_is_named_with_the_remedy() -> None:
    assert run(WITHOUT_EXTRAS).splitlines() == [
        "aegisbo.integrations.AegisGenerator needs an optional package: pip install 'aegisbo[gest]'",
        "aegisbo.integrations.AegisPruner needs an optional package: pip install 'aegisbo[optuna]'",
        "aegisbo.AegisSampler needs an optional package: pip install 'aegisbo[optuna]'",
        "aegisbo.integrations.AegisScheduler needs an optional package: pip install 'aegisbo[tune]'",
        "aegisbo.integrations.AegisSearch needs an optional package: pip install 'aegisbo[tune]'",
        "aegisbo.integrations.AegisSearchCV needs an optional package: pip install 'aegisbo[sklearn]'",
        "aegisbo.integrations.MLflowCallback needs an optional package: pip install 'aegisbo[mlflow]'",
        "aegisbo.integrations.TensorBoardCallback needs an optional package: pip install 'aegisbo[tensorboard]'",
        "aegisbo.integrations.WandbCallback needs an optional package: pip install 'aegisbo[wandb]'",
        "aegisbo.from_optuna needs an optional package: pip install 'aegisbo[optuna]'",
    ]
    assert issubclass(MissingExtra, ImportError)


def test_another_missing_module_is_not_blamed_on_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("aegisbo.integrations.optuna_sampler", "aegisbo.integrations.optuna_space"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "optuna.samplers", None)
    with pytest.raises(ModuleNotFoundError, match=r"optuna\.samplers") as caught:
        aegisbo.integrations.AegisSampler  # noqa: B018
    assert not isinstance(caught.value, MissingExtra)


def test_unknown_names_are_unknown() -> None:
    with pytest.raises(AttributeError, match="no attribute 'AegisSampeler'"):
        aegisbo.integrations.AegisSampeler  # noqa: B018
