"""The Python on the pages of the paper's project works as printed, in the checkout."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_page import printed_by

PAPER = Path(__file__).parents[1]


@pytest.mark.long
@pytest.mark.parametrize(("page", "package"), [("README.md", "pandas"), ("docs/problems.md", "Box2D")])
def test_the_blocks_run(page: str, package: str) -> None:
    pytest.importorskip(package)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAPER.joinpath(page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert blocks
    printed_by("".join(blocks), PAPER.parent)
