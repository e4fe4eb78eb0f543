"""Tables of made-up runs whose numbers can be read off."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from aegisbo.cli.simulations import StrategyComparison
from aegisbo.simulation.runs import SimulatedEvaluation, SimulatedRun, Spec


def record(strategy: str, run: int, values: Sequence[float], minimum: float | None = 1.0) -> SimulatedRun:
    spec = Spec(problem="Branin", strategy=strategy, workers=2, budget=5, run=run)
    evaluations = [SimulatedEvaluation(i, (0.0, 0.0), value, "ei", 0.0, 1.0, 0.25) for i, value in enumerate(values)]
    scores = np.minimum.accumulate(values) - (minimum or 0.0)
    return SimulatedRun(spec, minimum, scores, tuple(evaluations), makespan=12.345, utilization=0.5)


def printed(comparison: StrategyComparison, counts: Sequence[int], width: int = 80) -> str:
    text = StringIO()
    console = Console(file=text, width=width)
    comparison.print(console, counts)
    console.print(comparison.legend())
    return text.getvalue()


def falling(strategy: str, lift: Sequence[float]) -> list[SimulatedRun]:
    """Runs whose best values are 9, 7, 5, 4, 3, each run lifted by its own amount."""
    return [record(strategy, run, [each + by for each in (9, 7, 5, 4, 3)]) for run, by in enumerate(lift)]


def test_each_column_holds_the_score_after_so_many_evaluations() -> None:
    lines = printed(StrategyComparison({"ei": falling("ei", [0, 1, 2, 3, 4])}), [1, 3, 5]).splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("ei"))
    assert lines[row].split() == ["ei", "10", "6", "4"]
    assert lines[row + 1].split() == ["9–11", "5–7", "3–5"]


@pytest.mark.parametrize(
    ("lift", "row"),
    [
        ([1, 2, 3, 4, 5], ["0", "5", "0", "1", "0.031", "worse"]),
        ([-1, -0.5, -0.25, -0.125, -2], ["5", "0", "0", "0.031", "1", "better"]),
        ([1, -2, 3, -4, 0], ["2", "2", "1", "0.44", "0.69", "not", "clear"]),
    ],
)
def test_a_strategy_is_compared_with_the_first(lift: list[float], row: list[str]) -> None:
    comparison = StrategyComparison({"thompson": falling("thompson", [0] * 5), "ei": falling("ei", lift)})
    output = printed(comparison, [5])
    assert [line.split()[1:] for line in output.splitlines() if line.startswith("ei")][1] == ["250", "250", *row]
    assert "runs won and lost against thompson" in output
    assert "as good as thompson" in " ".join(output.split())


def test_how_busy_the_workers_were() -> None:
    output = printed(StrategyComparison({"ei": falling("ei", [0])}), [5])
    assert "2 workers, job times half-normal: makespan 12.3 virtual seconds, utilization 50%" in " ".join(
        output.split()
    )


@pytest.mark.parametrize("width", [80, 120])
def test_the_widest_of_usual_tables_fits(width: int) -> None:
    values = [3.4e-05 + 1, 2.3e-05 + 1, 1.9e-05 + 1, 1.8e-05 + 1, 1.7e-05 + 1]
    names = ["local-penalization", "aegis-no-exploit"]
    comparison = StrategyComparison({name: [record(name, run, values) for run in range(5)] for name in names})
    output = printed(comparison, [2, 3, 4, 5], width)
    assert max(map(len, output.splitlines())) <= width
    for name in names:
        assert sum(line.startswith(f"{name} ") for line in output.splitlines()) == 2  # in one piece, in both tables


def test_square_brackets_in_a_name_are_no_markup() -> None:
    comparison = StrategyComparison(
        {"ei": [record("ei", 0, [2, 2, 2, 2, 2])], "x[bold]": [record("ei", 0, [2, 2, 2, 2, 2])]}
    )
    assert printed(comparison, [5]).count("x[bold]") == 2
