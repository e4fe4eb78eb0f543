"""The outcome of a run, in the words of SciPy's results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aegisbo.optimizer.trial import Trial


@dataclass(frozen=True, repr=False)
class Result:
    """The best point and how it was found; `x` is None and `fun` is NaN if no trial gave a value."""

    x: Any  # in the form that the function receives
    fun: float  # as measured, so the largest one if it was maximized; the posterior mean at x if values are noisy
    nfev: int  # evaluations that came to an end, also without a value
    success: bool  # whether there is a best point
    message: str
    trials: tuple[Trial, ...]
    best: Trial | None  # the one at x, with the value measured there
    idle: Mapping[str, float] | None = None  # shares of the workers' time, by cause; None if nobody kept account

    def __repr__(self) -> str:
        states = Counter(trial.state for trial in self.trials)
        counts = ", ".join(f"{count} {state}" for state, count in states.items())
        lines = {**vars(self), "trials": f"{len(self.trials)} ({counts})" if counts else "0"}
        del lines["best"]
        if self.idle is None:
            del lines["idle"]
        else:
            lines["idle"] = ", ".join(f"{share:.1%} {cause}" for cause, share in self.idle.items())
        return "\n".join(f"{name:>8}: {value}" for name, value in lines.items())
