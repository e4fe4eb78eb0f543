"""The folder for OptunaHub's registry: complete, and loadable as OptunaHub loads it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import optuna
import pytest

from aegisbo.integrations import AegisSampler

REGISTRY = Path(__file__).parents[2] / "optunahub" / "package"
FOLDER = REGISTRY / "samplers" / "aegis"


def load(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """By OptunaHub if it is installed, else by the same steps."""
    try:
        from optunahub import load_local_module
    except ImportError:  # a folder of that name does not count
        return load_as_optunahub(monkeypatch)
    return load_local_module("samplers/aegis", registry_root=str(REGISTRY))


def load_as_optunahub(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("optunahub_registry.package.samplers.aegis", FOLDER / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_the_loaded_package_is_a_sampler(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load(monkeypatch)
    assert module.__all__ == ["AegisSampler"]
    assert module.AegisSampler is AegisSampler
    study = optuna.create_study(sampler=module.AegisSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", -5, 10) ** 2, n_trials=4)
    assert len(study.trials) == 4


def test_the_folder_holds_what_the_registry_asks_for() -> None:
    assert {"README.md", "LICENSE", "__init__.py", "example.py", "requirements.txt"} <= {
        file.name for file in FOLDER.iterdir()
    }
    front = FOLDER.joinpath("README.md").read_text("utf-8").split("---\n")[1]
    keys = re.findall(r"^(\w+): \S", front, re.MULTILINE)
    assert keys == ["author", "title", "description", "tags", "optuna_versions", "license"]
    assert re.search(r"^tags: \[sampler,", front, re.MULTILINE)
