"""The rules that stop early as a scheduler of Ray Tune, beside any searcher."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from aegisbo.errors import InvalidInput
from aegisbo.integrations.tune_search import STEP, UNNAMED
from aegisbo.number import as_number
from aegisbo.options import step
from aegisbo.stopping.curve import Curve
from aegisbo.stopping.curves import Curves
from aegisbo.stopping.rule import objection, rule_named

FIFO: Any = import_module("ray.tune.schedulers").FIFOScheduler


class AegisScheduler(FIFO):  # type: ignore[misc]
    """Stop trials of Ray Tune that fall behind in what they report, as `stop_early` does in aegisbo's own runs.

    Pass this to `tune.TuneConfig(scheduler=...)`, with any searcher. The step of a result is its training_iteration. It
    never stops the first trial, nor one whose last value is the best.

    Args:
        rule: "ranks" for asynchronous successive halving, or "gain".
        steps: the last step that trials report. None takes that of the longest trial that has ended by itself, and
            stops nothing before there is one.
        metric: by which trials are compared; None takes that of the TuneConfig.
        mode: "min" or "max"; None takes that of the TuneConfig.

    Raises:
        UnknownName: there is no such rule.
        InvalidInput: steps is not a number above 0.
    """

    _metric: Any  # set by Tune's scheduler

    def __init__(
        self, rule: str = "ranks", *, steps: float | None = None, metric: str | None = None, mode: str | None = None
    ) -> None:
        super().__init__()
        self._rule = rule_named(rule)
        self._steps = step("steps", steps)
        self._metric, self._mode = metric, mode
        self._numbers: dict[str, int] = {}  # of trials, by Tune's name
        self._reports: dict[int, list[tuple[float, float]]] = {}  # steps and values to be minimized
        self._ended: set[int] = set()  # by themselves
        self._gone: set[int] = set()  # stopped, or with an error

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        """Take over the Tuner's settings; False if there are some already.

        Raises:
            InvalidInput: the mode is missing.
        """
        if (self._metric and metric) or (self._mode and mode):
            return False
        self._metric, self._mode = self._metric or metric or UNNAMED, self._mode or mode
        if self._mode not in ("min", "max"):
            raise InvalidInput(f"mode is {self._mode!r}: give TuneConfig mode='min' or mode='max'.")
        return True

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        """Take note of a trial, which will run."""
        self._numbers.setdefault(trial.trial_id, len(self._numbers))

    def on_trial_result(self, tune_controller: Any, trial: Any, result: Mapping[str, Any]) -> str:
        """Whether a trial should stop after this result."""
        number, at = self._numbers[trial.trial_id], as_number(result.get(STEP))
        value = as_number(result.get(self._metric))
        reports = self._reports.setdefault(number, [])
        if at is None or value is None or (reports and at <= reports[-1][0]):  # the last result comes twice
            return str(self.CONTINUE)
        loss = -value if self._mode == "max" else value
        reports.append((at, loss if math.isfinite(loss) else math.inf))
        if not objection(self._rule, number, self._curves()):
            return str(self.CONTINUE)
        self._gone.add(number)
        return str(self.STOP)

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: Mapping[str, Any]) -> None:
        """Take note that a trial has ended, by itself if it was not stopped here."""
        if self._numbers[trial.trial_id] not in self._gone:
            self._ended.add(self._numbers[trial.trial_id])

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        """Take note that a trial has failed."""
        self._gone.add(self._numbers[trial.trial_id])

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        """Take note that a trial will not go on."""
        self._gone.add(self._numbers[trial.trial_id])

    def debug_string(self) -> str:
        """What Tune prints of it."""
        return f"AegisScheduler: {len(self._reports)} trials have reported."

    def save(self, checkpoint_path: str) -> None:
        """Save the state; Tune calls this by itself."""
        Path(checkpoint_path).write_bytes(pickle.dumps(vars(self)))

    def restore(self, checkpoint_path: str) -> None:
        """Continue from a saved state."""
        self.__dict__.update(pickle.loads(Path(checkpoint_path).read_bytes()))

    def _curves(self) -> Curves:
        of = {}
        for number, reports in self._reports.items():
            if reports:
                steps, values = np.array(reports).T
                end = float(values[-1]) if number in self._ended else None
                of[number] = Curve(steps, values, end, runs=number not in self._ended | self._gone)
        first = next((number for number in self._numbers.values() if number not in self._gone), len(self._numbers))
        lasts = [float(of[number].steps[-1]) for number in self._ended if number in of]
        return Curves(of, first, max(lasts, default=None) if self._steps is None else self._steps)
