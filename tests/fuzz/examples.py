"""How many bad inputs each fuzz test tries: a few in the suite, more where AEGISBO_FUZZ says so."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings

MANY = int(os.environ.get("AEGISBO_FUZZ", "1"))  # times as many


def tries(few: int, **options: Any) -> settings:
    """The settings of a test that tries so many; other ones each time if there are many."""
    slow = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    return settings(
        max_examples=few * MANY, derandomize=MANY == 1, deadline=None, suppress_health_check=slow, **options
    )
