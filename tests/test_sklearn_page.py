"""docs/sklearn.md works as printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from printed_page import printed_by, program_of


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    printed = printed_by(program_of("sklearn.md"), tmp_path)
    first, second, *front, stopped = printed.splitlines()
    assert re.match(r"0\.9\d\d \{'svc__kernel': ", first)
    assert second.startswith("12 The budget is spent.")
    accuracies, seconds = zip(*(map(float, line.split()) for line in front), strict=True)
    assert sorted(accuracies, reverse=True) == list(accuracies)
    assert sorted(seconds, reverse=True) == list(seconds)
    early = re.match(r"The budget is spent\. (\d+) of 30 evaluations were stopped early\. (.*)", stopped)
    assert early is not None
    reached = [int(steps) for steps in early[2].split()]
    assert len(reached) == 30
    assert 0 < sum(steps < 27 for steps in reached) <= int(early[1])  # a slow machine may hear of it with the last step
