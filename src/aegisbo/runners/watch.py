"""Looks at each finished evaluation, and ends the run when there is a reason to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from shlex import quote

from aegisbo.address import Place
from aegisbo.optimizer import Core, Found, Trial
from aegisbo.optimizer.failure_reasons import without_numbers
from aegisbo.options import Options
from aegisbo.outcome import FAILURES, NO_NUMBER, NOT_MEASURED, Outcome
from aegisbo.runners.command import NOT_STARTED
from aegisbo.runners.progress import Teller
from aegisbo.runners.protocol import Finished, StopRun
from aegisbo.stop_when import StopWhen, stop_when_of

Callback = Callable[[Trial, Found[Core]], None]  # a finished trial and what was found so far
Judge = Callable[[Core, StopWhen], str | None]  # why a run is to end by a rule; None if it may go on

GROWTH = 1.2  # a chance is asked for again when there are so many times as many results
ENOUGH = 5  # first failures, all for the same reason, after which a run without any value ends

# Programming errors; bad values raise others, such as ValueError, ArithmeticError or RuntimeError.
ERRORS = (
    *("TypeError", "NameError", "UnboundLocalError", "AttributeError", "KeyError", "SystemExit"),
    *("SyntaxError", "IndentationError"),
)
SIGNS = re.compile(rf"(?:{'|'.join(ERRORS)})(?::|$)|ProgramFailed: (?:{NOT_STARTED}|.*ended with code 12[67]:)")


def never(optimizer: Core, rule: StopWhen) -> None:
    """A judge who lets every run go on."""


@dataclass
class Watch:
    """Checks each finished evaluation: callbacks, target, failures."""

    optimizer: Core
    callbacks: tuple[Callback, ...]
    options: Options
    tell: Teller
    study: Place | None
    judge: Judge = never
    news: bool = True  # since it was last asked whether going on is worth it
    next_look: float = 0.0  # results from which a chance is asked for again
    failures: dict[int, Outcome] = field(default_factory=dict)  # of this call, by trial number
    values: set[int] = field(default_factory=set)  # trials of this call that gave one

    def __call__(self, job: Finished) -> None:
        self.tell(job)
        trial = self.optimizer.trial(job.number)
        if trial.state == "pending":
            self._unusable(job)
            return  # lost: it runs again
        self.news = True
        if trial.state == "done":
            self.values.add(job.number)
        try:
            for callback in self.callbacks:
                callback(trial, self.optimizer.found())
        except StopIteration as stop:
            raise StopRun(str(stop) or "A callback ended the run.") from None
        self._reached(trial)
        if trial.state in FAILURES:
            self.failures.setdefault(job.number, job.outcome)
            self._hopeless()

    def change(self, options: Options) -> None:
        """Change the options; a new target may already be reached."""
        self.options = options
        self.news, self.next_look = True, 0.0
        self._reached()

    def ponder(self) -> None:
        """End the run if its rule says that going on is not worth it. It is asked while all workers are busy."""
        if self.options.stop_when is None or not self.news:
            return
        self.news, rule = False, stop_when_of(self.options.stop_when)
        if rule.chance is not None:  # which takes about a second
            results = sum(self.optimizer.tally()[:2])
            if results < self.next_look:
                return
            self.next_look = GROWTH * results
        if reason := self.judge(self.optimizer, rule):
            raise StopRun(reason)

    def _unusable(self, job: Finished) -> None:
        if job.outcome.unusable and not self.values:
            raise StopRun(
                f"The function could not be run: {job.outcome.reason}. No evaluation was counted. Install the module "
                "where the workers run, or fix the import, and make the same call again."
            )

    def _reached(self, trial: Trial | None = None) -> None:
        """End the run if the target is reached; if a trial is given, only its value is new."""
        if self.options.target is None:
            return
        reaches, noisy = self.optimizer.direction.reaches, self.optimizer.settings.noisy
        if noisy and trial is not None and (trial.value is None or not reaches(trial.value, self.options.target)):
            return  # a worse value improves no mean, so the model is not needed
        if noisy and self.optimizer.tally().done <= len(self.optimizer.space.parameters):
            return  # there is no mean yet, and a single value may be luck
        best = self._best()
        if best is not None and reaches(best, self.options.target):
            raise StopRun(f"The target {self.options.target:g} is reached.")

    def _best(self) -> float | None:
        """The best value that keeps all limits, or the best mean; None if there is none."""
        if not self.optimizer.settings.noisy:
            return self.optimizer.tally().best
        result = self.optimizer.found()
        return result.fun if result.success else None

    def _hopeless(self) -> None:
        if self.options.give_up_after is None or self.values:
            return
        failed = len(self.failures)
        if _alike_at_any_point(tuple(self.failures.values())):
            again = "" if self.study is None else f"run `aegisbo retry {quote(str(self.study))}` and "
            raise StopRun(
                f"The first {failed} evaluations failed in the same way, whatever the point. Fix the function, "
                f"then {again}make the same call again."
            )
        if failed >= self.options.give_up_after:
            raise StopRun(f"Gave up because no evaluation gave a value (give_up_after={self.options.give_up_after}).")


def _alike_at_any_point(failures: Sequence[Outcome]) -> bool:
    """Whether the first failures of a run show that every evaluation would fail, whatever the point."""
    if len(failures) != ENOUGH or not all(map(_mistake_of_the_program, failures)):
        return False
    return len({without_numbers(failure.reason) for failure in failures}) == 1


def _mistake_of_the_program(failure: Outcome) -> bool:
    of_answer = failure.reason.endswith(NO_NUMBER) or failure.reason.startswith(NOT_MEASURED)
    return of_answer or bool(SIGNS.match(failure.reason))
