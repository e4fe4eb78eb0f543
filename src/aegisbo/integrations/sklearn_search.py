"""aegisbo with the interface of scikit-learn's searches."""

from __future__ import annotations

import os
import re
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs, hash
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._validation import _insert_error_scores, _warn_or_raise_about_fit_failures
from sklearn.utils import check_random_state, indexable
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_method_params

from aegisbo.errors import AegisError, InvalidInput, StudyError
from aegisbo.integrations.sklearn_folds import SCORE, TIMES, Fold, Folds, folds_of, require_scores
from aegisbo.integrations.sklearn_space import converted
from aegisbo.integrations.sklearn_steps import in_steps
from aegisbo.optimizer import Trial
from aegisbo.public.minimize import minimize
from aegisbo.public.optimizer_and_result import Result
from aegisbo.space import Space
from aegisbo.space.space import SpaceLike
from aegisbo.strategies.base import Strategy
from aegisbo.study.stored_function import AnotherFunction


class AegisSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search the parameters of an estimator by cross-validation, with workers that never wait for each other.

    Use it like `RandomizedSearchCV`. It has the same attributes after `fit`: `cv_results_`, `best_estimator_`,
    `best_params_`, `best_score_`, `best_index_`, `scorer_`, `n_splits_`, `refit_time_`, `multimetric_`, and those of
    the best estimator. `result_` is what `aegisbo.minimize` returns, for figures and predictions. With `objectives`,
    `front_` has the rows of `cv_results_` that no other beats in everything, sorted by the first objective.

    Args:
        estimator: the estimator to fit.
        space: parameters by the names that `estimator.set_params` knows, such as svc__C. Each is one of aegisbo's
            (`Real`, `Int`, `Choice`, a pair (low, high)), a list of choices of any kind, or `uniform`, `loguniform`
            or `randint` of scipy.stats. Where a condition (`when`) does not hold, the estimator keeps its own value.
        n_iter: how many candidates to evaluate; fewer if the space has fewer.
        scoring: as for `RandomizedSearchCV`. Of several scores, the search maximizes the one that `refit` names,
            otherwise the first, unless there are `objectives`.
        objectives: two to four of the scores to be maximized at once, by name ("score" if there is only one), among
            which "fit_time" and "score_time" stand for the times, to be minimized. `refit` decides as usual which
            candidate is the best.
        n_jobs: candidates evaluated at a time, each with all its splits in one process. None evaluates one at a time in
            this process, -1 uses all cores. With `executor`, how many of its workers to use; None uses all.
        refit: as for `RandomizedSearchCV`: whether to refit, by which score or by which function of `cv_results_`.
        cv: as for `RandomizedSearchCV`.
        verbose: 1 shows progress, 2 and more also show what scikit-learn prints.
        error_score: as for `RandomizedSearchCV`: the score of a split whose fit failed, or "raise". A candidate whose
            mean is not finite counts as a failure, and the search learns where fits fail.
        return_train_score: whether `cv_results_` includes training scores.
        random_state: makes all random numbers of the search repeatable.
        strategy: as for `aegisbo.minimize`.
        preset: as for `aegisbo.minimize`.
        executor: where candidates are evaluated, as for `aegisbo.minimize`: "threads", a Dask client, "slurm", ...
        study: a file that records the search. After a crash, the same call continues it. It belongs to this estimator,
            these data and these splits.
        timeout: seconds for the search, not counting the final fit of the best estimator.
        trial_timeout: seconds after which a candidate counts as failed; not for one worker in this process or threads.
        steps: train every candidate in so many steps, all splits side by side, and report their mean score after each:
            passes over the data, if the estimator has `partial_fit`, or equal shares of an ensemble that can grow
            (`warm_start` with `n_estimators`). None calls `fit`.
        stop_early: stop candidates whose reports fall behind, as for `aegisbo.minimize`. They have no scores and rank
            last.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in BaseSearchCV._parameter_constraints.items() if name != "pre_dispatch"},
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "steps": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        estimator: Any,
        space: Space | SpaceLike,
        *,
        n_iter: int = 50,
        scoring: Any = None,
        objectives: Sequence[str] | None = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        random_state: Any = None,
        strategy: str | Strategy = "aegis",
        preset: str | None = None,
        executor: Any = None,
        study: str | os.PathLike[str] | None = None,
        timeout: float | None = None,
        trial_timeout: float | None = None,
        steps: int | None = None,
        stop_early: bool | str = False,
    ) -> None:
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.objectives = objectives
        self.n_iter = n_iter
        self.random_state = random_state
        self.strategy = strategy
        self.preset = preset
        self.executor = executor
        self.study = study
        self.timeout = timeout
        self.trial_timeout = trial_timeout
        self.steps = steps
        self.stop_early = stop_early

    def fit(self, X: Any, y: Any = None, **params: Any) -> AegisSearchCV:
        """Run the search, then fit the best estimator to all data.

        Args:
            X: the data, in the form that the estimator takes.
            y: the targets; None if there are none.
            params: arguments for the estimator's `fit`, and `groups` for the splitter; with scikit-learn's metadata
                routing, for whatever requests them.

        Returns:
            The search itself.

        Raises:
            InvalidInput: the space or another argument is not valid.
            StudyError: the study belongs to another search.
            ValueError: all fits failed.
            EvaluationFailed: a fit raised an exception in a worker, and `error_score` is "raise".
            AegisError: no candidate was evaluated.
        """
        self._validate_params()
        scorers, metric = self._get_scorers()
        objectives = self._checked_objectives(scorers)
        X, y = indexable(X, y)
        routed = self._get_routed_params_for_fit(_check_method_params(X, params=params))
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(splitter.split(X, y, **routed.splitter.split))
        self.n_splits_ = len(splits)
        options = {
            "scorer": scorers,
            "fit_params": routed.estimator.fit,
            "score_params": routed.scorer.score,
            "return_train_score": self.return_train_score,
            "return_n_test_samples": True,
            "return_times": True,
            "error_score": self.error_score,
            "verbose": self.verbose,
        }
        folds = Folds(
            name=self._name(X, y, splits, params),
            estimator=clone(self.estimator),
            X=X,
            y=y,
            splits=splits,
            metric=self.refit if isinstance(self.refit, str) else None,
            objectives=objectives,
            converted=converted(self.space),
            options=options,
            config=get_config(),
            steps=self._checked_steps(y),
        )
        self.result_ = self._searched(folds)
        self._conclude(folds, metric)
        if self.refit:
            self._fit_best(folds)
        self.scorer_ = getattr(scorers, "_scorers", scorers)
        return self

    def set_callbacks(self, *callbacks: Any) -> AegisSearchCV:
        """Refuse callbacks of scikit-learn 1.9 and later, which would have to run where candidates are evaluated."""
        raise InvalidInput(f"AegisSearchCV cannot call {callbacks!r}: use verbose=1, or a study and `aegisbo serve`.")

    def _checked_objectives(self, scorers: Any) -> list[str]:
        """The names of the objectives; those of scores are known here unless a function returns them."""
        given = [] if self.objectives is None else self.objectives
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            raise InvalidInput(
                f"objectives must be a list of scores, such as ['accuracy', 'fit_time'], got {given!r}: scores are "
                "maximized, and times minimized."
            )
        names = list(given)
        if len(names) == 1:
            raise InvalidInput(f"{names[0]!r} is the only objective: leave objectives out, and name a score in refit.")
        if not callable(self.scoring):
            require_scores(names, getattr(scorers, "_scorers", [SCORE]))
        return names

    def _checked_steps(self, y: Any) -> int | None:
        """In how many steps candidates are trained."""
        if self.steps is not None:
            in_steps(clone(self.estimator), self.steps, y)
        elif self.stop_early:
            raise InvalidInput("stop_early needs steps, after which candidates report: say how many.")
        return self.steps

    def _name(self, X: Any, y: Any, splits: Sequence[Any], params: Mapping[str, Any]) -> str:
        """The text by which a study identifies the function."""
        kind = type(self.estimator).__name__
        if self.study is None:
            return kind
        texts = [self.estimator.__repr__(N_CHAR_MAX=10**9), repr(self.scoring), repr(self.refit)]
        told = [re.sub(r" at 0x[0-9a-f]+", "", text) for text in texts]  # the same in every process
        content: tuple[Any, ...] = (X, y, splits, params, told, self.error_score, self.return_train_score)
        return f"{kind}_{hash(content if self.steps is None else (*content, self.steps))}"

    def _searched(self, folds: Folds) -> Result:
        one_here = self.executor is None and self.n_jobs in (None, 1)
        ours = isinstance(self.random_state, Integral) or self.random_state is None
        directions: Any = [(name, "min" if name in TIMES else "max") for name in folds.objectives]
        try:
            return minimize(
                folds,
                folds.converted.space,
                budget=self.n_iter,
                workers=None if one_here or self.n_jobs is None else effective_n_jobs(self.n_jobs),
                strategy=self.strategy,
                preset=self.preset,
                seed=self.random_state if ours else int(check_random_state(self.random_state).randint(2**31)),
                study=self.study,
                executor="serial" if one_here else self.executor,
                timeout=self.timeout,
                trial_timeout=self.trial_timeout,
                raise_errors=True,  # failed fits raise no error unless error_score="raise"
                progress=self.verbose > 0,
                maximize=not directions,
                objectives=directions,
                stop_early=self.stop_early,
                steps=self.steps,
            )
        except AnotherFunction as error:  # its remedy, anyway=True, does not exist here
            raise StudyError(
                f"{self.study} was made for another estimator, other data, splits or scores: use another file."
            ) from error

    def _conclude(self, folds: Folds, metric: Any) -> None:
        """Set the attributes that scikit-learn's searches have after `fit`."""
        ended = [trial for trial in self.result_.trials if trial.state not in ("pending", "lost", "forgotten")]
        if not ended:
            raise AegisError(f"No candidate was evaluated: {self.result_.message}")
        out = self._folds(ended)
        self.multimetric_ = isinstance(out[0]["test_scores"], dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(out[0]["test_scores"])
            metric = self.refit
        self.cv_results_ = self._results(ended, [folds.converted.values(trial.params) for trial in ended], out)
        if folds.objectives:
            rows = {trial.number: row for row, trial in enumerate(ended)}
            self.front_ = np.array([rows[trial.number] for trial in self.result_.front], dtype=np.intp)
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, metric, self.cv_results_)
            if not callable(self.refit):
                self.best_score_ = self.cv_results_[f"mean_test_{metric}"][self.best_index_]
            self.best_params_ = self.cv_results_["params"][self.best_index_]

    def _folds(self, ended: Sequence[Trial]) -> list[Fold]:
        """The folds of all candidates; those that were stopped have not failed, but have no scores."""
        missing, train = np.nan if self.error_score == "raise" else self.error_score, self.return_train_score
        out: list[Fold] = []
        whole: list[Fold] = []
        for trial in ended:
            stopped = trial.state == "stopped"
            folds = folds_of(trial.details, self.n_splits_, np.nan if stopped else missing, train=train)
            out += folds
            whole += [] if stopped else folds
        _warn_or_raise_about_fit_failures(whole, self.error_score)
        _insert_error_scores(out, np.nan)  # by name, if there are several scores
        _insert_error_scores(whole, missing)
        return out

    def _results(
        self, ended: Sequence[Trial], candidates: Sequence[Mapping[str, Any]], out: Sequence[Fold]
    ) -> dict[str, Any]:
        reached = [int(trial.reports[-1].step) if trial.reports else 0 for trial in ended]
        more = {"steps": reached} if self.steps is not None and not self.objectives else {}
        with warnings.catch_warnings():
            if any(trial.state == "stopped" for trial in ended):  # whose scores nobody expects to be finite
                warnings.filterwarnings("ignore", "One or more of the test scores", UserWarning)
            results: dict[str, Any] = self._format_results(candidates, self.n_splits_, out, more)
        return results

    def _fit_best(self, folds: Folds) -> None:
        best = clone(folds.estimator).set_params(**clone(self.best_params_, safe=False))
        begin = time.time()
        targets = () if folds.y is None else (folds.y,)
        fit = best.fit if folds.steps is None else in_steps(best, folds.steps, folds.y)
        for _ in range(folds.steps or 1):
            fit(folds.X, *targets, **folds.options["fit_params"])
        self.refit_time_ = time.time() - begin
        self.best_estimator_ = best
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
