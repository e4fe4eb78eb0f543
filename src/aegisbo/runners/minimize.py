"""`minimize`: a function, a space and some workers in; the best point out, with every evaluation on disk."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any

from aegisbo.errors import InvalidInput
from aegisbo.optimizer import Optimizer, Result, Trial
from aegisbo.optimizer.trial import FAILURES
from aegisbo.runners.interrupt import CtrlC
from aegisbo.runners.loop import SPENT, Rules, Run, run
from aegisbo.runners.pools import make_pool
from aegisbo.runners.protocol import Finished, StopRun, Unrecorded
from aegisbo.runners.recorder import Recorder
from aegisbo.space.space import Space, SpaceLike
from aegisbo.study import Study

HOPELESS = 20  # evaluations without a single value, after which a run ends

Show = Callable[[Callable[[], Run]], None]  # after each evaluation; the run so far is computed only if it is shown
Callback = Callable[[Trial, Result], None]  # a finished trial and the result so far; raises StopIteration to end


def minimize(
    fun: Callable[..., Any],
    space: Space | SpaceLike,
    *,
    budget: int,
    workers: int | None = None,
    strategy: str = "aegis",
    preset: str | None = None,
    n_initial: int | None = None,
    seed: int | None = None,
    study: str | os.PathLike[str] | None = None,
    executor: Any = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    retries: int = 2,
    target: float | None = None,
    initial: Iterable[Any] | None = None,
    callbacks: Iterable[Callback] = (),
    progress: bool | None = None,
    maximize: bool = False,
    noisy: bool = False,
) -> Result:
    """Find where an expensive function is smallest, with workers that never wait for each other.

    Args:
        fun: the function. With named parameters it is called as fun(lr=..., units=...), else as fun(x).
        space: parameters by name, or a list of parameters or (low, high) pairs.
        budget: evaluations in all, failed ones and those already in the study included.
        workers: how many evaluations run at a time; the number of cores unless the executor says otherwise.
        strategy: a name that `aegisbo strategies` lists.
        preset: which surrogate; None for the default.
        n_initial: points spread out at the start; twice the number of parameters unless given.
        seed: decides all random numbers; None draws one.
        study: a file that records the run. The same call with the same file continues it.
        executor: where evaluations run: "processes" (the default), "threads", "serial" (here, for debugging),
            a concurrent.futures.Executor, a Dask Client, or the address of a Dask scheduler.
        timeout: seconds for the whole call. Nothing is started that would probably not finish.
        trial_timeout: seconds for one evaluation, which is then stopped and counts as a bad point.
        retries: how often an evaluation is run again whose worker died.
        target: a value that is good enough to stop.
        initial: points to start with.
        callbacks: called with each finished trial and the result so far; one that raises StopIteration ends the run.
        progress: whether to show progress; None shows it on a terminal only.
        maximize: look for where the function is largest instead.
        noisy: the function gives another value each time, so that the best one measured is merely lucky: the result is
            then the evaluated point with the best posterior mean, and `fun` that mean.
    """
    space = space if isinstance(space, Space) else Space(space)
    if budget < 1:
        raise InvalidInput(f"budget is {budget}: ask for at least 1 evaluation.")
    settings: dict[str, Any] = {
        "strategy": strategy, "preset": preset, "seed": seed, "n_initial": n_initial,
        "initial": None if initial is None else list(initial), "maximize": maximize, "noisy": noisy,
    }  # fmt: skip
    with ExitStack() as stack:
        journal: Recorder | Unrecorded = Unrecorded()
        if study is None:
            optimizer = Optimizer(space, **settings)
        else:
            file = stack.enter_context(Study.open(study, space, settings, _say))
            optimizer, journal = file.optimizer, Recorder(file)
        remaining = budget - optimizer.result().nfev
        if remaining < 1:
            if study is not None:
                file.closed(SPENT, [])
            return optimizer.result(SPENT)
        pool = stack.enter_context(closing(make_pool(executor, _Call(fun, space.named), workers, journal)))
        if trial_timeout is not None and not pool.can_stop:
            _say(f"{pool.name} cannot be stopped: an evaluation that takes longer than {trial_timeout:g} s counts as "
                 "timed out, but keeps its worker until it returns.")  # fmt: skip
        show = stack.enter_context(_display(optimizer, budget, progress))
        ctrl_c = stack.enter_context(CtrlC(_say))
        watch = _Watch(optimizer, tuple(callbacks), target, show)
        rules = Rules(timeout, trial_timeout, retries)
        record = run(
            optimizer, pool, remaining, rules=rules, journal=journal, watch=watch, more=lambda: not ctrl_c.pressed
        )
        if study is not None:
            file.closed(record.message, [asdict(idle) for idle in record.idle])
    return replace(optimizer.result(record.message), idle=record.idle_shares)


@dataclass(frozen=True)
class _Call:
    """The user's function, called the way its parameters are given."""

    fun: Callable[..., Any]
    named: bool

    def __call__(self, x: Any) -> Any:
        # A vector of the function's own: the one that the trial keeps must not change.
        return self.fun(**x) if self.named else self.fun(x.copy())


@dataclass(frozen=True)
class _Watch:
    """Looks at each finished evaluation and ends the run when there is a reason to."""

    optimizer: Optimizer
    callbacks: tuple[Callback, ...]
    target: float | None
    show: Show

    def __call__(self, job: Finished, record: Callable[[], Run]) -> None:
        self.show(record)
        trial = self.optimizer.trials[job.number]
        if trial.state == "pending":
            return  # lost: it will be run again
        try:
            for callback in self.callbacks:
                callback(trial, self.optimizer.result())
        except StopIteration as stop:
            raise StopRun(str(stop) or "A callback ended the run.") from None
        self._reached()
        self._hopeless(trial)

    def _reached(self) -> None:
        if self.target is None:
            return
        fun = self.optimizer.result().fun  # NaN reaches nothing
        if fun >= self.target if self.optimizer.maximize else fun <= self.target:
            raise StopRun(f"The target {self.target:g} is reached.")

    def _hopeless(self, trial: Trial) -> None:
        states = Counter(trial.state for trial in self.optimizer.trials)
        failed = sum(states[state] for state in FAILURES)
        if failed >= HOPELESS and not states["done"]:
            raise StopRun(f"None of {failed} evaluations gave a value; the last one: {trial.reason}")


def _display(optimizer: Optimizer, budget: int, wanted: bool | None) -> AbstractContextManager[Show]:
    """Progress on a terminal unless it is not wanted; log files and notebooks stay quiet unless it is."""
    if wanted or (wanted is None and sys.stderr.isatty()):
        from aegisbo.runners.progress import Display  # here, because rich draws from Python's global random numbers

        return Display(optimizer, budget)
    return nullcontext(lambda record: None)


def _say(text: str) -> None:
    print(f"aegisbo: {text}", file=sys.stderr)  # noqa: T201 - what the user must know before or while the run lasts
