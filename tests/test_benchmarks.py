"""The paired comparison of benchmarks/: its runs must be paired with the rows of peers.csv, or it means nothing."""

from __future__ import annotations

import csv
import heapq
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from statistics import median
from types import ModuleType

import numpy as np
import pytest

from aegisbo.simulation import problems

ROOT = Path(__file__).parents[1]
FOLDER, README = ROOT / "benchmarks", ROOT / "README.md"
PUBLISHED = ROOT / "paper" / "src" / "aegis_paper" / "published.csv"


def rows(name: str) -> list[dict[str, str]]:
    with FOLDER.joinpath(name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module("regret_run")


def last_completion(seed: int, workers: int, n: int) -> float:
    """When the last of n jobs ends if each free worker takes the next one: written out, without our clock."""
    rng = np.random.default_rng(7000 + seed)
    free = [0.0] * workers
    for _ in range(n):
        heapq.heappush(free, heapq.heappop(free) + abs(rng.normal()) * np.sqrt(np.pi / 2))
    return max(free)


def test_job_times_of_all_rows_follow_from_the_seed() -> None:
    for row in [*rows("peers.csv"), *rows("ours.csv")]:
        n = int(row["budget"]) - 2 * problems.get(row["problem"]).d
        expected = last_completion(int(row["seed"]), int(row["workers"]), n)
        assert float(row["makespan"]) == pytest.approx(expected, abs=0.0051)  # two decimals are stored


@pytest.mark.parametrize(
    ("problem", "seed"), [("Branin", 0), ("GoldsteinPrice", 1), ("Hartmann6", 2), ("Ackley10", 3), ("Rosenbrock7", 4)]
)
def test_rows_of_peers_come_back_from_the_same_starts(benchmark: ModuleType, problem: str, seed: int) -> None:
    (row,) = (
        row
        for row in rows("peers.csv")
        if (row["method"], row["problem"], row["seed"]) == ("uniform", problem, str(seed))
    )
    outcome = benchmark.perform(benchmark.Job("uniform", problem, seed, 8, 200, "peers"))
    for mark in ("regret_quarter", "regret_half", "regret_three_quarters", "regret"):
        assert f"{getattr(outcome, mark):.6g}" == row[mark]
    assert f"{outcome.makespan:.2f}" == row["makespan"]


def test_all_methods_start_from_the_same_known_points(benchmark: ModuleType) -> None:
    """With a budget one above the known points, what is reached before it is the best of these, whoever searches."""
    outcomes = [
        benchmark.perform(benchmark.Job(method, "Hartmann3", 0, 4, 8, "peers"))
        for method in ("aegis/modern", "random", "uniform")
    ]
    assert len({outcome.regret_three_quarters for outcome in outcomes}) == 1  # after 6 = 2d evaluations
    assert len({outcome.makespan for outcome in outcomes}) == 1


def medians_of(*files: str) -> dict[str, dict[str, float]]:
    """Median regret with eight workers by problem and method, worked out here without the report."""
    regrets: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in (row for file in files for row in rows(file) if row["workers"] == "8"):
        regrets[row["problem"]][row["method"]].append(max(float(row["regret"]), 1e-9))
    return {problem: {method: median(runs) for method, runs in found.items()} for problem, found in regrets.items()}


def published() -> dict[str, float]:
    with PUBLISHED.open(newline="", encoding="utf-8") as stream:
        return {
            row["problem"]: float(row["median_regret"])
            for row in csv.DictReader(stream)
            if (row["experiment"], row["workers"], row["method"]) == ("synthetic", "8", "AEGiS")
        }


def test_the_readme_tells_what_the_files_hold() -> None:
    ours, others, paper = medians_of("ours.csv"), medians_of("peers.csv"), published()
    ratios = [mine["aegis/modern"] / min(*others[problem].values(), paper[problem]) for problem, mine in ours.items()]
    lowest, ten_times = sum(ratio <= 1 for ratio in ratios), sum(ratio <= 0.1 for ratio in ratios)
    assert len(ratios) == 15
    claim = f"on {lowest} of the fifteen functions of the paper, and ten times lower on {ten_times}."
    assert claim in " ".join(README.read_text("utf-8").split())


def test_the_report_counts_the_same(tmp_path: Path) -> None:
    shutil.copy(FOLDER / "ours.csv", tmp_path)
    report = subprocess.run(
        [sys.executable, FOLDER / "regret.py", "--paired", "--report", "-o", tmp_path / "ours.csv"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    lowest = re.search(r"lowest, of 15 +(\d+)", report)
    ten_times = re.search(r"10x lower, of 15 +(\d+)", report)
    assert lowest is not None
    assert ten_times is not None
    claim = f"on {lowest[1]} of the fifteen functions of the paper, and ten times lower on {ten_times[1]}."
    assert claim in " ".join(README.read_text("utf-8").split())
