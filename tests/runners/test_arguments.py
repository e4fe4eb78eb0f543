"""Misuse is caught before it costs: one sentence with a remedy, nothing evaluated, no file made."""

from __future__ import annotations

import functools
import math
import stat
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aegisbo import Choice, Int, Real, Space, minimize
from aegisbo.errors import InvalidInput
from aegisbo.runners.arguments import check_command
from aegisbo.runners.command import Command, ProgramFailed

BOX = [(-5, 10), (2, 3)]
NAMED = {"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512)}
CALLS: list[Any] = []


def vector(x: Any) -> float:
    CALLS.append(x)
    return 1.0


def named(lr: float, units: int) -> float:
    CALLS.append((lr, units))
    return lr * units


class Trainer:
    def __call__(self, lr: float) -> float:
        raise AssertionError("never called")


class Patient:
    async def __call__(self, x: Any) -> float:
        return 1.0


async def slow(x: Any) -> float:
    return 1.0


def yielding(x: Any) -> Any:
    yield 1.0


def keywords_only(*, lr: float, units: int, epochs: int) -> float:
    return 1.0


def of_a_vector(x: Any) -> float:
    return 1.0


def of_two(a: float, b: float) -> float:
    return 1.0


def injecting(fun: Any) -> Any:
    @functools.wraps(fun)
    def wrapper(**params: Any) -> float:
        return float(fun(data=1, **params))

    return wrapper


@injecting
def with_data(data: int, lr: float, units: int) -> float:
    return data * lr * units


@pytest.fixture(autouse=True)
def nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    CALLS.clear()
    return tmp_path


def refused(fun: Any = vector, space: Any = BOX, **given: Any) -> str:
    """What is said; a call that is refused leaves no trace."""
    before = sorted(Path().iterdir())
    with pytest.raises(InvalidInput) as error:
        minimize(fun, space, **{"budget": 3, "study": "run.db", "executor": "serial", **given})
    assert CALLS == []
    assert sorted(Path().iterdir()) == before
    return str(error.value)


@pytest.mark.parametrize(
    ("fun", "space", "message"),
    [
        (3.5, BOX, "fun is 3.5, which cannot be called: give the function itself, without ()."),
        (None, BOX, "fun is None, which cannot be called"),
        (slow, BOX, "slow() is async: pass a plain function that calls asyncio.run(slow(...))."),
        (functools.partial(slow), BOX, "slow() is async"),
        (Patient(), BOX, "Patient.__call__() is async"),
        (yielding, BOX, "yielding() yields its values: let it return one number instead."),
        (named, {"learning_rate": (0, 1), "units": Int(1, 9)}, "named() takes no 'learning_rate': did you mean 'lr'?"),
        (named, {"lr": (0, 1), "unit": Int(1, 9)}, "named() takes no 'unit': did you mean 'units'?"),
        (named, {"LR": (0, 1), "units": Int(1, 9)}, "named() takes no 'LR': did you mean 'lr'?"),
        (
            named, {**NAMED, "act": Choice(["a", "b"])},
            "named() takes no 'act': it is called as named(lr=..., units=..., act=...). Write def named(lr, units, act)"
            ", or **params for a dict.",
        ),
        (named, {"lr": (0, 1)}, "named() needs 'units', which is no parameter of the space (lr): add it there, or"),
        (keywords_only, NAMED, "keywords_only() needs 'epochs', which is no parameter of the space (lr, units)"),
        (of_a_vector, NAMED, "of_a_vector() takes no 'lr': it is called as of_a_vector(lr=..., units=...)"),
        (of_a_vector, {"x1": (0, 1), "x2": (0, 1)}, "of_a_vector() takes no 'x1': it is called as of_a_vector(x1=..."),
        (Trainer(), NAMED, "Trainer.__call__() takes no 'units': it is called as __call__(lr=..., units=...)."),
        (functools.partial(named, 3), NAMED, "named() takes no 'lr'"),
        (lambda lr: lr, NAMED, "<lambda>() takes no 'units': it is called as f(lr=..., units=...)."),
        (math.sqrt, {"x": (1, 2)}, "sqrt() takes no 'x'"),
        (
            of_two, BOX,
            "of_two() takes a, b, but parameters without names come as a vector in one argument: name them, as in "
            "{'a': (low, high), ...}, or write def of_two(x).",
        ),
        (lambda: 1.0, [Int(1, 5)], "<lambda>() takes no argument, but gets the point as a list: write def f(x)."),
        (Command("echo 1"), BOX, "A program gets its parameters by name: give the space as {'name': (low, high), ...}"),
    ],
)  # fmt: skip
def test_a_function_that_cannot_take_the_parameters(fun: Any, space: Any, message: str) -> None:
    assert refused(fun, space).startswith(message)


@pytest.mark.parametrize(
    ("fun", "space"),
    [
        (named, NAMED),
        (functools.partial(keywords_only, epochs=3), NAMED),
        (lambda **params: 1.0, NAMED),
        (lambda lr, units=3, *rest, extra=None, **more: 1.0, NAMED),
        (with_data, NAMED),
        (lambda *x: 1.0, BOX),
        (lambda x, y=1: 1.0, BOX),
        (max, BOX),  # nobody knows how it is called
        (np.sum, BOX),
    ],
)
def test_what_can_be_called_is(fun: Any, space: Any) -> None:
    assert minimize(fun, space, budget=2, executor="serial", strategy="random").success


@pytest.mark.parametrize(
    ("given", "message"),
    [
        *(({name: value}, f"{name} is {value!r}: give seconds, more than 0; without it, or with None, there is no")
          for name in ("timeout", "trial_timeout") for value in (0, -1.5, math.nan, math.inf, True, "60")),
        *(({"retries": value}, f"retries is {value!r}: give a whole number, 0 for none.")
          for value in (-1, 1.5, True, None, "2")),
        *(({"target": value}, f"target is {value!r}: give a finite number, or None.")
          for value in (math.nan, math.inf, True, "0.1")),
        *(({"workers": value}, f"workers is {value!r}: give a whole number from 1 to 100,000, or leave it out.")
          for value in (0, -2, 2.0, True, "2", 100_001)),
        *(({name: 10**400}, f"{name} is 1{'0' * 99}...")
          for name in ("budget", "workers", "n_initial", "timeout", "target", "retries")),
        *(({"budget": value}, f"budget is {value!r}: give a whole number of evaluations, at least 1.")
          for value in (0, 2.5, True, "10", None)),
        *(({"give_up_after": value}, f"give_up_after is {value!r}: give at least 1") for value in (0, True, 2.5)),
        *(({"study": value}, f"study is {value!r}: give the name of a file") for value in (True, 3, "")),
        ({"progress": "no"}, "progress must be True or False, got 'no'."),
        ({"executor": "thread"}, "executor is 'thread': use \"processes\", \"threads\""),
        ({"executor": 4}, "executor is 4: use"),
        ({"callbacks": vector}, "callbacks must be a list of functions, got <function vector"),
        ({"callbacks": None}, "callbacks must be a list of functions, got None"),
        ({"callbacks": [vector]}, "callbacks[0] is vector(): it must be a function of two arguments, (trial, result)."),
        ({"callbacks": [of_two, 3]}, "callbacks[1] is 3: it must be a function of two arguments, (trial, result)."),
        ({"observed": [([0, 2.5], None)]}, "observed, entry 0: The value of a trial must be a number, got None"),
    ],
)  # fmt: skip
def test_an_argument_that_cannot_be_used(given: dict[str, Any], message: str) -> None:
    assert refused(**given).startswith(message)


def test_a_bare_callback_is_told_where_to_go() -> None:
    assert refused(callbacks=of_two).endswith("write callbacks=[of_two].")


def test_numbers_of_all_kinds_are_numbers() -> None:
    given = {"timeout": np.float32(60), "trial_timeout": 60, "target": Fraction(-1), "retries": np.int64(0)}
    assert minimize(vector, BOX, **given, budget=np.int64(2), executor="threads", workers=np.int64(1)).nfev == 2
    assert len(CALLS) == 2


class TestPrograms:
    def program(self, name: str, mode: int = stat.S_IRWXU) -> str:
        Path(name).write_text("#!/bin/sh\necho 1\n")
        Path(name).chmod(mode)
        return name

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("no-such-program {lr}", "There is no program 'no-such-program' on the PATH: check its name."),
            ("./nowhere {lr}", "There is no program './nowhere' in /"),
            ("simulate {lr}", "The program 'simulate' lies here, but not on the PATH: write ./simulate."),
            ("./plain {lr}", "The program './plain' is not executable: run chmod +x ./plain, or put its interpreter"),
        ],
    )
    def test_one_that_cannot_be_run_is_refused(self, text: str, message: str) -> None:
        self.program("simulate")
        self.program("plain", stat.S_IRUSR)
        assert refused(Command(text), NAMED).startswith(message)

    @pytest.mark.parametrize("text", ["./simulate {lr}", "sh simulate", "./{units}"])
    def test_one_that_can_or_that_nobody_can_know_is_not(self, text: str) -> None:
        self.program("simulate")
        check_command(Command(text), Space(NAMED), here=True)

    def test_elsewhere_there_may_be_others(self) -> None:
        with ThreadPoolExecutor(1) as elsewhere:
            result = minimize(Command("./nowhere {lr}"), NAMED, budget=1, executor=elsewhere)
        assert result.trials[0].reason == (
            "ProgramFailed: The program could not be started ('./nowhere': No such file or directory)."
        )

    def test_one_that_is_gone_says_so(self) -> None:
        with pytest.raises(ProgramFailed, match=r"could not be started \('./gone'"):
            Command("./gone")()
