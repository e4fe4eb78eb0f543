"""The notebooks of examples/ run, and what is stored in them is what their cells show: else `make notebooks`.

Numbers, rows of tables and moves differ from run to run, because workers do; kinds and labels do not.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(ROOT.glob("examples/*.ipynb"), key=lambda file: file.stem)
NEEDS = {"tune_model": ["sklearn", "joblib"]}
PATIENCE = 600.0
SMALL = 400_000  # bytes
ELSEWHERE = re.compile(r"/(?:home|root|tmp|work|opt|usr|Users)/|https?://(?!www\.w3\.org/)| object at 0x")


@pytest.fixture(params=NOTEBOOKS, ids=lambda file: file.stem)
def notebook(request: pytest.FixtureRequest) -> Path:
    for package in ("matplotlib", "pandas", *NEEDS.get(request.param.stem, [])):
        pytest.importorskip(package)
    return Path(request.param)


def read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return content


def outputs_of(file: Path) -> list[dict[str, Any]]:
    return [output for cell in read(file)["cells"] for output in cell.get("outputs", [])]


def label_of(output: dict[str, Any]) -> tuple[list[str], set[str]]:
    """The kinds of an output, and how its lines begin; of a table, its columns."""
    data = output.get("data", {"text/plain": output.get("text")})
    table = "".join(data.get("text/html", []))
    if "<table" in table:
        return sorted(data), set(re.findall(r"<th>([^<]*)</th>", table.partition("</thead>")[0]))
    lines = (re.sub(r"-?[\d.]+(?:e[+-]?\d+)?", "", line).split() for line in data["text/plain"])
    return sorted(data), {words[0] for words in lines if words}


def fingerprint(notebook: dict[str, Any]) -> int:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "docs" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return int(module.fingerprint(notebook))


def test_what_is_stored_was_shown_by_these_cells(notebook: Path) -> None:
    content = read(notebook)
    assert content["metadata"]["outputs_of"] == fingerprint(content), "The code has changed: make notebooks"
    content["cells"][1]["source"].append("\nprint(0)")
    assert content["metadata"]["outputs_of"] != fingerprint(content)


def test_what_is_stored_is_small_and_says_nothing_about_the_machine(notebook: Path) -> None:
    assert notebook.stat().st_size < SMALL
    texts = [
        "".join(text)
        for output in outputs_of(notebook)
        for text in output.get("data", {"": output.get("text")}).values()
    ]
    assert not any(ELSEWHERE.search(text) for text in texts)
    assert any("image/png" in output.get("data", {}) for output in outputs_of(notebook))


@pytest.mark.long
def test_a_notebook_runs_and_shows_what_is_stored(notebook: Path, tmp_path: Path) -> None:
    copy = tmp_path / notebook.name
    copy.write_bytes(notebook.read_bytes())
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "notebooks.py"), copy.name], cwd=tmp_path, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert list(map(label_of, outputs_of(copy))) == list(map(label_of, outputs_of(notebook)))
