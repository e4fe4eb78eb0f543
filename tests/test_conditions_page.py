"""docs/conditions.md works as printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from aegisbo.space import Space, read_space

PAGE = Path(__file__).parents[1] / "docs" / "conditions.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    program = "".join(text for kind, text in BLOCKS if kind == "python")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    (text,) = (text for kind, text in BLOCKS if kind == "text")
    for label in re.findall(r"^ *(\w+):", text, re.MULTILINE):
        assert re.search(rf"^ *{label}: ", done.stdout, re.MULTILINE), label
    assert re.search(r"x: \{'optimizer': 'sgd', 'lr': [\d.]+, 'momentum': [\d.]+, 'layers': 2, ", done.stdout)
    assert "'model': 'svm'" in done.stdout


def test_the_space_file_is_the_space_of_the_program(tmp_path: Path) -> None:
    (toml,) = (text for kind, text in BLOCKS if kind == "toml")
    (tmp_path / "space.toml").write_text(toml, "utf-8")
    program = next(text for kind, text in BLOCKS if kind == "python")
    names: dict[str, object] = {}
    exec(program.partition("\n\n\ndef")[0], names)  # the page's own words
    assert read_space(tmp_path / "space.toml") == Space(names["space"])  # type: ignore[arg-type]
