"""Imports point down, files form no circle, packages enter where the table says: this file is the architecture."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Container, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

NUMERIC = {"numpy", "scipy"}
CORE = NUMERIC | {"threadpoolctl", "rich", "cloudpickle"}

# One line a floor, the highest first: the parts on it, each with the third-party packages it may import. A part may
# import itself and every lower floor; parts on one floor do not know each other.
FLOORS: tuple[dict[str, set[str]], ...] = (
    {"cli": CORE | {"typer"}},
    {"__init__": set()},  # the front door: re-exports only
    {
        "integrations": {
            *("numpy", "optuna", "gest_api", "ray", "sklearn", "joblib", "mcp", "mlflow", "wandb", "tensorboard"),
        }
    },
    {"public": {"pandas"}},
    {"plot": {"numpy", "matplotlib"}},
    {"advice": NUMERIC},
    {"simulation": NUMERIC, "review": {"numpy"}},
    {"runners": CORE | {"dask", "distributed", "submitit", "ray"}},
    {"study": CORE | {"psycopg"}},
    {"optimizer": NUMERIC | {"threadpoolctl", "pandas"}},
    {"strategies": NUMERIC | {"threadpoolctl"}, "stopping": NUMERIC},
    {"gp": NUMERIC},
    {"search": NUMERIC},
    {"space": {"numpy"}},
    {"events": set()},
    {"outcome": set(), "plugins": set(), "executors": set(), "keywords": set(), "options": set()},
    {"arrays": {"numpy"}, "address": set(), "stop_when": set()},
    {"errors": set(), "number": set(), "printable": set()},
)

IMPORTED_AS = {
    "scikit-learn": "sklearn",
    "mlflow-skinny": "mlflow",
}  # where a package is called otherwise than what it installs

HEIGHT = {part: -depth for depth, floor in enumerate(FLOORS) for part in floor}
THIRD_PARTY = {part: packages for floor in FLOORS for part, packages in floor.items()}


def imported_modules(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of every import, wherever it stands; `from a import b` counts as `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, node.module) if node.module else above)
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from ((node.lineno, arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant))


def objection(part: str, module: str) -> str | None:
    """Why `part` must not import `module`, or None if it may."""
    top, _, rest = module.partition(".")
    if top != "aegisbo":
        allowed = top in sys.stdlib_module_names or top in THIRD_PARTY[part]
        return None if allowed else f"{part} may not import {top}"
    name = rest.partition(".")[0]
    target = name if name in HEIGHT else "__init__"
    if target == part:
        return None
    if HEIGHT[target] >= HEIGHT[part]:
        return f"{part} may not import {target}, which is not below it"
    return None


def violations(package: Path) -> list[str]:
    """Every import below `package` that breaks the table, and every file that the table does not know."""
    found = []
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package)
        part = path.with_suffix("").parts[0]
        if part not in HEIGHT:
            found.append(f"{path}: no floor lists {part!r}")
            continue
        for line, module in imported_modules(ast.parse(file.read_text("utf-8")), ("aegisbo", *path.parts[:-1])):
            if reason := objection(part, module):
                found.append(f"{path}:{line}: {reason}")
    return found


def circles(package: Path) -> set[frozenset[str]]:
    """The files below `package` that import each other, over any number of others, wherever the imports stand."""
    files = {_dotted(file.relative_to(package.parent)): file for file in package.rglob("*.py")}
    imported: dict[str, set[str]] = {}
    for name, file in files.items():
        modules = imported_modules(ast.parse(file.read_text("utf-8")), file.relative_to(package.parent).parts[:-1])
        imported[name] = {_file_of(module, files) for _, module in modules} - {name, ""}
    reached = {name: _reached(name, imported) for name in files}
    return {frozenset(b for b in reached[a] if a in reached[b]) for a in files if a in reached[a]}


def _dotted(path: Path) -> str:
    return ".".join(part for part in path.with_suffix("").parts if part != "__init__")


def _file_of(module: str, files: Container[str]) -> str:
    """The file that holds what is imported; empty if it is none of them."""
    return module if not module or module in files else _file_of(module.rpartition(".")[0], files)


def _reached(start: str, imported: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [start]
    while ahead:
        news = imported[ahead.pop()] - found
        found |= news
        ahead += news
    return found


def test_every_import_points_down() -> None:
    assert violations(ROOT / "src" / "aegisbo") == []


def test_no_files_form_a_circle() -> None:
    assert circles(ROOT / "src" / "aegisbo") == set()


@pytest.mark.parametrize(
    "back",
    [
        "from aegisbo.gp.first import one",
        "from . import first",
        "def later():\n    import aegisbo.gp.first",
        "if TYPE_CHECKING:\n    from .first import one",
    ],
)
def test_a_circle_is_found(tmp_path: Path, back: str) -> None:
    package = tmp_path / "aegisbo"
    write(package / "gp" / "first.py", "from aegisbo.search.second import two")
    write(package / "search" / "second.py", "from aegisbo.gp.third import three")
    write(package / "gp" / "third.py", back)
    assert circles(package) == {frozenset({"aegisbo.gp.first", "aegisbo.search.second", "aegisbo.gp.third"})}


def test_the_checker_reads_the_real_package() -> None:
    """Guards the test above against looking into an empty folder."""
    files = {file.name for file in (ROOT / "src" / "aegisbo").rglob("*.py")}
    assert {"__init__.py", "arrays.py", "errors.py", "base.py"} <= files


def test_third_party_packages_are_declared_in_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    requirements = [*project["dependencies"]]
    for extra, packages in project["optional-dependencies"].items():
        requirements += packages if extra != "dev" else []
    declared = {re.match(r"[\w-]+", requirement)[0].lower() for requirement in requirements}
    declared = {IMPORTED_AS.get(name, name) for name in declared}
    assert {package.lower() for packages in THIRD_PARTY.values() for package in packages} == declared


@pytest.mark.parametrize(
    ("path", "source", "reason"),
    [
        ("gp/posterior.py", "import aegisbo.strategies.base", "gp may not import strategies"),
        ("gp/posterior.py", "from aegisbo.optimizer import Trial", "gp may not import optimizer"),
        ("gp/posterior.py", "from aegisbo import optimizer", "gp may not import optimizer"),
        ("gp/posterior.py", "from aegisbo import Optimizer", "gp may not import __init__"),
        ("gp/posterior.py", "import aegisbo", "gp may not import __init__"),
        ("gp/posterior.py", "import threadpoolctl", "gp may not import threadpoolctl"),
        ("gp/posterior.py", "import numpy as np, pandas", "gp may not import pandas"),
        (
            "gp/posterior.py",
            "def f():\n    from ..strategies import base",
            "posterior.py:2: gp may not import strategies",
        ),
        ("gp/__init__.py", "from .. import study", "gp may not import study"),
        ("gp/posterior.py", "if TYPE_CHECKING:\n    import aegisbo.study", "gp may not import study"),
        ("gp/posterior.py", "importlib.import_module('aegisbo.cli')", "gp may not import cli"),
        ("arrays.py", "import scipy", "arrays may not import scipy"),
        ("errors.py", "from aegisbo.arrays import Array", "errors may not import arrays"),
        ("review/record.py", "from aegisbo.simulation import clock", "review may not import simulation"),
        ("optimizer/found.py", "def plot():\n    from aegisbo import plot", "optimizer may not import plot"),
        ("search/box.py", "from aegisbo.gp.posterior import GP", "search may not import gp"),
        ("space/cube.py", "from aegisbo.search import designs", "space may not import search"),
        ("simulation/runs.py", "import aegis_paper", "simulation may not import aegis_paper"),
        ("simulation/clock.py", "import matplotlib", "simulation may not import matplotlib"),
        ("optimizer/space.py", "import rich", "optimizer may not import rich"),
        ("study/store.py", "from aegisbo.runners import loop", "study may not import runners"),
        ("runners/loop.py", "from aegisbo.simulation.problems import get", "runners may not import simulation"),
        ("helpers/text.py", "", "no floor lists 'helpers'"),
        ("utils.py", "", "no floor lists 'utils'"),
    ],
)
def test_the_checker_goes_red(tmp_path: Path, path: str, source: str, reason: str) -> None:
    write(tmp_path / path, source)
    (message,) = violations(tmp_path)
    assert message.startswith(path)
    assert reason in message


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("__init__.py", "from aegisbo.optimizer import Core\nfrom aegisbo.errors import AegisError"),
        ("gp/posterior.py", "import math, numpy.linalg\nfrom scipy import linalg\nfrom aegisbo.search import descent"),
        ("gp/posterior.py", "from . import kernels\nfrom .kernels import Matern52\nfrom ..arrays import Array"),
        ("strategies/aegis.py", "from aegisbo.gp.posterior import GP\nfrom aegisbo import errors"),
        ("simulation/runs.py", "from aegisbo.runners.loop import run\nfrom aegisbo.simulation.clock import Law"),
        ("cli/simulate.py", "import typer\nfrom aegisbo import __version__\nfrom aegisbo.simulation import problems"),
    ],
)
def test_the_checker_stays_green(tmp_path: Path, path: str, source: str) -> None:
    write(tmp_path / path, source)
    assert violations(tmp_path) == []


def write(file: Path, source: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source, "utf-8")
