"""Credit of advisers: its parts against definitions, and a point that gives the answer away is worth something."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from commands import call
from scipy import stats

from aegisbo import Optimizer
from aegisbo.advice import Credit, credit
from aegisbo.advice.credit import Advised
from aegisbo.errors import InvalidInput, NoModel
from aegisbo.optimizer import Settings

pytestmark = pytest.mark.long

BOX = {"x": (-5.0, 10.0), "y": (2.0, 3.0)}


def bowl(x: float, y: float) -> float:
    return (x - 3.0) ** 2 + 10.0 * (y - 2.5) ** 2


def advised(points: dict[int, tuple[str, list[float]]], count: int = 14, **settings: object) -> Optimizer:
    optimizer = Optimizer(BOX, seed=0, **{"strategy": "random", **settings})
    for number in range(count):
        if number in points:
            author, x = points[number]
            optimizer.add(dict(zip(BOX, x, strict=True)), author=author)
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(**trial.params), seconds=1.0)
    return optimizer


PLANTED = {4: ("bad", [-5.0, 2.0]), 6: ("bad", [-5.0, 3.0]), 8: ("bad", [-4.9, 2.9]), 10: ("good", [3.0, 2.5])}


def test_who_gives_the_answer_away_helped_and_who_gives_the_worst_points_did_not() -> None:
    found = credit(advised(PLANTED), runs=8)
    good, bad = found.credits
    assert (good.author, good.points, good.improved) == ("good", 1, 1)
    assert (bad.author, bad.points, bad.improved) == ("bad", 3, 0)
    assert good.verdict == "helped"
    assert good.mean > 0 > bad.mean
    assert len(good.sooner) == 8


def test_points_count_in_a_run_of_which_trials_were_forgotten() -> None:
    run = advised({10: ("good", [3.0, 2.5])})
    for number in range(5):
        run.forget(number)
    (good,) = credit(run, runs=4).credits
    assert (good.points, good.improved) == (1, 1)
    assert good.mean > 0.0


def test_it_is_repeatable_and_may_use_several_processes() -> None:
    run = advised(PLANTED)
    one, again = credit(run, runs=2, seed=3), credit(run, runs=2, seed=3)
    assert [each.sooner for each in one.credits] == [each.sooner for each in again.credits]
    assert [each.sooner for each in credit(run, runs=2, seed=4).credits] != [each.sooner for each in one.credits]


def test_the_number_of_processes_changes_nothing() -> None:
    run = advised(PLANTED)
    one, two = credit(run, runs=2), credit(run, runs=2, jobs=2)
    assert [each.sooner for each in one.credits] == [each.sooner for each in two.credits]


def test_points_stand_where_they_stood_unless_the_run_has_been_there() -> None:
    given = {0: {"x": 1.0, "y": 2.5}, 3: {"x": 2.0, "y": 2.5}, 4: {"x": 1.0, "y": 2.5}}
    core = Advised(Settings.checked(BOX, strategy="random", seed=0), given)
    chosen = []
    for _ in range(6):
        asked = core.choose()
        assert asked == core.choose() or math.isclose(asked.seconds, 0.0)  # a second look adds nothing
        chosen.append(core.apply(asked))
    assert [trial.params == given.get(trial.number) for trial in chosen] == [True, False, False, True, False, False]
    assert core.waiting == ()


def test_the_interval_is_that_of_a_t_distribution() -> None:
    sooner = np.random.default_rng(0).normal(1.0, 2.0, 9)
    low, high = stats.t.interval(0.95, 8, loc=sooner.mean(), scale=stats.sem(sooner))
    assert Credit("a", 3, 1, tuple(sooner)).interval == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("sooner", "verdict"),
    [((1.0, 1.1, 0.9), "helped"), ((-1.0, 1.1), "unclear"), ((-1.0, -1.1, -0.9), "cost more"),
     ((5.0,), "unclear")],
)  # fmt: skip
def test_a_verdict_needs_an_interval_on_one_side(sooner: tuple[float, ...], verdict: str) -> None:
    assert Credit("a", 3, 1, sooner).verdict == verdict


def test_several_objectives_are_compared_by_their_hypervolume() -> None:
    optimizer = Optimizer(BOX, seed=0, strategy="random", objectives={"left": "min", "right": "min"})
    for number in range(12):
        if number in (4, 6):
            optimizer.add({"x": 1.0 + number / 3, "y": 2.5}, author="ann")
        trial = optimizer.ask()
        x, y = trial.params.values()
        optimizer.tell(trial, {"left": bowl(x, y), "right": bowl(x - 2.0, y)}, seconds=1.0)
    (ann,) = credit(optimizer, runs=2).credits
    assert (ann.author, ann.points) == ("ann", 2)
    assert all(map(math.isfinite, ann.sooner))


def test_what_cannot_be_credited_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Nobody has added a point to run that was evaluated"):
        credit(advised({}))
    with pytest.raises(NoModel):
        credit(advised({0: ("ann", [1.0, 2.5])}, count=1))
    with pytest.raises(InvalidInput, match="runs"):
        credit(advised(PLANTED), runs=0)


def test_the_command_prints_a_line_for_each_author(tmp_path: Path) -> None:
    from aegisbo import minimize
    from aegisbo.study import add

    path = tmp_path / "run.db"
    asked = {"workers": 1, "executor": "serial", "study": path, "seed": 0, "strategy": "random", "progress": False}
    minimize(bowl, BOX, budget=6, **asked)
    add(path, {"x": 3.0, "y": 2.5}, author="ann")
    minimize(bowl, BOX, budget=10, **asked)
    printed = call("credit", path, "--runs", 2)
    assert "ann" in printed
    assert "evaluations sooner" in printed
