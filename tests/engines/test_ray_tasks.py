"""Ray tasks: from when on their time counts."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from aegisbo.executors import Ray
from aegisbo.outcome import Outcome, judged

ray = pytest.importorskip("ray", reason="pip install -r tests/engines/requirements.txt")

pytestmark = pytest.mark.long


def test_a_task_that_waits_for_a_place_has_not_been_called(tmp_path: Path) -> None:
    """Two tasks on one core: the time limit of the second may not count while the first one runs."""
    from aegisbo.runners.pools.ray import RayTasks

    gate = tmp_path / "gate"

    def until_open(x: Any) -> Outcome:
        while not gate.exists():
            time.sleep(0.01)
        return judged(1.0)

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        pool = RayTasks(Ray(), until_open, 2, None)
        pool.submit(0, None)
        pool.submit(1, None)
        while pool.starting == 2:
            time.sleep(0.01)
        (waiting,) = (number for number in (0, 1) if pool.called(number) is None)
        gate.touch()
        ends = [*pool.collect(60.0), *pool.collect(60.0)]
        pool.close()
    finally:
        ray.shutdown()
    assert "aegisbo Ray" not in [thread.name for thread in threading.enumerate()]
    assert sorted(end.number for end in ends) == [0, 1]
    assert next(end for end in ends if end.number == waiting).outcome.value == 1.0
