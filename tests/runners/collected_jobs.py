"""Jobs that a pool has finished, waited for."""

from __future__ import annotations

from typing import Any

PATIENCE = 120.0


def collected(pool: Any, count: int) -> list[Any]:
    """So many jobs, all of which ended well."""
    jobs: list[Any] = []
    while len(jobs) < count:
        news = pool.collect(PATIENCE)
        assert news
        jobs += news
    assert [job.outcome.reason for job in jobs] == [""] * count
    return jobs
