"""One optimizer in many threads: nothing is lost, nothing comes twice, and nobody waits for a choice but who asked."""

from __future__ import annotations

import copy
import pickle
import sys
import time
from collections.abc import Callable, Iterator
from threading import Barrier, Event, Thread, local
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from aegisbo import Optimizer
from aegisbo.errors import TrialError
from aegisbo.optimizer import Trial
from aegisbo.optimizer import blas_threads as blas_threads_module
from aegisbo.optimizer.blas_threads import one_blas_thread
from aegisbo.strategies.base import Evidence, Suggestion

BOX = [(-5, 10), (2, 3)]
THREADS, ASKS = 4, 25


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*jobs: Callable[[], object]) -> None:
    """Run all jobs at once; their errors are this test's."""
    barrier, errors = Barrier(len(jobs)), []

    def run(job: Callable[[], object]) -> None:
        try:
            barrier.wait(60)
            job()
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=run, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    assert not any(thread.is_alive() for thread in threads)


class Witness:
    """Checks that what it is shown is all trials before this one; observed points have a negative value."""

    def __init__(self) -> None:
        self.inconsistent: list[Any] = []

    def suggest(self, evidence: Evidence, memory: Any, rng: np.random.Generator) -> Suggestion:
        count = memory.get("count", 0)
        trials = (evidence.y >= 0).sum() + len(evidence.failed) + len(evidence.pending)
        if trials != count or len(evidence.X) != len(evidence.y):
            self.inconsistent.append((trials, count))
        time.sleep(0)  # let the others in
        return Suggestion(rng.random(2), {"count": count + 1}, {"move": "witness"})


def prepared(strategy: Any) -> Optimizer:
    """An optimizer whose strategy chooses from the first ask on."""
    optimizer = Optimizer(BOX, strategy=strategy, seed=0, n_initial=0)
    for x in ([-5, 2], [10, 2], [0, 3]):
        optimizer.observe(x, -1.0)
    return optimizer


@pytest.mark.usefixtures("hasty")
def test_nothing_is_lost_and_every_choice_sees_all_before_it() -> None:
    witness = Witness()
    optimizer = prepared(witness)
    asked: list[Trial] = []

    def work() -> None:
        for _ in range(ASKS):
            trial = optimizer.ask()
            asked.append(trial)
            assert optimizer.trials[trial.number].params == trial.params
            if trial.number % 3 == 0:
                optimizer.fail(trial, "odd")
            else:
                optimizer.tell(trial, float(trial.number))

    def watch() -> None:
        for k in range(ASKS):
            optimizer.observe([k / 10, 2.5], -1.0)
            result, state = optimizer.result(), optimizer.state()
            assert result.nfev == sum(trial.state != "pending" for trial in result.trials)
            assert state["memory"].get("count", 0) == len(state["trials"])

    together(*[work] * THREADS, watch)
    total = THREADS * ASKS
    assert sorted(trial.number for trial in asked) == list(range(total))
    assert [trial.number for trial in optimizer.trials] == list(range(total))
    assert {trial.number: trial.value for trial in optimizer.trials if trial.state == "done"} == {
        number: float(number) for number in range(total) if number % 3
    }
    assert [trial.number for trial in optimizer.observed] == [-1 - k for k in range(3 + ASKS)]
    assert witness.inconsistent == []
    # As if one thread had asked: a point depends on the seed and its number only
    alone = prepared(Witness())
    assert [alone.ask().params for _ in range(total)] == [trial.params for trial in optimizer.trials]


@pytest.mark.usefixtures("hasty")
def test_a_trial_ends_once_whoever_tells() -> None:
    optimizer = Optimizer(BOX, strategy="random", seed=0)
    trials = [optimizer.ask() for _ in range(50)]
    ends: list[tuple[int, float]] = []

    def work(value: float) -> None:
        for trial in trials:
            try:
                optimizer.tell(trial, value)
                ends.append((trial.number, value))
            except TrialError:
                pass

    together(*[lambda value=float(k): work(value) for k in range(THREADS)])
    assert sorted(ends) == [(trial.number, trial.value) for trial in optimizer.trials]


def test_nobody_waits_for_a_choice_but_who_asks() -> None:
    entered, go = Event(), Event()

    class Slow(Witness):
        def suggest(self, evidence: Evidence, memory: Any, rng: np.random.Generator) -> Suggestion:
            entered.set()
            assert go.wait(120)
            return super().suggest(evidence, memory, rng)

    slow = Slow()
    optimizer = prepared(slow)
    go.set()
    first, second, third = (optimizer.ask() for _ in range(3))
    go.clear(), entered.clear()
    asking = Thread(target=optimizer.ask, daemon=True)
    asking.start()
    assert entered.wait(60)

    def everything_else() -> None:
        optimizer.tell(first, 1.0)
        optimizer.fail(second, "odd")
        optimizer.expire(third)
        optimizer.observe([1, 2.5], -2.0)
        assert optimizer.result().nfev == 2
        assert len(optimizer.state()["trials"]) == 3
        assert optimizer.best is not None
        assert optimizer.pending == ()
        pickle.dumps(optimizer.evidence())

    together(everything_else)  # which ends although the choice has not
    assert asking.is_alive()
    go.set()
    asking.join(60)
    assert [trial.state for trial in optimizer.trials] == ["done", "failed", "lost", "pending"]
    assert optimizer.memory == {"count": 4}
    assert slow.inconsistent == []  # the three results that came in meanwhile were not known to it


def test_a_copy_goes_on_by_itself() -> None:
    optimizer = Optimizer(BOX, strategy="aegis", seed=3)
    for _ in range(6):
        optimizer.tell(trial := optimizer.ask(), float(trial.x.sum()))
    expected = optimizer.state()
    copies = [copy.copy(optimizer), copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))]
    following = optimizer.ask()
    for each in copies:
        assert each.state() == expected
        assert each.ask() == following


def test_the_limit_of_blas_threads_outlasts_the_first_who_leaves_and_no_longer() -> None:
    with threadpool_limits(2, "blas"):
        one, other = one_blas_thread(), one_blas_thread()
        one.__enter__()
        other.__enter__()
        one.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        other.__exit__(None, None, None)
        assert set(blas_threads()) == {2}


def test_every_one_of_four_living_threads_has_one_blas_thread_inside_a_suggestion_and_two_afterwards() -> None:
    inside: list[int] = []

    class Curious:
        def suggest(self, evidence: Evidence, memory: Any, rng: np.random.Generator) -> Suggestion:
            inside.extend(blas_threads())
            return Suggestion(rng.random(2), memory, {"move": "curious"})

    optimizer, turn = prepared(Curious()), Barrier(THREADS)

    def work() -> None:
        for _ in range(5):
            turn.wait(60)  # all threads live on between their suggestions, as those of a driver do
            optimizer.tell(optimizer.ask(), 0.0)

    with threadpool_limits(2, "blas"):
        together(*[work] * THREADS)
        assert set(blas_threads()) == {2}
    assert len(inside) >= 5 * THREADS
    assert set(inside) == {1}


def test_a_thread_with_a_limit_of_its_own_gets_its_own_number_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """As MKL and OpenBLAS on OpenMP have it: two threads leave in the order in which they came."""
    library = CountsByThread()
    nothing = ThreadpoolController().select(filepath="none")
    monkeypatch.setattr(blas_threads_module, "_libraries", lambda: (library, nothing))
    came, left = Event(), Event()
    numbers: list[int] = []

    def first() -> None:
        library.count.number = 3
        with one_blas_thread():
            numbers.append(library.count.number)
            came.set()
        numbers.append(library.count.number)
        left.set()

    def second() -> None:
        library.count.number = 5
        came.wait(60)
        with one_blas_thread():
            left.wait(60)
            numbers.append(library.count.number)
        numbers.append(library.count.number)

    together(first, second)
    assert numbers == [1, 3, 1, 5]


class CountsByThread:
    """A stand-in for threadpoolctl's controller of a library that has one number for each thread."""

    def __init__(self) -> None:
        self.count = local()

    def limit(self, limits: int) -> Any:
        before, self.count.number = self.count.number, limits
        return SimpleNamespace(restore_original_limits=lambda: setattr(self.count, "number", before))


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
