"""One family of exceptions: every message names the offending value and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Iterable


class AegisError(Exception):
    """Anything that aegisbo raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process boundaries: they are rebuilt from their message, whatever their constructor takes.
        return _rebuilt, (type(self), self.args)


def _rebuilt(kind: type[AegisError], args: tuple[object, ...]) -> AegisError:
    error = kind.__new__(kind)
    error.args = args
    return error


class InvalidInput(AegisError, ValueError):
    """An argument that is not valid."""


class UnknownName(InvalidInput):
    """A name that is not known; the message suggests the nearest one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        from difflib import get_close_matches  # here, because worker processes import this file

        known = sorted(known)
        folded = {entry.lower(): entry for entry in known}
        near = get_close_matches(str(name).lower(), folded, n=1, cutoff=0.5)
        hint = f"did you mean {folded[near[0]]!r}?" if near else f"known: {', '.join(known) or 'none'}."
        super().__init__(f"Unknown {kind} {name!r}: {hint}")


class TrialError(AegisError):
    """A trial number that was never asked for, or that has already ended."""


class NoModel(AegisError):
    """The run has no model, or none yet."""


class SpaceExhausted(AegisError):
    """Every point of a finite space has been evaluated or is being evaluated."""


class NoTime(AegisError):
    """Probably no evaluation started now would finish in time."""


class MissingExtra(AegisError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str, package: str = "aegisbo") -> None:
        super().__init__(f"{feature} needs an optional package: pip install '{package}[{extra}]'")


class EvaluationFailed(AegisError):
    """The function raised an exception in a worker, and the caller asked for it (`raise_errors`)."""

    def __init__(self, number: int, reason: str, traceback: str) -> None:
        super().__init__(
            f"Trial {number} failed: {reason}. It is still pending: fix the function and run the same call again, or "
            f"leave out raise_errors to count it as failed. In the worker:\n\n{traceback or reason}"
        )


class Stopped(BaseException):  # so that `except Exception` in a training loop does not hold it, as with Ctrl-C
    """The run does not need this evaluation any more: `report` raises it, to end the evaluation."""


class SeveralObjectives(AegisError, AttributeError):
    """A question about one number, asked of a run that has several."""


class OneNumber(AegisError, AttributeError):
    """A question about several objectives, asked of a run that has one number."""


# What Python raises on data that make no sense, such as those of a file that was edited.
OF_NONSENSE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


class StudyError(AegisError):
    """A study file that cannot be read, written or continued."""


def require_posix(feature: str, instead: str = "") -> None:
    """Refuse a feature that Windows cannot offer.

    Args:
        feature: what needs Linux or macOS, as the plural subject of a sentence.
        instead: what to use there, apart from WSL.

    Raises:
        AegisError: this is another system.
    """
    if os.name != "posix":
        remedy = f"use WSL, or {instead}" if instead else "use WSL"
        raise AegisError(f"{feature} need Linux or macOS, this is {os.name}: {remedy}.")
