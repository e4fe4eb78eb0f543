"""The outcome of a run, in the words of SciPy's results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aegisbo.optimizer.failures import counted, in_words
from aegisbo.optimizer.trial import Trial

REASONS = 3  # that a message names


@dataclass(frozen=True, repr=False)
class Result:
    """The best point and how it was found; `x` is None and `fun` is NaN if no trial gave a value."""

    x: Any  # in the form that the function receives
    fun: float  # as measured, so the largest one if it was maximized; the posterior mean at x if values are noisy
    nfev: int  # evaluations that came to an end, also without a value
    success: bool  # whether there is a best point
    ending: str  # why it ends here
    trials: tuple[Trial, ...]
    best: Trial | None  # the one at x, with the value measured there
    idle: Mapping[str, float] | None = None  # shares of the workers' time, by cause; None if nobody kept account

    @property
    def failures(self) -> dict[str, int]:
        """Why evaluations gave no value, and how often, the most frequent reason first.

        Reasons that differ only in numbers are counted under the first of them.
        """
        return counted(self.trials)

    @property
    def message(self) -> str:
        """Why it ends here, and what went wrong on the way."""
        failures = self.failures
        failed = sum(failures.values())
        if not failed:
            return self.ending
        reasons = "; ".join(reason.rstrip(".") for reason in in_words(failures, REASONS))
        said = f"{self.ending} {failed} of {self.nfev} evaluations gave no value: {reasons}."
        return said if failed < self.nfev else f"{said}{self._remedy()}"

    def _remedy(self) -> str:
        """How to find out more, if an error was raised somewhere."""
        number = next((trial.number for trial in self.trials if trial.traceback), None)
        if number is None:
            return ""
        return (
            f' To see where: executor="serial" raises the error, result.trials[{number}].traceback holds it, and '
            f"for a study `aegisbo show FILE --trial {number}` shows it."
        )

    def __repr__(self) -> str:
        states = Counter(trial.state for trial in self.trials)
        counts = ", ".join(f"{count} {state}" for state, count in states.items())
        lines = {
            **{name: getattr(self, name) for name in ("x", "fun", "nfev", "success", "message")},
            "trials": f"{len(self.trials)} ({counts})" if counts else "0",
        }
        if self.idle is not None:
            lines["idle"] = ", ".join(f"{share:.1%} {cause}" for cause, share in self.idle.items())
        return "\n".join(f"{name:>8}: {value}" for name, value in lines.items())
