"""Argument names of other libraries: refused with a sentence that gives ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from aegisbo.errors import InvalidInput, UnknownName

# From Optuna, scikit-optimize, hyperopt, SciPy, SMAC, Ray Tune and scikit-learn.
OURS = {
    **dict.fromkeys(("n_trials", "n_calls", "n_iter", "max_evals", "maxiter", "maxfun", "num_samples"), "budget"),
    **dict.fromkeys(("n_jobs", "n_workers", "max_workers", "max_concurrent_trials"), "workers"),
    **dict.fromkeys(("random_state", "rstate", "rng"), "seed"),
    **dict.fromkeys(("bounds", "dimensions", "search_space", "param_space"), "space"),
    **dict.fromkeys(("func", "fn", "objective"), "fun"),
    **dict.fromkeys(("n_initial_points", "n_startup_trials", "n_startup_jobs"), "n_initial"),
    **dict.fromkeys(("sampler", "algo", "algorithm", "method"), "strategy"),
    **dict.fromkeys(("direction", "mode"), "maximize"),
    "directions": "objectives",
    **dict.fromkeys(("storage", "study_name"), "study"),
    **dict.fromkeys(("show_progress_bar", "verbose", "disp"), "progress"),
    "callback": "callbacks",
    "x0": "initial",
    "walltime_limit": "timeout",
}

P = ParamSpec("P")
R = TypeVar("R")


class UnknownArgument(InvalidInput, TypeError):
    """A keyword that a call does not take."""


def names_checked(call: Callable[P, R]) -> Callable[P, R]:
    """Make a call with an unknown keyword say what the argument is called here."""
    known = signature(call).parameters

    @wraps(call)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise UnknownArgument(_remedy(name, set(known) - {"self"}))
        return call(*args, **kwargs)

    return checked


def _remedy(name: str, known: set[str]) -> str:
    ours = OURS.get(name)
    if ours is None:
        return str(UnknownName("argument", name, known))
    here = f"it is called {ours}= here" if ours in known else f"`minimize` takes it, as {ours}="
    return f"Unknown argument {name!r}: {here}."
