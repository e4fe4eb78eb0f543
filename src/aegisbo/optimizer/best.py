"""Which of the evaluated points is the best, and what the user must be told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegisbo.arrays import Array, Index
from aegisbo.optimizer.limits import Limit
from aegisbo.optimizer.policy import Policy
from aegisbo.optimizer.trial import Trial
from aegisbo.strategies.base import Evidence, Memory
from aegisbo.strategies.learned_limits import shortfall, spreads

# Whether a function is noisy cannot be seen in its values: a rough one looks the same. Hence an option, and a remark.
SMOOTHED = "Values are noisy: x has the best posterior mean of all evaluated points, and fun is that mean."
UNSMOOTHED = "Values are noisy, but there is no model to smooth them: x and fun are the best measured."
UNSURE = "It was observed elsewhere, and one of the constraints is a function that is not here: x may break it."
NEAR = 0.05  # standard deviations of what was measured: a limit that is nearer to the best point binds
BROKEN = "No evaluation has kept all limits: x is the one that comes closest."


@dataclass(frozen=True)
class LimitStanding:
    """How the best point stands to a limit."""

    limit: str
    value: float  # measured there
    slack: float  # how far it is from the limit; below 0 if it breaks it
    binds: bool  # it is at the limit, or a better value was measured where this limit alone was broken

    def __str__(self) -> str:
        broken = "broken" if self.slack < 0.0 else "binds" if self.binds else ""
        return f"{self.limit}: {self.value:.6g}" + (f" ({broken})" if broken else "")


@dataclass(frozen=True)
class Best:
    """The first of the best among the trials with a value."""

    trial: Trial
    row: int  # of the evidence
    losses: Array  # (n,) that all are compared by
    feasible: bool  # whether it keeps all limits
    remark: str


def best_of(done: Sequence[Trial], evidence: Evidence, policy: Policy, memory: Memory, number: int) -> Best | None:
    """The best of the trials with a value, which are the rows of the evidence; None if none of them is allowed.

    If values are noisy it is the one with the best posterior mean.
    """
    if not done:
        return None
    losses, remark = compared_by(evidence, policy, memory, number, SMOOTHED, UNSMOOTHED)
    first = row_of_best(evidence, losses)
    if first is None:
        return None
    trial, feasible = done[first], bool(evidence.kept[first])
    often = sum(other.params == trial.params for other in done) if evidence.noisy else 0
    again = f"This x was measured {often} times." if often > 1 else ""
    remarks = " ".join(filter(None, [remark, again, "" if feasible else BROKEN]))
    return Best(trial, first, losses, feasible, remarks)


def standings(limits: Sequence[Limit], best: Best, evidence: Evidence) -> tuple[LimitStanding, ...]:
    """How the best of the evaluated points stands to each limit."""
    if evidence.excess is None:
        return ()
    excess, losses, found = evidence.excess, best.losses, []
    for k, (limit, spread) in enumerate(zip(limits, spreads(excess), strict=True)):
        alone = (excess[:, k] > 0.0) & (np.delete(excess, k, axis=1) <= 0.0).all(axis=1)
        slack = -float(excess[best.row, k])
        binds = slack <= NEAR * float(spread) or bool((losses[alone] < losses[best.row]).any())
        found.append(LimitStanding(limit.text, best.trial.measured[limit.name], slack, binds))
    return tuple(found)


def row_of_best(evidence: Evidence, losses: Array) -> int | None:
    """The first of the lowest losses (n,) that keep all limits; if none does, the one that comes closest.

    What breaks a constraint is never the best: None if that is all there is.
    """
    first = ranking(evidence, losses)[0]
    return int(first) if evidence.allowed is None or evidence.allowed[first] else None


def ranking(evidence: Evidence, losses: Array) -> Index:  # (n,)
    """The rows, the best first: those that keep all limits, then those that break one, each by their losses (n,).

    If none keeps all limits, those that come closest are first. What breaks a constraint comes last.
    """
    kept = evidence.kept
    allowed = np.full(len(losses), True) if evidence.allowed is None else evidence.allowed
    by = losses if kept.any() or not allowed.any() else shortfall(evidence)
    return np.lexsort((by, ~kept, ~allowed))


def compared_by(
    evidence: Evidence, policy: Policy, memory: Memory, number: int, smoothed: str, unsmoothed: str
) -> tuple[Array, str]:  # (n,) or, of several objectives, (n, m)
    """What the points are compared by, and which of two remarks the user must be told of it; empty without noise."""
    if not evidence.noisy:
        return evidence.y, ""
    means = policy.smoothed(evidence, memory, number)
    return (evidence.y, unsmoothed) if means is None else (means, smoothed)
