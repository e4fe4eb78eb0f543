"""docs/failures.md works as printed: its blocks run in order, in one folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from printed_page import said_by

from aegisbo import load


@pytest.mark.long
def test_the_blocks_run_and_say_what_is_printed(tmp_path: Path) -> None:
    said_by("failures.md", tmp_path)
    result = load(tmp_path / "elsewhere" / "rough.db")
    assert result.nfev == 20
    states = {trial.state for trial in result.trials}
    assert {"done", "forgotten"} <= states <= {"done", "failed", "invalid", "timed_out", "forgotten"}
