"""Executors of other people: ones that break, that cannot cancel, and that have exceptions of their own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import aegisbo
from aegisbo.errors import InvalidInput
from aegisbo.runners.pools.make_pool import make_pool
from aegisbo.runners.protocol import StopRun

BOX = [(-5, 10), (2, 3)]
PATIENCE = 120.0


class WorkerLost(Exception):
    """What some engine calls a death."""


class Uncancelable(Future[Any]):
    """Says so, as Parsl's futures do."""

    def cancel(self) -> bool:
        raise NotImplementedError("Cancel not implemented")


class Odd(Executor):
    """Runs a call in a thread, or does what its plan says for the n-th one: it raises, or the executor breaks."""

    def __init__(self, plan: dict[int, BaseException] | None = None) -> None:
        self.plan = {} if plan is None else plan
        self.futures: list[Future[Any]] = []
        self.broken: BaseException | None = None
        self.down = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.broken is not None:
            raise self.broken
        future: Future[Any] = Uncancelable()
        self.futures.append(future)
        error = self.plan.pop(len(self.futures) - 1, None)
        if isinstance(error, BrokenExecutor):
            self._break(error)
        elif error is not None:
            threading.Thread(target=future.set_exception, args=(error,)).start()
        else:
            threading.Thread(target=lambda: self._run(future, function, args)).start()
        return future

    def _run(self, future: Future[Any], function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        answer = function(*args)
        if not future.done():
            future.set_result(answer)

    def _break(self, error: BaseException) -> None:
        self.broken = error
        waiting = [future for future in self.futures if not future.done()]
        threading.Thread(target=lambda: [future.set_exception(error) for future in waiting]).start()

    def shutdown(self, wait: bool = True) -> None:  # type: ignore[override] # as loky's
        self.down = True


def value(x: np.ndarray) -> float:
    return float(x[0] ** 2 + x[1])


def minimize(executor: Any, **options: Any) -> aegisbo.Result:
    settings = {"budget": 6, "workers": 1, "seed": 1, "strategy": "random", **options}
    return aegisbo.minimize(value, BOX, executor=executor, **settings)


def test_an_exception_of_the_engines_own_is_a_loss_and_no_failure() -> None:
    result = minimize(Odd({0: WorkerLost("worker 3 at host b\nand more"), 2: KeyError("no such task")}))
    assert [trial.state for trial in result.trials] == ["done"] * 6


def test_a_point_whose_worker_dies_every_time_fails_after_the_last_retry() -> None:
    result = minimize(Odd({k: WorkerLost(f"worker {k}\nand more") for k in range(3)}), retries=2)
    assert [trial.state for trial in result.trials] == ["failed"] + ["done"] * 5
    assert result.trials[0].reason == "Its worker died 3 times: WorkerLost: worker 2"
    assert result.trials[0].traceback == "WorkerLost: worker 2\nand more"


def test_a_package_that_is_missing_over_there_ends_the_run_before_anything_counts() -> None:
    result = minimize(Odd({0: ModuleNotFoundError("No module named 'aegisbo'")}))
    assert result.message.startswith("The function could not be run: ModuleNotFoundError: No module named 'aegisbo'.")
    assert [trial.state for trial in result.trials] == ["pending"]


def test_futures_that_cannot_be_canceled_do_no_harm_at_the_end() -> None:
    together, turn, gate = threading.Barrier(2, timeout=PATIENCE), iter([False, True]), threading.Event()

    def second_waits(x: np.ndarray) -> float:
        together.wait()
        if next(turn):
            gate.wait(PATIENCE)
        return value(x)

    def enough(trial: aegisbo.Trial, result: aegisbo.Result) -> None:
        raise StopIteration("Enough.")

    with ThreadPoolExecutor(2) as executor:
        executor.submit = _uncancelable(executor.submit)  # type: ignore[method-assign]
        result = aegisbo.minimize(second_waits, BOX, budget=4, executor=executor, callbacks=[enough], seed=1)
        gate.set()
    assert result.ending == "Enough."
    assert sorted(trial.state for trial in result.trials) == ["done", "pending"]


def _uncancelable(submit: Callable[..., Future[Any]]) -> Callable[..., Future[Any]]:
    def wrapped(*args: Any) -> Future[Any]:
        future = submit(*args)
        future.cancel = Uncancelable.cancel.__get__(future)  # type: ignore[method-assign]
        return future

    return wrapped


def test_a_broken_executor_ends_the_run_and_says_what_to_give_instead(tmp_path: Path) -> None:
    study = tmp_path / "run.db"
    result = minimize(Odd({3: BrokenExecutor("a worker died")}), study=study)
    assert result.message.startswith(
        "The executor takes no more jobs (BrokenExecutor: a worker died). Nothing that has"
    )
    assert "executor=lambda: Odd(...)" in result.message
    assert [trial.state for trial in result.trials] == ["done"] * 3 + ["pending"]
    assert [trial.state for trial in minimize(Odd(), study=study).trials] == ["done"] * 6


def test_the_remedy_names_no_private_class_and_takes_one_line() -> None:
    class _Hidden(Odd):
        pass

    result = minimize(_Hidden({0: BrokenExecutor("a worker died\n\nand a long story")}))
    assert "_Hidden" not in result.message
    assert "(BrokenExecutor: a worker died). Nothing that has ended is lost." in result.message
    assert "executor=lambda: ..., and make the same call again." in result.message


class Reusable(Odd):
    """As loky's, of which there is one in a process."""

    executor_id, _max_workers, _initializer, _env = 0, 1, None, None
    made: ClassVar[list[Odd]] = []


def get_reusable_executor(max_workers: int) -> Reusable:
    Reusable.made.append(Reusable())
    return Reusable.made[-1]  # type: ignore[return-value]


def test_an_executor_that_can_be_had_again_is_had_again_and_left_open() -> None:
    Reusable.made.clear()
    result = minimize(Reusable({2: BrokenExecutor("a worker died")}))
    assert [trial.state for trial in result.trials] == ["done"] * 6
    assert [executor.down for executor in Reusable.made] == [False]


@pytest.mark.parametrize("own", ["_initializer", "_env"])
def test_one_with_an_initializer_or_variables_of_its_own_is_not(own: str) -> None:
    executor = Reusable({2: BrokenExecutor("a worker died")})
    setattr(executor, own, {"A": "1"})
    assert minimize(executor).message.startswith("The executor takes no more jobs (BrokenExecutor: a worker died).")


@pytest.mark.long
def test_lokys_own_executor_survives_a_point_that_kills_its_worker() -> None:
    loky = pytest.importorskip("loky")

    def deadly(x: np.ndarray) -> float:
        if x[0] > 5.0:
            os._exit(3)
        return float(x[0])

    executor = loky.get_reusable_executor(2)
    result = aegisbo.minimize(deadly, BOX, budget=8, executor=executor, seed=1, strategy="random", retries=1)
    states = {(trial.x[0] > 5.0, trial.state) for trial in result.trials}
    assert states == {(False, "done"), (True, "failed")}
    loky.get_reusable_executor().shutdown()


def test_a_function_that_makes_executors_makes_another_one_and_all_are_shut_down() -> None:
    made = [Odd({2: BrokenExecutor("first")}), Odd({1: BrokenExecutor("second")}), Odd()]
    rest = iter(made)
    result = minimize(lambda: next(rest))
    assert [trial.state for trial in result.trials] == ["done"] * 6
    assert [executor.down for executor in made] == [True, True, True]


def test_ctrl_c_while_a_job_is_handed_over_is_no_fault_of_the_executor() -> None:
    executor = Odd()
    executor.broken = StopRun("Stopped by Ctrl-C.")
    result = minimize(lambda: executor)
    assert result.message == "Stopped by Ctrl-C."


def test_one_that_takes_no_jobs_at_all_is_not_made_for_ever() -> None:
    made: list[Odd] = []

    def make() -> Odd:
        made.append(Odd())
        made[-1].broken = RuntimeError("no license")
        return made[-1]

    result = minimize(make)
    assert result.message.startswith("The executor broke, and the new one takes no jobs (RuntimeError: no license).")
    assert len(made) == 2


@pytest.mark.parametrize("made", [None, "threads", object()])
def test_a_function_that_makes_something_else_is_refused(made: Any) -> None:
    with pytest.raises(InvalidInput, match=r"executor\(\) returned .*: it must make a concurrent.futures.Executor"):
        minimize(lambda: made)


def test_an_executor_of_our_own_is_shut_down_if_the_function_cannot_travel() -> None:
    executor, lock = Odd(), threading.Lock()
    with pytest.raises(InvalidInput, match="cannot be sent to another process"):
        aegisbo.minimize(lambda x: float(lock.locked()), BOX, budget=2, executor=lambda: executor)
    assert executor.down


def test_what_an_executor_held_when_it_broke_is_lost_together() -> None:
    executor = Odd({2: BrokenExecutor("a worker died")})
    gate = threading.Event()
    with closing(make_pool(executor, lambda x: 1.0, 3)) as pool:
        executor.submit = _at_the_gate(executor.submit, gate)  # type: ignore[method-assign]
        for number in range(3):
            pool.submit(number, 1.0)
        jobs: list[Any] = []
        while len(jobs) < 3:
            jobs += pool.collect(PATIENCE)
        gate.set()
    assert {(job.outcome.state, job.outcome.shared) for job in jobs} == {("lost", True)}
    with closing(make_pool(Odd({0: BrokenExecutor("a worker died")}), lambda x: 1.0, 3)) as pool:
        pool.submit(0, 1.0)
        (job,) = pool.collect(PATIENCE)
    assert not job.outcome.shared


def _at_the_gate(submit: Callable[..., Future[Any]], gate: threading.Event) -> Callable[..., Future[Any]]:
    def wait(function: Callable[..., Any], *args: Any) -> Any:
        gate.wait(PATIENCE)
        return function(*args)

    return lambda *call: submit(wait, *call)
