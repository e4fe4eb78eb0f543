"""`minimize` from end to end: exact budgets, every reason to stop, and studies that go on where they stopped."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pool_jobs import behave

from aegisbo import Result, load, minimize
from aegisbo.errors import EvaluationFailed, InvalidInput, StudyError
from aegisbo.optimizer import Core
from aegisbo.optimizer.best import SMOOTHED
from aegisbo.space import Choice, Int, Real
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay
from aegisbo.study.state import State

BOX = [(-5, 10), (2, 3)]


def sphere(x: np.ndarray) -> float:
    return float((x**2).sum())


class Counted:
    """A function that remembers its calls."""

    def __init__(self, function: Callable[..., Any] = sphere) -> None:
        self.function = function
        self.calls: list[Any] = []

    def __call__(self, x: Any) -> Any:
        self.calls.append(x)
        return self.function(x)


def search(fun: Callable[..., Any], **rest: Any) -> Result:
    """Random search in threads, unless told otherwise."""
    return minimize(fun, rest.pop("space", BOX), **{"strategy": "random", "seed": 1, "executor": "threads", **rest})


def assert_complete(result: Result, budget: int) -> None:
    assert result.nfev == budget
    assert [trial.number for trial in result.trials] == list(range(budget))
    assert all(trial.state != "pending" for trial in result.trials)


def assert_recorded(path: Path, result: Result) -> None:
    """The file holds what the caller got, every trial asked for and ended once."""
    assert load(path).trials == result.trials
    kinds = Counter(
        (event.kind, event.number) for event in read_events(path) if event.kind in ("asked", "told", "failed")
    )
    assert set(kinds.values()) == {1}
    assert replay(path).faithful


@pytest.mark.parametrize("executor", ["threads", "serial", "processes"])
def test_the_budget_is_kept_exactly(executor: str, tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    workers = {"workers": 3} if executor != "serial" else {}
    result = search(sphere, budget=10, executor=executor, study=path, **workers)
    assert_complete(result, 10)
    assert result.message == "The budget is spent."
    assert result.success
    assert result.fun == min(sphere(trial.x) for trial in result.trials)
    assert sphere(result.x) == result.fun
    assert_recorded(path, result)


def test_every_point_is_evaluated_once() -> None:
    fun = Counted()
    result = search(fun, budget=17, workers=4)
    assert sorted(map(tuple, fun.calls)) == sorted(tuple(trial.x) for trial in result.trials)


def test_the_same_call_continues_and_a_spent_budget_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    fun = Counted()
    search(fun, budget=5, workers=2, study=path)
    result = search(fun, budget=12, workers=2, study=path)
    assert len(fun.calls) == 12
    assert_complete(result, 12)
    again = search(fun, budget=12, workers=2, study=path)
    assert len(fun.calls) == 12
    assert (again.trials, again.message) == (result.trials, "The budget is spent.")
    assert load(path).message == "The budget is spent."
    assert_recorded(path, result)


def test_without_a_study_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert_complete(search(sphere, budget=4, workers=2), 4)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_model_based_run_with_workers_improves_and_is_replayed(tmp_path: Path) -> None:
    result = search(sphere, budget=18, workers=3, strategy="aegis", n_initial=5, study=tmp_path / "run.db")
    assert_complete(result, 18)
    assert result.fun < min(trial.value for trial in result.trials[:5] if trial.value is not None)
    assert_recorded(tmp_path / "run.db", result)


def test_another_run_in_the_same_file_is_refused_and_nothing_is_evaluated(tmp_path: Path) -> None:
    fun = Counted()
    search(sphere, budget=3, study=tmp_path / "run.db")
    with pytest.raises(StudyError, match="seed is 1 in the study and 2 in this call"):
        search(fun, budget=5, seed=2, study=tmp_path / "run.db")
    assert fun.calls == []


class TestStops:
    """Each reason to stop says so, and the same call goes on from there."""

    def finish(self, fun: Counted, path: Path, budget: int, **rest: Any) -> None:
        result = search(fun, budget=budget, study=path, **rest)
        assert_complete(result, budget)
        assert_recorded(path, result)

    def test_at_the_target(self, tmp_path: Path) -> None:
        fun = Counted()
        path = tmp_path / "run.db"
        result = search(fun, budget=60, workers=1, target=12.0, seed=2, study=path)
        assert result.message == "The target 12 is reached."
        values = [trial.value for trial in result.trials]
        assert values[-1] <= 12 < min(values[:-1])
        assert load(path).message == result.message
        self.finish(fun, path, 60, seed=2)
        assert len(fun.calls) == 60

    def test_at_the_target_when_maximizing(self) -> None:
        result = search(Counted(), budget=60, workers=1, target=20.0, maximize=True)
        values = [trial.value for trial in result.trials]
        assert max(values[:-1], default=0) < 20 <= values[-1] == result.fun
        assert result.message == "The target 20 is reached."

    @pytest.mark.parametrize(("words", "message"), [(("enough",), "enough"), ((), "A callback ended the run.")])
    def test_by_a_callback(self, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
        seen: list[tuple[int, int]] = []

        def stop_after_four(trial: Any, result: Result) -> None:
            seen.append((trial.number, result.nfev))
            if result.nfev == 4:
                raise StopIteration(*words)

        fun = Counted()
        path = tmp_path / "run.db"
        result = search(fun, budget=9, workers=1, callbacks=[stop_after_four], study=path)
        assert result.message == load(path).message == message
        assert seen == [(number, number + 1) for number in range(4)]
        self.finish(fun, path, 9)
        assert len(fun.calls) == 9

    def test_when_the_time_is_up(self, tmp_path: Path) -> None:
        slow = Counted(lambda x: time.sleep(0.1) or sphere(x))
        path = tmp_path / "run.db"
        result = search(slow, budget=50, workers=2, timeout=2.0, study=path)
        assert result.message == load(path).message
        assert result.message.startswith("The time is up")
        assert 0 < result.nfev <= 42  # two workers, 2 seconds, 0.1 seconds each, and the two at the end
        self.finish(Counted(), path, 50)

    def test_when_the_time_is_up_during_the_first_evaluation(self, tmp_path: Path) -> None:
        gate = threading.Event()
        path = tmp_path / "run.db"
        result = search(lambda x: float(gate.wait(60)), budget=3, workers=2, timeout=1.0, study=path)
        gate.set()
        assert (result.nfev, result.success, len(result.trials)) == (0, False, 2)
        self.finish(Counted(), path, 3)

    def test_when_the_space_is_exhausted(self, tmp_path: Path) -> None:
        fun = Counted(lambda x: x["n"] + len(x["kind"]))
        path = tmp_path / "run.db"
        space = {"n": Int(3, 5), "kind": Choice(["a", "bb"])}
        result = search(lambda **x: fun(x), space=space, budget=99, workers=4, study=path)
        calls = len(fun.calls)
        assert 6 <= calls < 99
        assert_complete(result, calls)
        assert {tuple(x.values()) for x in fun.calls} == {(n, kind) for n in (3, 4, 5) for kind in ("a", "bb")}
        again = search(lambda **x: fun(x), space=space, budget=99, workers=4, study=path)
        assert len(fun.calls) == calls
        for end in (result, again, load(path)):
            assert end.message == "All 6 points are evaluated or pending: widen the space or stop."
        assert (result.fun, result.x) == (4.0, {"n": 3, "kind": "a"})

    def test_when_nothing_works(self, tmp_path: Path) -> None:
        def broken(x: np.ndarray) -> float:
            raise ValueError("no license")

        path = tmp_path / "run.db"
        result = search(broken, budget=300, executor="serial", raise_errors=False, study=path)
        assert result.ending == "Gave up because no evaluation gave a value (give_up_after=20)."
        assert result.failures == {"ValueError: no license": 20}
        assert (result.nfev, result.success) == (20, False)
        assert np.isnan(result.fun)
        self.finish(Counted(), path, 25)

    def test_not_when_nothing_works_but_something_did(self) -> None:
        fun = Counted(lambda x: 1.0 if len(fun.calls) == 1 else None)
        assert_complete(search(fun, budget=30, workers=1), 30)


def test_the_largest_value_is_found_and_kept_as_measured(tmp_path: Path) -> None:
    result = search(sphere, budget=8, workers=2, maximize=True, study=tmp_path / "run.db")
    assert result.fun == max(sphere(trial.x) for trial in result.trials)
    assert load(tmp_path / "run.db").fun == result.fun


class TestNoise:
    """A function whose values depend on the call, too: which one is the best is not the lowest one's to say."""

    @staticmethod
    def noisy_sphere(x: np.ndarray) -> float:
        return sphere(x) + 30.0 * np.random.default_rng(np.frombuffer(x.tobytes(), np.uint32)).normal()

    def search(self, **rest: Any) -> Result:
        given = {"strategy": "aegis", "workers": 1, "noisy": True, **rest}
        return search(self.noisy_sphere, **given)

    def test_the_result_is_the_best_posterior_mean_and_the_study_knows_it(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        self.search(budget=7, study=path)
        result = self.search(budget=14, study=path)
        assert_complete(result, 14)
        assert result.best is not None
        assert result.fun != result.best.value == self.noisy_sphere(result.x)
        assert result.message == f"The budget is spent. {SMOOTHED}"
        again, never_stopped = load(path), self.search(budget=14)
        for same in (again, never_stopped):
            assert (same.best, same.fun, same.message) == (result.best, result.fun, result.message)
        assert_recorded(path, result)

    def test_it_cannot_be_continued_as_if_there_were_no_noise(self, tmp_path: Path) -> None:
        self.search(budget=3, study=tmp_path / "run.db")
        with pytest.raises(StudyError, match="noisy is True in the study and False in this call"):
            self.search(budget=5, study=tmp_path / "run.db", noisy=False)

    def test_a_lucky_value_reaches_no_target(self) -> None:
        given = {"budget": 30, "n_initial": 30}  # all points are known beforehand
        values = [trial.value for trial in self.search(**given).trials if trial.value is not None]
        believing, doubting = (self.search(**given, target=min(values), noisy=noisy) for noisy in (False, True))
        assert believing.nfev == values.index(min(values)) + 1 < 30
        assert doubting.nfev == 30

    def test_no_model_is_asked_for_the_target_while_no_value_reaches_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = []
        plain = Core.found
        monkeypatch.setattr(Core, "found", lambda self, *message: asked.append(1) or plain(self, *message))
        calls = []
        for target in (None, -1000.0, 1000.0):
            asked.clear()
            assert (self.search(budget=8, target=target).nfev == 8) == (target != 1000.0)
            calls.append(len(asked))
        assert calls[0] == calls[1] < calls[2]

    def test_a_mean_that_reaches_the_target_ends_the_run(self) -> None:
        result = self.search(budget=40, target=60.0)
        assert result.message == f"The target 60 is reached. {SMOOTHED}"
        assert result.fun <= 60.0
        assert result.nfev < 40


def test_named_parameters_arrive_by_name() -> None:
    def train(lr: float, units: int, act: str) -> float:
        assert isinstance(units, int)
        return units * lr + len(act)

    space = {"lr": Real(1e-6, 0.1, log=True), "units": Int(16, 512), "act": Choice(["relu", "tanh"])}
    for executor in ("threads", "processes"):
        result = search(train, space=space, budget=5, workers=2, executor=executor)
        assert [trial.state for trial in result.trials] == ["done"] * 5
        assert result.fun == train(**result.x)


def test_a_worker_loads_no_more_than_the_function_needs() -> None:
    def heavy(n: int) -> float:
        found = {name.split(".")[0] for name in sys.modules} | {name for name in sys.modules if "aegisbo" in name}
        return float(len(found & {"numpy", "scipy", "aegisbo.optimizer", "aegisbo.public.minimize"}))

    assert heavy(1) == 4.0
    result = search(heavy, space={"n": Int(1, 9)}, budget=2, workers=1, executor="processes")
    assert [trial.value for trial in result.trials] == [0.0, 0.0]


def test_unnamed_parameters_arrive_as_a_vector_or_a_list_of_the_functions_own() -> None:
    def spoil(x: Any) -> float:
        total = float(sum(x))
        x[:] = [0.0] * len(x)
        return total

    for space, kind in ((BOX, np.ndarray), ([Int(2, 9), (2, 3)], list)):
        result = search(spoil, space=space, budget=4, workers=1)
        assert isinstance(result.x, kind)
        assert [trial.value for trial in result.trials] == [sum(trial.x) for trial in result.trials]


def test_initial_points_come_first_and_may_be_an_iterator() -> None:
    points = [[0.0, 2.5], [9.0, 3.0]]
    result = search(sphere, budget=5, workers=2, initial=iter(points), n_initial=3)
    assert [list(trial.x) for trial in result.trials[:2]] == points


def test_as_many_run_at_once_as_there_are_workers() -> None:
    barrier = threading.Barrier(3, timeout=60)  # opens only if three are in it together
    running = Counter()
    lock = threading.Lock()

    def together(x: np.ndarray) -> float:
        with lock:
            running["now"] += 1
            running["most"] = max(running["now"], running["most"])
        barrier.wait()
        with lock:
            running["now"] -= 1
        return 1.0

    result = search(together, budget=9, workers=3)
    assert [trial.state for trial in result.trials] == ["done"] * 9
    assert running["most"] == 3


@pytest.mark.long
def test_a_hanging_evaluation_is_stopped_where_it_can_be(tmp_path: Path, logged: list[tuple[str, str]]) -> None:
    def hangs_on_the_right(x: np.ndarray) -> float:
        while x[0] > 8:
            time.sleep(0.1)
        return sphere(x)

    path = tmp_path / "run.db"
    result = search(hangs_on_the_right, budget=4, workers=2, executor="processes", trial_timeout=3.0, study=path)
    assert_complete(result, 4)
    (stopped,) = [trial for trial in result.trials if trial.x[0] > 8]
    assert stopped.state == "timed_out"
    assert re.fullmatch(r"Stopped after [\d.]+ seconds \(trial_timeout=3\)\.", stopped.reason)
    assert stopped.seconds >= 3.0
    assert [trial.state for trial in result.trials if trial.x[0] <= 8] == ["done"] * 3
    (warning,) = (text for level, text in logged if level == "WARNING")
    assert f" gave no value: {stopped.reason} " in warning
    assert_recorded(path, result)


def test_where_it_cannot_be_it_ends_once_and_the_user_knows(tmp_path: Path, logged: list[tuple[str, str]]) -> None:
    given_up = threading.Event()
    states: list[tuple[int, str]] = []

    def slow_first(x: np.ndarray) -> float:
        return 7.5 if given_up.wait(60) else float("nan")

    def note(trial: Any, result: Result) -> None:
        states.append((trial.number, trial.state))
        given_up.set()

    path = tmp_path / "run.db"
    result = search(slow_first, budget=3, workers=1, trial_timeout=0.2, callbacks=[note], study=path)
    warning = "Threads cannot be stopped: an evaluation that takes longer than 0.2 s counts as timed out"
    assert logged[0][0] == "WARNING"
    assert logged[0][1].startswith(warning)
    assert states == [(0, "timed_out"), (1, "done"), (2, "done")]
    assert_complete(result, 3)
    assert [event.kind for event in read_events(path) if event.number == 0] == ["asked", "failed"]
    assert load(path).trials[0].state == result.trials[0].state == "timed_out"
    assert replay(path).faithful


@pytest.mark.long
def test_a_rough_run_in_threads_folds_and_replays(tmp_path: Path) -> None:
    """Values, failures and values that come too late, as they happen to fall."""

    def rough(x: np.ndarray) -> float:
        fraction = abs(x[0]) % 1
        time.sleep(0.06 * fraction)
        if fraction > 0.7:
            raise RuntimeError("too steep")
        return sphere(x)

    path = tmp_path / "run.db"
    for budget in (12, 25):
        result = search(rough, budget=budget, workers=4, trial_timeout=0.03, strategy="aegis", n_initial=4, study=path)
    assert result.nfev == 25
    assert State.after(read_events(path)).optimizer.state()["trials"] == [
        json.loads(json.dumps(t.describe())) for t in result.trials
    ]
    assert replay(path).differences == ()


@pytest.mark.long
def test_an_evaluation_that_kills_its_worker_is_tried_again_and_then_fails(tmp_path: Path) -> None:
    def deadly_on_the_right(x: np.ndarray) -> Any:
        return behave("dies with 3") if x[0] > 2.5 else sphere(x)

    path = tmp_path / "run.db"
    seen: list[str] = []
    result = search(
        deadly_on_the_right, budget=4, workers=2, executor="processes", retries=1, study=path,
        callbacks=[lambda trial, result: seen.append(trial.state)],
    )  # fmt: skip
    assert_complete(result, 4)
    deadly = [trial for trial in result.trials if trial.x[0] > 2.5]
    assert 0 < len(deadly) < 4
    for trial in deadly:
        assert (trial.state, trial.reason) == ("failed", "Its worker died 2 times: Its process ended with exit code 3.")
    lost = Counter(event.number for event in read_events(path) if event.kind == "lost")
    assert lost == {trial.number: 2 for trial in deadly}
    assert Counter(seen) == {"failed": len(deadly), "done": 4 - len(deadly)}  # nothing is said of lost ones
    assert_recorded(path, result)


class Shaky:
    """A function that raises at its second call in a worker, until it is mended; all else is the sphere."""

    def __init__(self, folder: Path, error: str = "raise ValueError('diverged')") -> None:
        self.folder, self.error = folder, error

    def __call__(self, x: np.ndarray) -> float:
        calls = len(list(self.folder.glob("*.call")))
        (self.folder / f"{calls}.call").touch()
        if calls >= 1 and not (self.folder / "mended").exists():
            exec(self.error)
        return sphere(x)


class TestRaisingErrors:
    @pytest.mark.parametrize("options", [{}, {"raise_errors": True}])
    def test_serial_raises_the_exception_itself_and_the_trial_is_run_again(
        self, tmp_path: Path, options: dict[str, Any]
    ) -> None:
        fun, path = Shaky(tmp_path), tmp_path / "run.db"
        with pytest.raises(ValueError, match=r"^diverged$") as caught:
            search(fun, budget=5, executor="serial", study=path, **options)
        assert caught.traceback[-2].name == "__call__"  # where it was raised
        assert [trial.state for trial in load(path).trials] == ["done", "pending"]
        (tmp_path / "mended").touch()
        result = search(fun, budget=5, executor="serial", study=path)
        assert_complete(result, 5)
        assert [trial.state for trial in result.trials] == ["done"] * 5
        assert_recorded(path, result)

    @pytest.mark.parametrize("error", ["raise ValueError('diverged')", "import no_such_module"])
    @pytest.mark.parametrize("executor", ["threads", "processes"])
    def test_elsewhere_it_ends_the_run_with_the_workers_traceback_if_asked(
        self, tmp_path: Path, executor: str, error: str
    ) -> None:
        fun, path = Shaky(tmp_path, error), tmp_path / "run.db"
        with pytest.raises(EvaluationFailed) as caught:
            search(fun, budget=5, workers=1, executor=executor, raise_errors=True, study=path)
        words = "ValueError: diverged" if "ValueError" in error else "ModuleNotFoundError: No module named"
        assert str(caught.value).startswith(f"Trial 1 failed: {words}")
        assert "Traceback (most recent call last)" in str(caught.value)
        assert "in __call__" in str(caught.value)
        assert [trial.state for trial in load(path).trials] == ["done", "pending"]
        (tmp_path / "mended").touch()
        assert_complete(search(fun, budget=5, study=path), 5)

    def test_serial_records_it_if_told_to_and_threads_unless_told_otherwise(self, tmp_path: Path) -> None:
        for number, options in enumerate([{"executor": "serial", "raise_errors": False}, {"executor": "threads"}]):
            folder = tmp_path / str(number)
            folder.mkdir()
            result = search(Shaky(folder), budget=3, workers=1, **options)
            assert [trial.state for trial in result.trials] == ["done", "failed", "failed"]


class TestBrokenImports:
    @pytest.mark.parametrize("retries", [0, 2])
    @pytest.mark.parametrize("executor", ["threads", "processes"])
    def test_before_there_is_a_value_it_ends_the_run_and_counts_against_no_point(
        self, tmp_path: Path, executor: str, retries: int
    ) -> None:
        fun, path = Shaky(tmp_path, "import no_such_module"), tmp_path / "run.db"
        (tmp_path / "0.call").touch()
        result = search(fun, budget=9, workers=2, executor=executor, retries=retries, study=path)
        assert result.message == load(path).message
        assert result.message.startswith(
            "The function could not be run: ModuleNotFoundError: No module named 'no_such_module'. "
            "No evaluation was counted"
        )
        assert {trial.state for trial in result.trials} == {"pending"}
        (tmp_path / "mended").touch()
        result = search(fun, budget=4, workers=2, study=path)
        assert [trial.state for trial in result.trials] == ["done"] * 4
        assert_recorded(path, result)

    def test_afterwards_it_is_tried_again_and_then_fails(self, tmp_path: Path) -> None:
        fun, path = Shaky(tmp_path, "import no_such_module"), tmp_path / "run.db"
        result = search(fun, budget=2, workers=1, retries=2, study=path)
        assert [trial.state for trial in result.trials] == ["done", "failed"]
        assert result.trials[1].reason == (
            "It could not be run 3 times: ModuleNotFoundError: No module named 'no_such_module'"
        )
        assert "in __call__" in result.trials[1].traceback
        assert_recorded(path, result)

    def test_a_module_that_the_workers_do_not_have(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "only_here.py").write_text("def fun(x):\n    return 1.0\n")
        monkeypatch.syspath_prepend(tmp_path)
        from only_here import fun

        (tmp_path / "only_here.py").unlink()
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        result = search(fun, budget=3, workers=1, executor="processes")
        assert "cannot be loaded by the worker: ModuleNotFoundError: No module named 'only_here'" in result.message
        assert [trial.state for trial in result.trials] == ["pending"]


def test_the_workers_time_is_accounted_for(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    result = search(lambda x: time.sleep(0.05) or 1.0, budget=8, workers=2, study=path)
    assert result.idle is not None
    assert set(result.idle) == {"suggestion", "pool", "nothing"}
    assert all(share >= 0 for share in result.idle.values())
    assert sum(result.idle.values()) < 1
    (closed,) = (event for event in read_events(path) if event.kind == "closed")
    totals = [sum(worker.values()) for worker in closed.body["idle"]]
    assert len(totals) == 2
    assert totals[0] == pytest.approx(totals[1], rel=1e-6)
    assert sum(worker["busy"] for worker in closed.body["idle"]) >= 8 * 0.05
    for cause, share in result.idle.items():
        assert share == pytest.approx(sum(worker[cause] for worker in closed.body["idle"]) / sum(totals))


def test_somebody_elses_executor_is_used_and_stays_open() -> None:
    executors = ThreadPoolExecutor(2), ProcessPoolExecutor(2, get_context("spawn"))
    for executor in executors:
        with executor:
            assert_complete(search(sphere, budget=5, executor=executor), 5)
            assert executor.submit(abs, -3).result() == 3


def test_a_broken_executor_ends_the_run_with_a_remedy_and_the_study_goes_on(
    tmp_path: Path, logged: list[tuple[str, str]]
) -> None:
    def deadly(x: np.ndarray) -> Any:
        return behave("dies with 3")

    path = tmp_path / "run.db"
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        broken = search(deadly, budget=5, executor=executor, study=path)
    assert broken.message.startswith("The executor takes no more jobs (BrokenProcessPool: ")
    assert "executor=lambda: ProcessPoolExecutor(...)" in broken.message
    assert ("WARNING", broken.message) in logged
    assert {trial.state for trial in broken.trials} == {"pending"}
    result = search(sphere, budget=5, study=path)
    assert_complete(result, 5)
    assert_recorded(path, result)


def test_a_function_that_cannot_travel_is_refused_before_anything_starts(tmp_path: Path) -> None:
    stream = io.open(tmp_path / "open", "w")  # noqa: SIM115, UP020
    with stream, pytest.raises(InvalidInput, match="cannot be sent to another process"):
        search(lambda x: stream.write("x"), budget=3, executor="processes")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": 0}, "budget is 0"),
        ({"budget": 5, "workers": -1}, "workers is -1"),
        ({"budget": 5, "executor": "gpu"}, "executor is 'gpu'"),
    ],
)
def test_nonsense_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        search(sphere, **wrong)


def test_an_error_in_a_callback_is_the_callers_and_the_study_goes_on(tmp_path: Path) -> None:
    def clumsy(trial: Any, result: Result) -> None:
        raise ZeroDivisionError("my own fault")

    path = tmp_path / "run.db"
    with pytest.raises(ZeroDivisionError, match="my own fault"):
        search(sphere, budget=6, workers=2, callbacks=[clumsy], study=path)
    result = search(sphere, budget=6, workers=2, study=path)
    assert_complete(result, 6)
    assert_recorded(path, result)


def test_callbacks_hear_when_the_call_begins_and_ends_if_they_want_to(tmp_path: Path) -> None:
    class Listening:
        def __init__(self) -> None:
            self.heard: list[tuple[str, int]] = []

        def __call__(self, trial: Any, result: Result) -> None:
            self.heard.append(("trial", result.nfev))
            assert result.study == tmp_path / "run.db"

        def on_begin(self, result: Result) -> None:
            self.heard.append(("begin", result.nfev))

        def on_end(self, result: Result) -> None:
            self.heard.append((result.message, result.nfev))

    def call(budget: int, *others: Any, **rest: Any) -> list[tuple[str, int]]:
        listening = Listening()
        callbacks = [lambda trial, result: None, listening, *others]
        search(sphere, budget=budget, workers=1, study=tmp_path / "run.db", callbacks=callbacks, **rest)
        return listening.heard

    spent = "The budget is spent."
    assert call(2) == [("begin", 0), ("trial", 1), ("trial", 2), (spent, 2)]
    assert call(3) == [("begin", 2), ("trial", 3), (spent, 3)]
    assert call(3) == [("begin", 3), (spent, 3)]


def test_callbacks_hear_of_the_end_also_if_it_is_an_error() -> None:
    ends: list[Result] = []

    class Clumsy:
        def __call__(self, trial: Any, result: Result) -> None:
            raise ZeroDivisionError("my own fault")

        def on_end(self, result: Result) -> None:
            ends.append(result)

    with pytest.raises(ZeroDivisionError):
        search(sphere, budget=6, workers=1, callbacks=[Clumsy()])
    assert [result.nfev for result in ends] == [1]


def test_the_user_is_told_of_a_file_system_without_a_write_ahead_log(
    tmp_path: Path, logged: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    connect = sqlite3.connect

    def by_dotfile(target: Any, *args: Any, uri: bool = False, **rest: Any) -> sqlite3.Connection:
        name = target if uri else Path(target).absolute().as_uri()
        return connect(f"{name}{'&' if '?' in name else '?'}vfs=unix-dotfile", *args, uri=True, **rest)

    monkeypatch.setattr(sqlite3, "connect", by_dotfile)
    assert_complete(search(sphere, budget=3, workers=2, study=tmp_path / "run.db"), 3)
    assert sum("without SQLite's write-ahead log" in text for level, text in logged if level == "WARNING") == 1
