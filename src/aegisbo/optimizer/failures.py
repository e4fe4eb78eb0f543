"""Why trials gave no value: the reasons with their counts, and in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from aegisbo.optimizer.trial import Trial
from aegisbo.outcome import FAILURES

NUMBER = re.compile(r"(?<!\w)[-+]?(0x[0-9a-f]+|\d+(\.\d*)?(e[-+]?\d+)?)", re.IGNORECASE)  # not the one in x1 or float32
WIDTH = 120  # characters of a reason


def counted(trials: Iterable[Trial]) -> dict[str, int]:
    """How often each reason occurs, the most frequent first; those that differ in numbers only count as the first."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    for trial in trials:
        if trial.state in FAILURES:
            reason = trial.reason or trial.state
            name = names.setdefault(NUMBER.sub("0", reason), reason)
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def in_words(failures: Mapping[str, int], most: int) -> list[str]:
    """At most so many reasons, each with its count; the others are counted together."""
    counts = list(failures.items())
    others = sum(count for _, count in counts[most:])
    named = [f"{count} x {cut(reason)}" for reason, count in counts[:most]]
    return [*named, f"{others} x something else"] if others else named


def cut(text: str, width: int = WIDTH) -> str:
    """The text on one line of at most so many characters, without any that a terminal would obey."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= width else f"{line[: max(width - 3, 0)]}..."
