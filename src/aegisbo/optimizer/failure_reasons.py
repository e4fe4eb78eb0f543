"""Why trials gave no value: the reasons with their counts, and in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from aegisbo.optimizer.trial import Trial
from aegisbo.outcome import FAILURES

# An address or numbers, perhaps abbreviated as by `reprlib`; not the number in x1 or float32.
VARYING = re.compile(r"(?:0x|\.{3}x?)[0-9a-f.]+|(?<!\w)[\s.,+-]*\d[\d\s.,e+-]*", re.IGNORECASE)
LATE = re.compile(r"(Stopped|Still running) after .* \((trial_timeout=\S+)\)\.")  # as written by runners/time_limit
KIND = re.compile(r"^ProgramFailed: ")  # starts every failure of a program, so it distinguishes none
WIDTH = 120  # characters of a reason
LOOKED_AT = 500  # characters in which reasons are compared; the pattern is slow with more


def counted(trials: Iterable[Trial]) -> dict[str, int]:
    """How often each reason occurs, the most frequent first; reasons that differ only in numbers count as one.

    Evaluations that ran out of time are grouped by their limit, not by when they were stopped.
    """
    return {reason_of(same[0]): len(same) for same in by_reason(trials)}


def by_reason(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Those that failed, in groups whose reasons differ only in numbers, the largest group first."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.state in FAILURES:
            groups.setdefault(without_numbers(reason_of(trial)), []).append(trial)
    return sorted(groups.values(), key=lambda same: -len(same))


def reason_of(trial: Trial) -> str:
    """Why a trial failed, as people need it."""
    return essence(trial.reason or trial.state)


def essence(reason: str) -> str:
    """A reason as people need it; after a timeout, only that and the limit."""
    return LATE.sub(r"\1 at \2.", KIND.sub("", reason))


def without_numbers(reason: str) -> str:
    """What reasons that differ only in numbers have in common."""
    return VARYING.sub("#", reason[:LOOKED_AT])


def failure_lines(failures: Mapping[str, int], most: int) -> list[str]:
    """At most `most` reasons, each with its count; the others are counted together."""
    counts = list(failures.items())
    others = sum(count for _, count in counts[most:])
    named = [f"{count} x {cut(reason)}" for reason, count in counts[:most]]
    return [*named, f"{others} x something else"] if others else named


def cut(text: str, width: int = WIDTH) -> str:
    """The text on one line of at most `width` characters, without control codes."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= width else f"{line[: max(width - 3, 0)]}..."
