"""`minimize`: a function, a space and some workers in; the best point out, with every evaluation on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from shlex import quote
from typing import Any

from aegisbo.address import Named
from aegisbo.keywords import names_checked
from aegisbo.optimizer import Core, Found, Settings, Trial
from aegisbo.optimizer.objectives import Objectives
from aegisbo.optimizer.settings import check_target
from aegisbo.options import OPTIONS, SETTINGS, Options
from aegisbo.public.optimizer_and_result import Result
from aegisbo.runners.arguments import check_call, check_file, checked_callbacks
from aegisbo.runners.drive import drive, found_by
from aegisbo.runners.interrupt import ctrl_c
from aegisbo.runners.loop import SPENT
from aegisbo.runners.observed import observed_elsewhere
from aegisbo.runners.pools.environment import WorkerEnv
from aegisbo.runners.progress.log_lines import logger
from aegisbo.runners.recipe import objective_of, place, recipe
from aegisbo.runners.run import Run
from aegisbo.runners.steering import with_changes
from aegisbo.space.constraints import Constraint
from aegisbo.space.space import Space, SpaceLike
from aegisbo.stop_when import StopWhen
from aegisbo.strategies.base import Strategy
from aegisbo.study import Study

Callback = Callable[[Trial, Result], None]  # a finished trial and the result so far; raises StopIteration to end


@names_checked
def minimize(
    fun: Callable[..., Any],
    space: Space | SpaceLike,
    *,
    budget: int,
    workers: int | None = None,
    strategy: str | Strategy = "aegis",
    preset: str | None = None,
    n_initial: int | None = None,
    seed: int | None = None,
    study: Named | None = None,
    executor: Any = None,
    threads_per_worker: int | None = None,
    worker_env: WorkerEnv | None = None,
    timeout: float | None = None,
    trial_timeout: float | None = None,
    retries: int = 2,
    target: float | None = None,
    stop_when: str | None = None,
    give_up_after: int | None = 20,
    raise_errors: bool | None = None,
    initial: Iterable[Any] | None = None,
    observed: Any = None,
    callbacks: Iterable[Callback] = (),
    progress: bool | None = None,
    maximize: bool = False,
    noisy: bool = False,
    cost: str | None = None,
    constraints: Iterable[Constraint] = (),
    limits: Iterable[str] = (),
    objectives: Objectives = (),
    stop_early: bool | str = False,
    steps: float | None = None,
    resumable: bool = False,
    anyway: bool = False,
) -> Result:
    """Find where an expensive function is smallest, with workers that never wait for each other.

    Args:
        fun: the function. It is called as fun(lr=..., units=...) if the parameters have names, otherwise as fun(x). To
            run a program, give `Command("./simulate --lr {lr}")`.
        space: parameters by name, or a list of parameters or (low, high) pairs.
        budget: total number of evaluations, including those that fail and those already in the study.
        workers: how many evaluations run at a time; by default one per core, or as many as the executor has.
        strategy: a name that `aegisbo strategies` lists, or an object such as `aegisbo.strategies.Aegis(gamma=0.2)`.
        preset: the variant of a strategy given by name; None uses its default.
        n_initial: how many points to spread over the space first; by default twice the number of parameters.
        seed: makes all random numbers repeatable; None picks a seed.
        study: a file that records the run, or an address on a PostgreSQL server, such as
            "postgresql://host/base?study=run7" (docs/server.md). The same call with the same study continues it, and
            may widen the space. Only one process at a time can do so.
        executor: where evaluations run: "processes" (the default), "threads", "serial" (here, for debugging),
            a concurrent.futures.Executor, a function that makes one (and another if it breaks), a Dask Client, the
            address of a Dask scheduler, "slurm" or `aegisbo.executors.Slurm(minutes=30, memory_gb=8)`, "ray" or
            `aegisbo.executors.Ray(num_gpus=1)`.
        threads_per_worker: how many threads BLAS and OpenMP may use in each worker process. By default each process
            gets an equal share of the cores, at least one. A variable that you have set yourself, such as
            OMP_NUM_THREADS, stays as it is. Only for executor="processes".
        worker_env: environment variables of the worker processes, set before they load the function: a mapping, whose
            values may hold {slot}, or a function of the slot, as in `lambda slot: {"CUDA_VISIBLE_DEVICES": str(slot)}`.
            Slots are numbered 0, 1, ...; the function reads its own from `aegisbo.worker().slot` or from the variable
            AEGISBO_SLOT. Only for executor="processes" and SLURM.
        timeout: seconds for the whole call. An evaluation that would probably not finish in time is not started. This
            is predicted from how long earlier evaluations took, and at which points. Near the end, quicker points are
            chosen if there are any.
        trial_timeout: seconds for one evaluation, counted from the call of the function. An evaluation that takes
            longer is stopped and counts as a failure.
        retries: how often an evaluation is repeated if its worker dies.
        target: stop when a value is this good. If values are noisy, the posterior mean has to be, not one lucky value.
        stop_when: end the call when going on is hardly worth it, by a sentence: "chance of 1% better in the next 50 <
            0.05" or "no 1% better in 30". 1% is one of the distance from the best value to the median of the first
            ones; without the sign it is an amount. While the model does not predict well, no chance ends a run; see
            docs/odds.md.
        give_up_after: end the call after this many evaluations if none has given a value, because the function is
            probably broken; None never gives up. The call ends after five if all of them failed in the same way through
            a programming error, such as a TypeError or a return value that is not a number.
        raise_errors: whether the first exception of the function ends the call. executor="serial" raises that exception
            itself, the others raise EvaluationFailed. The trial stays pending, so the same call runs it again. None
            means True for "serial" only; False counts the exception as a failed trial.
        initial: points to evaluate first.
        observed: results from elsewhere. Give a list of (point, value) pairs, with NaN for a point that failed; with
            limits, add what was measured: (point, value, {"latency": 3.2}). Or give earlier results, of which those
            that fit the space are used: the name of a study or a CSV file, a DataFrame, a result, a list of trials, an
            `aegisbo.study.Earlier`, which takes options, or a list of these. The model learns from them and the best
            may be among them, but they do not count as evaluations. With n_initial=0 they replace the points spread
            over the space first. A study keeps them.
        callbacks: called with each finished trial and the result so far; one that raises StopIteration ends the run.
            If a callback has the methods on_begin or on_end, they are called with the result first and last.
            `aegisbo.integrations` has some that log to MLflow, Weights & Biases and TensorBoard.
        progress: whether to show progress; None shows it only on a terminal and in a notebook.
        maximize: find where the function is largest instead.
        noisy: the function gives a different value each time, so the best measured value may be luck. The result
            is then the evaluated point with the best posterior mean, and `fun` is that mean. In a finite space AEGiS
            evaluates a point again where that helps to decide which is best.
        cost: "time" makes AEGiS prefer points that are quick to evaluate, if they gain more per second. It learns the
            times during the run. Where all points take equally long, it changes nothing.
        constraints: rules that a point must satisfy to be evaluated: texts such as "a < b" or "x + 2*y <= 3", or
            functions that take parameters by name and return a bool; see docs/constraints.md.
        limits: bounds on quantities that the function measures, such as "latency <= 5". The function then returns
            value, {"latency": 3.2}. The result is the best point that keeps all limits; `result.limits` says which of
            them bind.
        objectives: two to four numbers to make as good as possible at once, by name, each with "min" or "max", such as
            {"accuracy": "max", "latency": "min"}. The function then returns a mapping with these names, and
            `result.front` has the trials that no other beats in everything. An objective that follows from the
            parameters is a pair of "min" or "max" and a function of them, such as ("min", size_of), and need not be
            measured; see docs/objectives.md.
        stop_early: stop evaluations that fall behind in what they report by `aegisbo.report(value, step)`, and let
            their workers begin others; see docs/stopping.md. Reports alone change no choice. True stands for "gain".
        steps: the last step that evaluations report, for `stop_early`. Without it, it is that of the longest one with
            a value, and none is stopped before there is one.
        resumable: give each evaluation a folder, `aegisbo.worker().folder`, which stays the same if its worker dies or
            it is stopped early. It can keep its state there. One that was stopped may then go on later. Beside a study
            the folders are in a folder named like it, with .trials added; without a study they are temporary.
        anyway: continue a study even if it holds values of another function, or of an earlier version of this one.

    Returns:
        The best point (`x`, `fun`) or the `front` of several objectives, every trial, why the run ended (`message`)
        and how idle the workers were (`idle`). If no evaluation gave a value, no exception is raised: `success` is
        False and `x` is None. After Ctrl-C `success` is False too, and the rest of the result is complete.

    Raises:
        InvalidInput: an argument is not valid; nothing has been evaluated.
        StudyError: the study belongs to another run, is in use, or cannot be written.
        EvaluationFailed: the function raised an exception, and `raise_errors` is True.
        AegisError: the cluster that `executor` names does not answer.
    """
    given = locals()  # all arguments by name: which there are is written in the table of options
    settings = Settings.checked(space, **{name: given[name] for name in SETTINGS})
    check_call(fun, settings.space, executor, workers, threads_per_worker, worker_env)
    OPTIONS["budget"].check("budget", budget)  # which `work` may leave open
    options = Options.checked(**{name: given[name] for name in OPTIONS if name in given})
    check_target(options.target, settings)
    check_file(study)
    called = checked_callbacks(callbacks)
    pairs, earlier = observed_elsewhere(observed, settings, fun, study)
    call = {**options.describe(), **recipe(fun), **place(executor, threads_per_worker)}
    if study is None:
        book = Study(Core(settings))
    else:
        book = Study.open(study, settings, say=logger.warning, objective=objective_of(fun), call=call, anyway=anyway)
    found: Found[Core] | None = None
    with ExitStack() as last:
        with book:
            book.observe(pairs)
            book.learn(earlier)
            _tell(called, "on_begin", book.found("It goes on."))
            last.callback(lambda: _tell(called, "on_end", found or book.found("It ended with an error.")))
            record = _driven(book, fun, with_changes(options, book.changed, book.path), called)
        found = _found_by(book, record)  # now that the study is closed: a file that was taken away has another name
    return Result.of(found)


def _driven(book: Study, fun: Callable[..., Any], options: Options, callbacks: Iterable[Callback]) -> Run | None:
    """How the run went; None if its budget was spent before."""
    remaining = options.budget - book.optimizer.found().nfev
    if remaining < 1:
        book.closed(SPENT, [])
        return None
    signals = ctrl_c(logger.warning, book.hurry)
    watching = tuple(partial(_with_result, book, callback) for callback in callbacks)
    return drive(book, fun, options, remaining, signals, lambda: not signals.came, watching, judge=judged)


def _found_by(book: Study, record: Run | None) -> Found[Core]:
    if record is not None:
        return found_by(book, record)
    found = book.found(SPENT)
    again = f"{SPENT} After `aegisbo retry {quote(str(book.path))}` the same call continues it."
    return found if found.success else replace(found, ending=again)


def judged(optimizer: Core, rule: StopWhen) -> str | None:
    """Why a run is to end by its rule; None if it may go on."""
    from aegisbo.review.odds import why_end

    return why_end(optimizer, rule)


def _with_result(book: Study, callback: Callback, trial: Trial, found: Found[Core]) -> None:
    callback(trial, Result.of(replace(found, study=book.file)))


def _tell(callbacks: Iterable[Callback], name: str, found: Found[Core]) -> None:
    """Call the method of this name of the callbacks that have it."""
    for method in (getattr(callback, name, None) for callback in callbacks):
        if method is not None:
            method(Result.of(found))
