"""What a run has found, in the words of SciPy's results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, Generic, NamedTuple, TypeVar

from aegisbo.address import Address, Place
from aegisbo.arrays import Array
from aegisbo.errors import OneNumber, SeveralObjectives
from aegisbo.optimizer.best import LimitStanding
from aegisbo.optimizer.failure_reasons import counted, failure_lines
from aegisbo.optimizer.objectives import Objective
from aegisbo.optimizer.several import Several
from aegisbo.optimizer.trial import Trial, in_brief, name_of, states_of
from aegisbo.outcome import RESULTS
from aegisbo.printable import printable, so_many

Whose_co = TypeVar("Whose_co", covariant=True)  # kind of optimizer: the core, or that of users

REASONS = 3  # that a message names
CAUSES = {"suggestion": "waiting for a suggestion", "pool": "starting up", "nothing": "out of work"}  # of idle time


class Single(NamedTuple):
    """The best trial of a run for one number, and that number."""

    trial: Trial
    fun: float


@dataclass(frozen=True, repr=False)
class Found(Generic[Whose_co]):
    """The best point, or the front of several objectives, and how it was found."""

    nfev: int  # evaluations that came to an end, also without a value
    success: bool  # whether there is a best point that keeps all limits, and nobody stopped the run by Ctrl-C
    ending: str  # why it ends here
    trials: tuple[Trial, ...]
    optimizer: Whose_co = field(compare=False)  # as it was then: it can be asked, and goes on by itself
    single: Single | None = None  # the best by one number; None if no trial gave a value
    several: Several | None = None  # the front of several objectives; None if there is one number
    limits: tuple[LimitStanding, ...] = ()  # how the best stands to each: what was measured, how far, whether it binds
    idle: Mapping[str, float] | None = None  # shares of the workers' time, by cause; None if nobody kept account
    study: Place | None = field(default=None, compare=False)  # where the run is written down, if it is

    @property
    def x(self) -> Any:
        """The best point, in the form that the function receives; None if no trial gave a value."""
        self._require_one_number("x")
        return None if self.single is None else self.single.trial.x

    @property
    def fun(self) -> float:
        """The best value as measured, so the largest one if it was maximized; NaN if no trial gave a value.

        If values are noisy, it is the posterior mean at x.
        """
        self._require_one_number("fun")
        return math.nan if self.single is None else self.single.fun

    @property
    def best(self) -> Trial | None:
        """The trial at x, with the value measured there; None if no trial gave a value."""
        self._require_one_number("best")
        return None if self.single is None else self.single.trial

    def _require_one_number(self, name: str) -> None:
        if self.objectives:
            raise SeveralObjectives(f"There are several objectives, so there is no {name}: use front.")

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """The names and directions of several objectives; empty if there is one number."""
        return () if self.several is None else self.several.objectives

    @property
    def front(self) -> tuple[Trial, ...]:
        """Of several objectives, the trials that no other beats in everything, sorted by the first objective."""
        return () if self.several is None else self.several.front

    @property
    def extremes(self) -> dict[str, Trial]:
        """Of several objectives, the trial of the front that is best in each, by name of the objective."""
        return self._of_several("extremes", "best").extremes

    @property
    def compromise(self) -> Trial | None:
        """Of several objectives, the trial of the front nearest to the ideal point; None without a front.

        The ideal point has the best value of each objective. Distances are Euclidean, after each objective is divided
        by its range over the front.
        """
        return self._of_several("compromise", "best").compromise

    @property
    def reference(self) -> dict[str, float] | None:
        """Of several objectives, the default reference point of `hypervolume`, by name; None without a front.

        It lies beyond the worst values of the front by a tenth of its range in each objective. Where the front has no
        range, that of all trials counts, and 1 if they have none either.
        """
        return self._of_several("reference", "fun").reference

    def hypervolume(self, reference: Mapping[str, float] | None = None) -> Array:
        """Compute the hypervolume of several objectives after each evaluation, in the order in which they ended.

        It is the volume of what the trials so far dominate, up to a reference point. Points observed elsewhere count
        from the start. Trials that break a limit add nothing.

        Args:
            reference: the reference point, a number for each objective by name; the default is `result.reference`.

        Returns:
            An array with a number for each evaluation that has ended, the final hypervolume last.

        Raises:
            InvalidInput: the reference does not give a number for each objective.
        """
        several = self._of_several("hypervolume", "fun")
        ended = [trial for trial in self.trials if trial.state in RESULTS]
        return several.hypervolume(sorted(ended, key=lambda trial: (trial.ended or 0.0, trial.number)), reference)

    def _of_several(self, name: str, instead: str) -> Several:
        if self.several is None:
            raise OneNumber(f"There is one number and not several objectives, so there is no {name}: use {instead}.")
        return self.several

    @property
    def failures(self) -> dict[str, int]:
        """Why evaluations gave no value, and how often, the most frequent reason first.

        Reasons that differ only in numbers are counted under the first of them.
        """
        return counted(self.trials)

    @property
    def message(self) -> str:
        """Why it ends here, what went wrong on the way, and if all did, how to find out more."""
        failed = sum(self.failures.values())
        return f"{self.summary}{self._remedy()}" if failed and failed == self.nfev else self.summary

    @property
    def summary(self) -> str:
        """Why it ends here, and what went wrong on the way."""
        failures, stopped = self.failures, sum(trial.state == "stopped" for trial in self.trials)
        failed = sum(failures.values())
        ending = f"{self.ending} {stopped} of {self.nfev} evaluations were stopped early." if stopped else self.ending
        if not failed:
            return ending
        reasons = "; ".join(reason.rstrip(".") for reason in failure_lines(failures, REASONS))
        return f"{ending} {failed} of {self.nfev} evaluations gave no value: {reasons}."

    def _remedy(self) -> str:
        """How to find out more, if an error was raised somewhere."""
        number = next((trial.number for trial in self.trials if trial.traceback), None)
        if number is None:
            return ""
        shown = (
            ""
            if self.study is None
            else f", and `aegisbo show {quote(str(_from_here(self.study)))} --trial {number}` shows it"
        )
        return f' To see where: executor="serial" raises the error, result.trials[{number}].traceback holds it{shown}.'

    def _lines(self) -> dict[str, Any]:
        counts = states_of(self.trials)
        lines = {
            **(self.front_lines() if self.objectives else {"x": self.x, "fun": self.fun}),
            **{name: getattr(self, name) for name in ("nfev", "success", "message")},
            "trials": f"{len(self.trials)} ({counts})" if counts else "0",
        }
        if self.limits:
            lines["limits"] = "; ".join(map(str, self.limits))
        if self.idle is not None:
            lines["idle"] = ", ".join(f"{share:.1%} {CAUSES[cause]}" for cause, share in self.idle.items())
        return lines

    def front_lines(self) -> dict[str, str]:
        """The front in short."""
        found = {"front": so_many(len(self.front), "trial")}
        if self.several is None or self.compromise is None or self.reference is None:
            return found
        names = [each.name for each in self.objectives]

        def told(trial: Trial) -> str:
            return f"{in_brief({name: trial.measured[name] for name in names})} ({name_of(trial)})"

        return {
            **found,
            **{f"best {name}": told(trial) for name, trial in self.extremes.items()},
            "compromise": told(self.compromise),
            "hypervolume": f"{self.several.final:.6g}, reference {in_brief(self.reference)}",
        }

    def __repr__(self) -> str:
        lines = self._lines()
        width = max(8, *map(len, lines))
        return printable("\n".join(f"{name:>{width}}: {value}" for name, value in lines.items()))


def _from_here(path: Place) -> Place:
    """A name of the study that a command can be given."""
    if isinstance(path, Address):
        return path
    try:
        here = Path.cwd()
    except OSError:  # the folder has been removed
        return path
    return path.relative_to(here) if path.is_relative_to(here) else path
