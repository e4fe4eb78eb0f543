"""Whose mistake a failure is: the program's, wherever the point lies, or perhaps the point's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aegisbo.optimizer.failure_reasons import without_numbers
from aegisbo.outcome import NO_NUMBER, NOT_MEASURED, Outcome
from aegisbo.runners.command import NOT_STARTED

ENOUGH = 5  # failures in a row, all for the same reason, before a run without any value ends

# A value out of range raises others: ValueError, ArithmeticError, AssertionError, RuntimeError, MemoryError.
ERRORS = (
    *("TypeError", "NameError", "UnboundLocalError", "AttributeError", "KeyError", "SystemExit"),
    *("SyntaxError", "IndentationError"),
)
SIGNS = re.compile(rf"(?:{'|'.join(ERRORS)})(?::|$)|ProgramFailed: (?:{NOT_STARTED}|.*ended with code 12[67]:)")


def of_the_program(outcome: Outcome) -> bool:
    """Whether the function would have failed like this at any other point, too."""
    of_answer = outcome.reason.endswith(NO_NUMBER) or outcome.reason.startswith(NOT_MEASURED)
    return of_answer or bool(SIGNS.match(outcome.reason))


def hopeless(failures: Sequence[Outcome]) -> bool:
    """Whether the first failures of a run say that all others would be the same."""
    if len(failures) != ENOUGH or not all(map(of_the_program, failures)):
        return False
    return len({without_numbers(failure.reason) for failure in failures}) == 1
