"""A run whose program is broken ends after five evaluations; points that fail by themselves get twenty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aegisbo import Result, minimize
from aegisbo.runners.command import Command

BOX = [(-5, 10), (2, 3)]


def search(fun: Any, space: Any = BOX, **rest: Any) -> Result:
    rest = {"executor": "serial", "raise_errors": False, **rest}
    return minimize(fun, space, **{"budget": 30, "strategy": "random", "seed": 1, **rest})


def raising(error: type[BaseException]) -> Any:
    def fun(x: np.ndarray) -> float:
        raise error(f"at {x[0]:.3g}")

    return fun


@pytest.mark.parametrize(
    "fun",
    [
        *map(raising, (TypeError, NameError, UnboundLocalError, AttributeError, KeyError, SyntaxError, SystemExit)),
        lambda x: None,
        lambda x: "0.25",
        lambda x: f"loss {x[0]}",
        lambda x: (x[0], x[1]),
        lambda x: x,
        lambda x: x[0] < 99,
        lambda x: np.bool_(x[0] < 99),
        lambda x: object(),
    ],
)
def test_a_mistake_of_the_program_ends_the_run(fun: Any) -> None:
    result = search(fun)
    assert result.nfev == 5
    assert result.ending == (
        "The first 5 evaluations failed in the same way, whatever the point. Fix the function, then make the same "
        "call again."
    )
    assert " ".join(str(result.trials[0].reason).split())[:40] in result.message


@pytest.mark.parametrize(
    "fun",
    [
        *map(raising, (ValueError, ZeroDivisionError, AssertionError, RuntimeError, MemoryError)),
        lambda x: np.nan,
        lambda x: -np.inf,
        lambda x: None if x[0] < 2.5 else "left",
        lambda x: [1][7] if x[0] < 2.5 else {}["x"],
    ],
)
def test_what_may_be_the_points_fault_does_not(fun: Any) -> None:
    assert search(fun).nfev == 20


def test_only_the_first_five_are_looked_at() -> None:
    calls: list[Any] = []

    def late(x: np.ndarray) -> Any:
        calls.append(x)
        return None if len(calls) > 1 else np.nan

    assert search(late).nfev == 20


def test_whoever_wants_to_go_on_goes_on() -> None:
    assert search(lambda x: None, give_up_after=None).nfev == 30
    assert search(lambda x: None, give_up_after=2).nfev == 2


def test_a_program_that_cannot_be_started_ends_the_run_in_any_pool() -> None:
    space = {"x": (1, 2)}
    for text in ("./nowhere-{x}", "sh -c 'nowhere {x}'"):
        result = search(Command(text), space, executor="threads", workers=2)
        assert 5 <= result.nfev <= 6
        assert result.ending.startswith("The first 5 evaluations failed in the same way")
        assert " x The program " in result.message


def test_after_a_value_of_the_same_call_nothing_is_hopeless(tmp_path: Path) -> None:
    path, calls = tmp_path / "run.db", []

    def once(x: np.ndarray) -> Any:
        calls.append(x)
        return 1.0 if len(calls) == 1 else None

    assert search(once, budget=9, study=path).nfev == 9
    assert search(once, budget=30, study=path).nfev == 9 + 5  # an old value says nothing of the function as it is now


def test_the_study_is_named_and_the_mended_function_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "my run.db"
    broken = search(lambda x: None, study=path, budget=10)
    assert broken.ending.endswith(f"Fix the function, then run `aegisbo retry '{path}'` and make the same call again.")
    assert search(lambda x: float(x[0]), study=path, budget=10).nfev == 10


def test_a_missing_module_ends_a_continued_run_too(tmp_path: Path) -> None:
    path, calls = tmp_path / "run.db", []

    def moved(x: np.ndarray) -> float:
        calls.append(x)
        if len(calls) > 3:
            import no_such_module_at_all  # noqa: F401
        return 1.0

    assert search(moved, budget=3, study=path).nfev == 3
    result = search(moved, budget=30, study=path)
    assert (result.nfev, result.failures) == (3, {})
    assert "No module named 'no_such_module_at_all'" in result.ending
