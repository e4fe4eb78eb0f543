"""docs/clusters.md works as printed: its blocks run in order, in one folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_page import said_by

from aegisbo import load
from aegisbo.study.replay import replay


@pytest.mark.long
def test_the_blocks_run_and_the_budgets_are_met(tmp_path: Path) -> None:
    said = said_by("clusters.md", tmp_path)
    assert len(re.findall(r"^The budget is spent\.$", said, re.MULTILINE)) == 3 + 1 + 4 + 1  # a copy each
    for study, budget in (("run.db", 25), ("many.db", 20)):
        assert load(tmp_path / study).nfev == budget
        assert replay(tmp_path / study).differences == ()
