"""aegisbo as a searcher of Ray Tune."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from aegisbo.errors import InvalidInput, SpaceExhausted
from aegisbo.events import Reported
from aegisbo.integrations.tune_space import TuneSpace, converted
from aegisbo.number import as_finite, as_number
from aegisbo.optimizer.objectives import MOST
from aegisbo.outcome import Outcome, Wanted, as_report, judged
from aegisbo.public.optimizer_and_result import Optimizer

Searcher: Any = import_module("ray.tune.search").Searcher
UNNAMED = import_module("ray.tune.result").DEFAULT_METRIC  # of a trainable that returns a number
STEP, SECONDS = "training_iteration", "time_total_s"  # which Tune adds to each result


class AegisSearch(Searcher):  # type: ignore[misc]
    """Suggest points with regard to those still running; pass this to `tune.TuneConfig(search_alg=...)`.

    The space is the `param_space` of the Tuner. Tune decides how many trials run at a time (`max_concurrent_trials`).
    A trial that ends with an error or without a finite value counts as failed.

    With `steps`, the last training_iteration of a trial that is not stopped, the model learns of a trial that a
    scheduler has stopped before where it would probably have ended; else its last value counts.

    Args:
        metric: what to optimize, or a list of two to four metrics; None takes that of the TuneConfig.
        mode: "min" or "max", or a list with one for each metric; None takes that of the TuneConfig.
        options: arguments of `aegisbo.Optimizer`, such as strategy, seed or n_initial. A metric that has a limit must
            be reported, too. Give the rule to stop early to an `AegisScheduler` instead.

    Raises:
        InvalidInput: metric and mode do not fit together, or there is a rule to stop early.
    """

    _metric: Any  # set by Tune's Searcher: one, or a list
    _mode: Any

    def __init__(
        self, metric: str | list[str] | None = None, mode: str | list[str] | None = None, **options: Any
    ) -> None:
        if (isinstance(metric, list) or isinstance(mode, list)) and not _are_paired(metric, mode):
            raise InvalidInput(
                f"metric is {metric!r} and mode is {mode!r}: give one of each, or a list of two to {MOST} metrics and "
                "one with 'min' or 'max' for each."
            )
        if options.get("stop_early"):
            raise InvalidInput(
                f"stop_early is {options['stop_early']!r}, but in Tune it is schedulers that stop trials: leave it "
                "out, and give TuneConfig scheduler=AegisScheduler()."
            )
        super().__init__(metric=metric, mode=mode)
        self.optimizer: Optimizer | None = None  # made as soon as the space is known
        self._options = options
        self._space: TuneSpace | None = None
        self._numbers: dict[str, int] = {}  # of trials, by Tune's name

    def set_search_properties(
        self, metric: str | None, mode: str | None, config: Mapping[str, Any], **spec: Any
    ) -> bool:
        """Take over the Tuner's settings; False if there is a space already.

        Raises:
            InvalidInput: the space has something that aegisbo cannot search, or the mode is missing.
        """
        if self.optimizer is not None:
            return False
        self._metric, self._mode = self._metric or metric or UNNAMED, self._mode or mode
        several = isinstance(self._mode, list)
        if not several and self._mode not in ("min", "max"):
            raise InvalidInput(f"mode is {self._mode!r}: give TuneConfig mode='min' or mode='max'.")
        self._space = converted(config)
        objectives: Any = list(zip(self._metric, self._mode, strict=True)) if several else ()
        self.optimizer = Optimizer(
            self._space.parameters, objectives=objectives, maximize=self._mode == "max", **self._options
        )
        return True

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """The next point, in the form of the `param_space`; FINISHED if a finite space has no more.

        Raises:
            InvalidInput: there is no space yet.
        """
        if self.optimizer is None or self._space is None:
            raise InvalidInput("There is nothing to search: give the Tuner a param_space with tune.uniform and so on.")
        try:
            trial = self.optimizer.ask()
        except SpaceExhausted:
            return str(self.FINISHED)
        self._numbers[trial_id] = trial.number
        return self._space.nested(trial.params)

    def on_trial_result(self, trial_id: str, result: Mapping[str, Any]) -> None:
        """Take in what a trial reports while it runs."""
        number = self._numbers.get(trial_id)
        if number is None or self.optimizer is None or isinstance(self._metric, list):
            return
        value, at = as_number(result.get(self._metric)), as_finite(result.get(STEP))
        if value is not None and at is not None:
            self.optimizer.apply(Reported(number, *as_report(value, at, as_number(result.get(SECONDS)))))

    def on_trial_complete(self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False) -> None:
        """Take in how a trial ended; one that was stopped before it reported anything is lost and frees its point."""
        number = self._numbers.get(trial_id)
        if number is None or self.optimizer is None:
            return  # not one of ours
        if self.optimizer.trial(number).state not in ("pending", "lost"):
            self.optimizer.retry(number)  # Tune has run it again
        outcome = self._outcome(result, error, self.optimizer.settings.wanted)
        if result is not None:
            if outcome.state in ("done", "invalid") and self._was_stopped(number, result):
                outcome = Outcome("stopped", reason="A scheduler of Ray Tune stopped it.")
            self.on_trial_result(trial_id, result)
        self.optimizer.end(number, outcome)

    def _was_stopped(self, number: int, result: Mapping[str, Any]) -> bool:
        """Whether a scheduler has stopped a trial before its end: then it alone has seen the last result."""
        optimizer, at = self.optimizer, as_number(result.get(STEP))
        if optimizer is None or at is None or optimizer.settings.limits:
            return False
        end, reports = optimizer.settings.steps, optimizer.trial(number).reports
        return end is not None and at < end and (not reports or at > reports[-1].step)

    def _outcome(self, result: Mapping[str, Any] | None, error: bool, wanted: Wanted) -> Outcome:
        if error:
            return Outcome("failed", reason="Ray Tune reports an error.")
        if result is None:
            return Outcome("lost", reason="It was stopped before it reported anything.")
        for metric in wanted.objectives or [self._metric]:
            if metric not in result:
                return Outcome("failed", reason=f"It reported no {metric!r}.")
        measured = {name: result[name] for name in wanted.names if name in result}
        return judged(measured if wanted.objectives else (result[self._metric], measured), wanted)

    def save(self, checkpoint_path: str) -> None:
        """Save the state; Tune calls this by itself."""
        Path(checkpoint_path).write_bytes(pickle.dumps(vars(self)))

    def restore(self, checkpoint_path: str) -> None:
        """Continue from a saved state."""
        self.__dict__.update(pickle.loads(Path(checkpoint_path).read_bytes()))


def _are_paired(metric: object, mode: object) -> bool:
    """Whether these are two to four metrics, and how each is to be."""
    if not isinstance(metric, list) or not isinstance(mode, list):
        return False
    return 2 <= len(metric) == len(mode) <= MOST and all(each in ("min", "max") for each in mode)
