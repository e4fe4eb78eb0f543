"""docs/trackers.md works as printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from printed_page import said_by
from tracked import require

for package in ("mlflow", "wandb", "tensorboard"):
    require(package)


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    said_by("trackers.md", tmp_path)
    (study,) = (tmp_path / "runs").iterdir()
    assert len([each for each in study.iterdir() if each.is_dir()]) == 12
    assert (tmp_path / "mlflow.db").exists()
    assert len(list(tmp_path.glob("wandb/offline-run-*"))) == 13
