"""The front door: which names it has, and that opening it does nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import aegisbo

PUBLIC = [
    "AegisError",
    "AegisSampler",
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
    "from_optuna",
    "load",
    "minimize",
    "report",
    "worker",
]

NOT_AT_IMPORT = [
    *("optuna", "dask", "distributed"),  # extras
    *("torch", "sklearn", "pandas", "matplotlib", "statsmodels", "aegis_paper"),  # never
    *("rich", "typer", "cloudpickle"),  # only when something runs
]

# Runs each statement in one fresh interpreter and writes down which part of the world it changed. NumPy and SciPy,
# which set warning filters of their own, are loaded before the first look.
WATCHER = """
import json, locale, logging, os, random, signal, sys, threading, warnings
import numpy as np, scipy.linalg, scipy.optimize, scipy.spatial, scipy.special, scipy.stats

def world():
    root = logging.getLogger()
    return {
        "environment": dict(os.environ),
        "working directory": os.getcwd(),
        "locale": locale.setlocale(locale.LC_ALL),
        "warning filters": repr(warnings.filters),
        "NumPy error state": np.geterr(),
        "NumPy print options": repr(np.get_printoptions()),
        "NumPy random state": repr([part if np.isscalar(part) else part.tolist() for part in np.random.get_state()]),
        "random state": repr(random.getstate()),
        "root logger": repr((root.level, root.handlers)),
        "hooks": repr((sys.excepthook, sys.displayhook, threading.excepthook)),
        "signal handlers": repr([(number, signal.getsignal(number)) for number in signal.valid_signals()]),
        "threads": repr(threading.enumerate()),
    }

def changed_by(statement):
    before = world()
    exec(statement, globals())
    after = world()
    return [name for name in before if before[name] != after[name]]

statements, suspects = json.loads(sys.argv[1])
changes = [changed_by(statement) for statement in statements]
loaded = [name for name in suspects if name in sys.modules]
open(sys.argv[2], "w").write(json.dumps([changes, loaded]))
"""


def watch(statements: list[str], folder: Path) -> tuple[list[list[str]], list[str], str]:
    """What each statement changed, which of NOT_AT_IMPORT got loaded, and what was printed."""
    report = folder / "report.json"
    arguments = [json.dumps([statements, NOT_AT_IMPORT]), str(report)]
    child = subprocess.run([sys.executable, "-c", WATCHER, *arguments], capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    changes, loaded = json.loads(report.read_text())
    return changes, loaded, child.stdout + child.stderr


def test_the_public_names_are_these() -> None:
    assert [name for name in PUBLIC if name not in aegisbo.OPTIONAL] == sorted(aegisbo.__all__)
    assert len([name for name in PUBLIC if name != "__version__"]) <= 18


def test_looking_around_shows_these_names_and_no_others() -> None:
    assert dir(aegisbo) == PUBLIC
    with pytest.raises(AttributeError, match="module 'aegisbo' has no attribute 'Optimiser'"):
        aegisbo.Optimiser  # noqa: B018


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "__version__"])
def test_every_public_name_explains_itself(name: str) -> None:
    assert getattr(aegisbo, name).__doc__


@pytest.mark.long
def test_the_rooms_that_the_readme_names_open_by_themselves() -> None:
    names = ("study.retry", "study.forget", "strategies.Aegis", "plot.slices", "executors.Slurm", "advice.advise")
    names += ("space.read_space", "integrations.AegisSearchCV")
    code = "import aegisbo; " + "; ".join(f"aegisbo.{name}" for name in names)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_version_is_a_release_number() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|a\d+|b\d+|rc\d+)?", aegisbo.__version__)


def test_importing_changes_nothing_loads_nothing_heavy_and_prints_nothing(tmp_path: Path) -> None:
    assert watch(["import aegisbo", "from aegisbo import *"], tmp_path) == ([[], []], [], "")


def test_the_watcher_sees_what_it_watches(tmp_path: Path) -> None:
    sabotage = {
        "os.environ['OMP_NUM_THREADS'] = '17'": "environment",
        "os.chdir('/')": "working directory",
        "warnings.simplefilter('ignore')": "warning filters",
        "np.seterr(all='raise')": "NumPy error state",
        "np.set_printoptions(precision=3)": "NumPy print options",
        "np.random.seed(1)": "NumPy random state",
        "random.seed(1)": "random state",
        "logging.basicConfig()": "root logger",
        "sys.excepthook = print": "hooks",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)": "signal handlers",
        "threading.Thread(target=threading.Event().wait, daemon=True).start()": "threads",
    }
    changes, loaded, printed = watch([*sabotage, "import typer; print('hello')"], tmp_path)
    assert changes == [*([name] for name in sabotage.values()), []]
    assert {"typer"} <= set(loaded)
    assert printed == "hello\n"
