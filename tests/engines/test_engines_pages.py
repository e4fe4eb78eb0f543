"""The pages of docs/engines work as printed: the blocks of each section run in order, in a folder of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

PAGES = sorted(Path(__file__).parents[2].joinpath("docs", "engines").glob("*.md"))
SECTION = re.compile(r"^##? (.*?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
SECTIONS = {(page.stem, name): text for page in PAGES for name, text in SECTION.findall(page.read_text("utf-8"))}
BLOCK = re.compile(r"(?:`(\w+\.py)`:\s+)?^```(python|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PACKAGES = ("loky", "distributed", "ray", "mpi4py", "parsl", "executorlib")
PATIENCE = 240.0


@pytest.mark.parametrize("section", [name for name, text in SECTIONS.items() if BLOCK.search(text)], ids=" ".join)
def test_the_blocks_of_a_section_run(section: tuple[str, str], tmp_path: Path) -> None:
    for name, kind, block in BLOCK.findall(SECTIONS[section]):
        for package in PACKAGES:
            if re.search(rf"^(?:import|from) {package}\b", block, re.MULTILINE) and find_spec(package) is None:
                pytest.skip(f"{package} is not installed: pip install -r tests/engines/requirements.txt")
        if "cluster=" in block and find_spec("submitit") is None:
            pytest.skip("submitit is not installed: pip install -r tests/engines/requirements.txt")
        if "ray import tune" in block and find_spec("pyarrow") is None:
            pytest.skip("Ray is here without its Tune: pip install -r tests/engines/requirements.txt")
        file = tmp_path / (name or "block.py")
        file.write_text(block, "utf-8")
        if not name:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(
                [sys.executable, str(file)] if kind == "python" else ["sh", "-eu", str(file)],
                cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=PATIENCE,
                check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr[-3000:]
            assert 0.0 <= float(done.stdout.split()[-1]) < 200.0


def test_every_page_has_a_block_that_runs() -> None:
    assert {page for (page, _), text in SECTIONS.items() if BLOCK.search(text)} == {page.stem for page in PAGES}


def test_tune_is_here_where_ray_must_be() -> None:
    if "ray" in os.environ.get("AEGISBO_ENGINES", "").split():
        import_module("ray.tune")
