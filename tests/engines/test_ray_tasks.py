"""Ray tasks: from when on their time counts."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from runners.waiting_jobs import check_that_waiting_is_not_being_called

from aegisbo.executors import Ray

ray = pytest.importorskip("ray", reason="pip install -r tests/engines/requirements.txt")

pytestmark = pytest.mark.long


def test_a_task_that_waits_for_a_place_has_not_been_called(tmp_path: Path) -> None:
    from aegisbo.runners.pools.ray import RayTasks

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        check_that_waiting_is_not_being_called(lambda evaluation: RayTasks(Ray(), evaluation, 2), tmp_path)
    finally:
        ray.shutdown()
    assert "aegisbo Ray" not in [thread.name for thread in threading.enumerate()]
