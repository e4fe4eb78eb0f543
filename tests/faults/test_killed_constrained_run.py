"""A driver that is killed in the middle of an evaluation: the run goes on under its constraints and limits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from aegisbo import Real, minimize
from aegisbo.study.replay import replay

PROGRAM = """
import os
from aegisbo import Real, minimize

calls = 0

def f(a, b):
    global calls
    calls += 1
    if calls == KILLED:
        os._exit(9)
    return (a - 0.9) ** 2 + (b - 0.8) ** 2, {"latency": 10 * (a + b)}

if __name__ == "__main__":
    minimize(f, SPACE, **OPTIONS)
"""
SPACE = {"a": Real(0, 1), "b": Real(0, 1)}
OPTIONS = {"constraints": ["a < b", "a + b <= 1.5"], "limits": ["latency <= 12"], "budget": 11, "seed": 4}
RUN = {"executor": "serial", "progress": False}


def f(a: float, b: float) -> tuple[float, dict[str, float]]:
    return (a - 0.9) ** 2 + (b - 0.8) ** 2, {"latency": 10 * (a + b)}


@pytest.mark.long
def test_a_killed_run_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    whole = minimize(f, SPACE, **OPTIONS, **RUN)  # type: ignore[arg-type]
    options = {**OPTIONS, **RUN, "study": str(tmp_path / "run.db")}
    program = PROGRAM.replace("KILLED", "8").replace("SPACE", repr(SPACE)).replace("OPTIONS", repr(options))
    (tmp_path / "driver.py").write_text(program, "utf-8")
    killed = subprocess.run([sys.executable, "driver.py"], cwd=tmp_path, timeout=600, check=False)
    assert killed.returncode == 9
    resumed = minimize(f, SPACE, anyway=True, **options)  # type: ignore[arg-type]
    assert [(t.params, t.measured) for t in resumed.trials] == [(t.params, t.measured) for t in whole.trials]
    assert resumed.limits == whole.limits
    assert all(trial.params["a"] < trial.params["b"] for trial in resumed.trials)
    assert replay(tmp_path / "run.db").faithful
