"""What `minimize` can be given: strategies as objects, data from elsewhere, and when to give up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aegisbo
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.strategies import Aegis, Random
from aegisbo.strategies.base import Suggestion
from aegisbo.study.history import optimizer_after
from aegisbo.study.replay import replay
from aegisbo.study.store import read_events

BOX = [(-5, 10), (2, 3)]


def bowl(x: np.ndarray) -> float:
    return float((x[0] - 3) ** 2 + (x[1] - 2.5) ** 2)


def run(fun: Any = bowl, **options: Any) -> aegisbo.Result:
    return aegisbo.minimize(fun, BOX, **{"executor": "serial", "seed": 1, "strategy": Random(), "budget": 6, **options})


class Corner:
    """A strategy from elsewhere, which cannot be written as text."""

    def __init__(self, place: float) -> None:
        self.place = place

    def __repr__(self) -> str:
        return f"Corner({self.place})"

    def suggest(self, evidence: Any, memory: Any, rng: np.random.Generator) -> Suggestion:
        return Suggestion(np.clip(self.place + 0.01 * rng.random(2), 0, 1), memory, {"move": "corner"})


class TestStrategyObjects:
    def test_one_with_a_name_is_stored_as_text_and_goes_on_under_either(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        run(strategy=Aegis(gamma=0.2, preset="paper"), study=path, budget=6)
        recorded = read_events(path)[0].body["optimizer"]
        assert (recorded["strategy"], recorded["preset"]) == ("aegis:gamma=0.2", "paper")
        assert run(strategy="aegis:gamma=0.2", preset="paper", study=path, budget=8).nfev == 8
        assert run(strategy=Aegis(gamma=0.2, preset="paper"), study=path, budget=9).nfev == 9
        assert replay(path).faithful
        with pytest.raises(StudyError, match=r"strategy is 'aegis:gamma=0.2' in the study and 'aegis:gamma=0.3'"):
            run(strategy=Aegis(gamma=0.3, preset="paper"), study=path, budget=10)

    def test_a_foreign_one_can_be_looked_at_and_goes_on_with_the_same_object(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        result = run(strategy=Corner(0.25), study=path, budget=7)
        assert aegisbo.load(path).fun == result.fun
        assert {trial.note["move"] for trial in aegisbo.load(path).trials} == {"initial", "corner"}
        whole = run(strategy=Corner(0.25), budget=9)
        assert [trial.params for trial in run(strategy=Corner(0.25), study=path, budget=9).trials] == [
            trial.params for trial in whole.trials
        ]
        with pytest.raises(StudyError, match=r"strategy_object is 'Corner\(0.25\)' in the study and 'Corner\(0.5\)'"):
            run(strategy=Corner(0.5), study=path, budget=9)
        with pytest.raises(StudyError, match=r"made with the strategy object Corner\(0.25\).*cannot be replayed"):
            replay(path)


class TestObservedData:
    PAIRS = (([0, 2.5], 9.0), ([3.5, 2.5], 0.25), ({"x0": 9.0, "x1": 2.2}, float("nan")))

    def test_they_teach_and_may_be_the_best_but_are_no_evaluations(self) -> None:
        result = run(observed=self.PAIRS, budget=2)
        assert (result.nfev, len(result.trials)) == (2, 2)
        assert result.best.number == -2
        assert result.fun == 0.25

    def test_with_no_initial_points_they_start_the_model(self) -> None:
        pairs = [(x, bowl(np.array(x))) for x in ([-4, 2.1], [0, 2.9], [8, 2.4], [5, 2.6])]
        result = run(strategy=Aegis(), observed=pairs, n_initial=0, budget=3)
        assert [trial.note["move"] == "initial" for trial in result.trials] == [False] * 3
        assert min(trial.value for trial in result.trials) < min(y for _, y in pairs)

    def test_a_study_keeps_them_and_takes_more_at_the_end(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        run(strategy=Aegis(), observed=self.PAIRS[:2], n_initial=2, study=path, budget=4)
        assert [trial.value for trial in optimizer_after(read_events(path)).observed] == [9.0, 0.25]
        run(strategy=Aegis(), n_initial=2, study=path, budget=5)  # not given again: still there
        run(strategy=Aegis(), observed=self.PAIRS, n_initial=2, study=path, budget=7)
        kinds = [event.kind for event in read_events(path)]
        assert kinds.count("observed") == 3
        assert replay(path).faithful
        with pytest.raises(StudyError, match=r"observed point 1 is .*0.25 in the study and .*0.5 in this call"):
            run(strategy=Aegis(), observed=[self.PAIRS[0], ([3.5, 2.5], 0.5)], n_initial=2, study=path, budget=9)

    @pytest.mark.parametrize("wrong", [[3.0], [([0, 2.5], 1.0, 2.0)], [[0, 2.5]]])
    def test_what_is_no_pair_is_refused(self, wrong: Any) -> None:
        with pytest.raises(InvalidInput, match=r"observed must hold pairs of|x must hold 2 values"):
            run(observed=wrong)


class TestGivingUp:
    @staticmethod
    def broken(x: np.ndarray) -> float:
        raise ValueError("no licence")

    @pytest.mark.parametrize(("limit", "spent"), [(20, 20), (3, 3), (None, 25)])
    def test_a_run_without_any_value_ends_itself(self, limit: int | None, spent: int) -> None:
        result = run(self.broken, budget=25, give_up_after=limit)
        assert (result.nfev, result.success) == (spent, False)
        expected = "The budget is spent." if limit is None else f"None of {limit} evaluations gave a value"
        assert result.message.startswith(expected)

    def test_twenty_is_the_default(self) -> None:
        assert run(self.broken, budget=25).nfev == 20

    @pytest.mark.parametrize("limit", [0, -3])
    def test_nonsense_is_refused(self, limit: int) -> None:
        with pytest.raises(InvalidInput, match=f"give_up_after is {limit}: give at least 1, or None"):
            run(give_up_after=limit)
