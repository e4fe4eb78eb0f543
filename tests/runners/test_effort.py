"""What an evaluation costs the driver does not grow with the number of trials: nobody goes through all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aegisbo import minimize
from aegisbo.optimizer import Trial
from aegisbo.optimizer.trials import Trials
from aegisbo.study.replay import replay

FEW, MANY = 25, 100
BOX = [(-5, 10), (2, 3)]


class Visited(list[Trial]):
    """Trials that count how many of them were looked at by a loop."""

    total = 0

    def __iter__(self) -> Iterator[Trial]:
        for trial in super().__iter__():
            Visited.total += 1
            yield trial


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Trials.__init__

    def begin(self: Trials, *arguments: Any) -> None:
        real(self, *arguments)
        self.asked = Visited()

    monkeypatch.setattr(Trials, "__init__", begin)
    Visited.total = 0


def visits_by_evaluation(**options: Any) -> list[int]:
    """How many trials had been looked at when each evaluation began."""
    visits = []

    def function(x: Any) -> tuple[float, dict[str, float]]:
        visits.append(Visited.total)
        return float(x[0] ** 2 + x[1]), {"size": float(x[0])}

    minimize(function, BOX, budget=MANY, strategy="random", seed=1, progress=False, **options)
    return visits


@pytest.mark.parametrize(
    "options",
    [{}, {"target": -1.0}, {"limits": ["size <= 5"]}, {"timeout": 3600.0}],
    ids=str,
)
def test_no_evaluation_goes_through_all_trials(options: dict[str, Any], tmp_path: Path) -> None:
    study = None if options else tmp_path / "run.db"
    visits = visits_by_evaluation(executor="serial", study=study, **options)
    assert visits[MANY - 1] - visits[FEW] < FEW  # not even one loop over those that were there


@pytest.mark.long
def test_replay_does_not_begin_anew_with_each_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def added_by_replay(budget: int) -> int:
        path = tmp_path / f"{budget}.db"
        minimize(lambda x: float(x[0]), BOX, budget=budget, strategy="random", seed=1, study=path, executor="serial")
        calls = []
        real: Callable[..., Trial] = Trials.add
        monkeypatch.setattr(Trials, "add", lambda *args, **rest: (calls.append(1), real(*args, **rest))[1])
        assert replay(path).differences == ()
        monkeypatch.setattr(Trials, "add", real)
        return len(calls)

    assert added_by_replay(MANY) == MANY // FEW * added_by_replay(FEW)
