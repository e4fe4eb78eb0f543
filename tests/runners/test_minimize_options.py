"""What `minimize` can be given: strategies as objects, data from elsewhere, and when to give up."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sealed import seal

import aegisbo
from aegisbo.errors import InvalidInput, StudyError
from aegisbo.strategies import Aegis, Random
from aegisbo.strategies.base import Suggestion
from aegisbo.strategies.presets import PAPER
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.state import State

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
        with pytest.raises(StudyError, match=r"made with the strategy Corner\(0.25\).*Pass it to minimize to continue"):
            replay(path)

    def test_one_without_a_repr_of_its_own_goes_on_in_another_process(self, tmp_path: Path) -> None:
        """Its repr holds an address in memory, which another process gives to another object."""

        class Plain(Corner):
            __repr__ = object.__repr__

        path = tmp_path / "run.db"
        run(strategy=Plain(0.25), study=path, budget=5)
        keep = [Plain(0.25) for _ in range(50)]  # so that no address is used again
        assert run(strategy=keep[-1], study=path, budget=6).nfev == 6

    def test_one_of_a_package_that_is_gone_can_still_be_looked_at(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        run(study=path, budget=5)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE events SET body = replace(body, '\"random\"', '\"gone:a=1\"') WHERE id = 1")
            connection.commit()
        seal(path)
        assert aegisbo.load(path).nfev == 5
        with pytest.raises(StudyError, match=r"made with the strategy gone:a=1.*Unknown strategy 'gone'"):
            replay(path)

    def test_a_preset_of_ones_own_is_kept_as_an_object(self, tmp_path: Path) -> None:
        mine = replace(PAPER, name="mine")
        path = tmp_path / "run.db"
        for budget in (5, 7):
            assert run(strategy="aegis", preset=mine, study=path, budget=budget).nfev == budget

    def test_a_class_is_no_strategy(self) -> None:
        with pytest.raises(InvalidInput, match="strategy must be a name or an object with a method suggest"):
            run(strategy=Corner)


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
        assert [trial.value for trial in State.after(read_events(path)).optimizer.observed] == [9.0, 0.25]
        run(strategy=Aegis(), n_initial=2, study=path, budget=5)  # not given again: still there
        run(strategy=Aegis(), observed=self.PAIRS, n_initial=2, study=path, budget=7)
        kinds = [event.kind for event in read_events(path)]
        assert kinds.count("observed") == 3
        assert replay(path).faithful
        with pytest.raises(StudyError, match=r"observed point 1 is .*0.25 in the study and .*0.5 in this call"):
            run(strategy=Aegis(), observed=[self.PAIRS[0], ([3.5, 2.5], 0.5)], n_initial=2, study=path, budget=9)

    @pytest.mark.parametrize("wrong", [[3.0], [([0, 2.5], 1.0, 2.0)], [[0, 2.5]]])
    def test_what_is_no_pair_is_refused(self, wrong: Any) -> None:
        with pytest.raises(InvalidInput, match=r"observed must hold pairs|observed, entry 0: x must hold 2 values"):
            run(observed=wrong)


class TestGivingUp:
    @staticmethod
    def broken(x: np.ndarray) -> float:
        raise ValueError("no licence")

    @pytest.mark.parametrize(("limit", "spent"), [(20, 20), (3, 3), (None, 25)])
    def test_a_run_without_any_value_ends_itself(self, limit: int | None, spent: int) -> None:
        result = run(self.broken, budget=25, give_up_after=limit, raise_errors=False)
        assert (result.nfev, result.success) == (spent, False)
        given_up = f"Gave up because no evaluation gave a value (give_up_after={limit})."
        expected = "The budget is spent." if limit is None else given_up
        reasons = f"{spent} of {spent} evaluations gave no value: {spent} x ValueError: no licence."
        assert result.message.startswith(f"{expected} {reasons}")

    def test_twenty_is_the_default(self) -> None:
        assert run(self.broken, budget=25, raise_errors=False).nfev == 20

    def test_a_study_that_was_given_up_can_be_tried_again(self, tmp_path: Path) -> None:
        for spent in (3, 6):
            result = run(self.broken, budget=25, give_up_after=3, raise_errors=False, study=tmp_path / "run.db")
            assert result.nfev == spent

    @pytest.mark.parametrize("limit", [0, -3, 2.5])
    def test_nonsense_is_refused(self, limit: int) -> None:
        with pytest.raises(InvalidInput, match=f"give_up_after is {limit}: give at least 1, or None"):
            run(give_up_after=limit)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": "3"}, "budget is '3'"),
        ({"budget": 3.5}, "budget is 3.5"),
        ({"workers": "2", "executor": "threads"}, "workers is '2'"),
        ({"initial": 3}, "initial must be a list of points, got 3"),
        ({"observed": 3}, "observed must be a list of points, got 3"),
        ({"maximize": "yes"}, "maximize must be True or False, got 'yes'"),
    ],
)
def test_what_cannot_be_used_is_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        run(**wrong)


def test_a_call_that_is_refused_leaves_no_trace_or_says_why(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="observed, entry 1: "):
        run(observed=[([0, 2.5], 1.0), ([99, 2.5], 1.0)], study=tmp_path / "new.db")
    assert list(tmp_path.iterdir()) == []
    lock = threading.Lock()
    with pytest.raises(InvalidInput, match="cannot be sent to another process"):
        run(lambda x: float(lock.locked()), study=tmp_path / "run.db", executor="processes")
    assert aegisbo.load(tmp_path / "run.db").message.startswith(
        "The driver ended with an error (InvalidInput: The function cannot be sent"
    )


def test_strategies_need_no_import_of_their_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import aegisbo; print(aegisbo.strategies.Aegis(gamma=0.2).gamma)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "0.2\n"


def test_switches_of_numpy_are_switches(tmp_path: Path) -> None:
    assert run(maximize=np.bool_(True), study=tmp_path / "run.db").best.value == max(
        trial.value for trial in aegisbo.load(tmp_path / "run.db").trials
    )
