"""The notebooks of examples/ run, cell by cell, and what stands at the end of a cell can be shown.

Without Jupyter: a notebook is a list of cells in JSON, and these use nothing of IPython's.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(file.stem for file in FOLDER.glob("*.ipynb"))
NEEDS = {"tune_model": ["sklearn", "joblib"]}
PATIENCE = 600.0

KERNEL = """
import ast, json, sys
names = {"__name__": "__main__"}
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        body = ast.parse("".join(cell["source"])).body
        end = ast.Expression(body.pop().value) if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        if end is not None:
            value = eval(compile(end, "cell", "eval"), names)
            forms = [form for form in ("_repr_png_", "_repr_html_", "__repr__") if hasattr(value, form)]
            print(forms[0], len(getattr(value, forms[0])()))
"""


def cells_of(name: str) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(FOLDER.joinpath(f"{name}.ipynb").read_text("utf-8"))["cells"]
    return cells


@pytest.mark.long
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name: str, tmp_path: Path) -> None:
    for package in ("matplotlib", "pandas", *NEEDS.get(name, [])):
        pytest.importorskip(package)
    done = subprocess.run(
        [sys.executable, "-c", KERNEL, str(FOLDER / f"{name}.ipynb")], cwd=tmp_path, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "_repr_png_ " in done.stdout  # a figure was drawn


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_stored_without_what_it_printed(name: str) -> None:
    first, *others = cells_of(name)
    assert "".join(first["source"]).startswith("# ")
    assert all(cell["cell_type"] == "markdown" or not cell["outputs"] for cell in others)
