"""A very short campaign of `make chaos`, so that it stays able to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.faults import chaos
from benchmarks.faults.plan import plan_of

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")


@pytest.mark.long
def test_a_short_campaign_breaks_nothing(tmp_path: Path) -> None:
    figures = chaos.campaign(7, tmp_path, minutes=10, runs=3)
    assert figures.violations == []
    assert (figures.runs, figures.evaluations > 20) == (3, True)


def test_a_seed_decides_what_a_run_is() -> None:
    plans = [plan_of(seed) for seed in range(200)]
    assert plans == [plan_of(seed) for seed in range(200)]
    assert {plan.engine for plan in plans} >= {"processes", "copies", "threads", "serial", "futures", "broken futures"}
    assert all(any(getattr(plan, name) for plan in plans) for name in ("hangs", "jumps", "small_disk", "meddles"))


@pytest.mark.long
def test_the_audit_notices_what_is_not_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chaos, "value_of", lambda key: 0.25)  # as if every value were another's
    seed = next(seed for seed in range(100) if str(plan_of(seed)).startswith("serial, random"))
    figures = chaos.campaign(seed, tmp_path, minutes=10, runs=1)
    assert "a value is not that of its point" in figures.violations[0]
    assert (tmp_path / str(seed) / "run.db").exists()
