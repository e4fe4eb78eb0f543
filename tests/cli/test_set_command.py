"""`aegisbo set`, as a user types it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from commands import call

import aegisbo
import aegisbo.study
from aegisbo.errors import AegisError, InvalidInput, StudyError, UnknownName
from aegisbo.study.lock import DriverLock
from aegisbo.study.reading import read_events

REST = "The study is not running: make the same call again to continue it."


def bowl(u: float) -> float:
    return u * u


def run(budget: int = 3) -> aegisbo.Result:
    options = {"strategy": "random", "seed": 1, "executor": "serial"}
    return aegisbo.minimize(bowl, {"u": (-5.0, 10.0)}, budget=budget, study="run.db", **options)


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run()


def test_settings_are_changed_shown_and_hold() -> None:
    assert call("set", "run.db", "budget=5", "timeout=none", "target=-0.5") == (
        f"Set budget=5, timeout=None, target=-0.5. {REST}\n"
    )
    shown = call("show", "run.db")
    assert "set since it was called: budget=5, timeout=None, target=-0.5" in shown
    assert " ".join(shown.split()).startswith(
        "The budget is spent. Since then settings were changed: make the same call again to continue."
    )
    assert run().nfev == 5
    assert "set since it was called: budget=5" in call("show", "run.db")
    assert run(6).nfev == 6
    assert "budget" not in call("show", "run.db").splitlines()[3]
    assert "All 6 decisions follow" in call("replay", "run.db")


@pytest.mark.parametrize("never", ["0", "none"])
def test_giving_up_never_is_said_as_for_minimize(never: str) -> None:
    assert call("set", "run.db", f"give_up_after={never}") == f"Set give_up_after=None. {REST}\n"


def test_a_run_at_work_and_a_budget_that_is_spent() -> None:
    with DriverLock(Path("run.db")):
        assert call("set", "run.db", "workers=2") == "Set workers=2. The run follows within a second or so.\n"
    told = call("set", "run.db", "budget=2")
    assert told == f"Set budget=2. {REST} 3 evaluations have ended already, so it is spent.\n"


def test_a_run_that_ends_because_of_what_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    change = aegisbo.study.change
    with ExitStack() as driver:
        driver.enter_context(DriverLock(Path("run.db")))

        def change_and_end(study: Path, **changes: Any) -> dict[str, Any]:
            made = change(study, **changes)
            driver.close()
            return dict(made)

        monkeypatch.setattr("aegisbo.study.change", change_and_end)
        assert call("set", "run.db", "target=9") == "Set target=9. The run follows within a second or so.\n"


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        (["run.db", "budget"], InvalidInput, "The setting 'budget' sets nothing: write NAME=VALUE"),
        (["run.db", "budget=many"], InvalidInput, "budget is 'many': give a whole number of evaluations, at least 1"),
        (["run.db", "budgte=3"], UnknownName, "Unknown setting 'budgte': did you mean 'budget'"),
        (
            ["run.db", "seed=3"],
            InvalidInput,
            "seed cannot be changed while a run goes on: earlier choices",
        ),
        (["none.db", "budget=3"], StudyError, "There is no study file none.db"),
    ],
)
def test_bad_input_gets_one_sentence(words: list[str], kind: type[AegisError], message: str) -> None:
    before = read_events(Path("run.db"))
    with pytest.raises(kind, match=message):
        call("set", *words)
    assert read_events(Path("run.db")) == before
