"""Why medians of ours differ from published ones, as far as experiments have shown."""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.experiments.agreement import Verdict


@dataclass(frozen=True)
class Reason:
    """An explanation, and the cells that it explains."""

    text: str
    preset: str
    verdict: Verdict
    strategies: frozenset[str]  # by name, whatever their parameters
    problems: frozenset[str] | None = None  # None: all


REASONS = (
    Reason(
        "the published code forgot the pending points after the first batch and chose near-duplicates",
        "paper",
        Verdict.LOWER,
        frozenset({"kriging-believer", "local-penalization", "playbook"}),
    ),
    Reason(
        "the published code's sample paths had almost no spread on smooth functions, so that Thompson sampling "
        "exploited; correct paths explore",
        "paper",
        Verdict.HIGHER,
        frozenset({"aegis"}),
        # Shown by experiment: reference:paths agrees there, reference:all-paths does not.
        frozenset({"Branin", "SixHumpCamel", "Rosenbrock7"}),
    ),
)


def reason_for(strategy: str, problem: str, preset: str, verdict: Verdict) -> str | None:
    """The first known reason for a disagreement; None if there is none to be explained or no reason is known."""
    name = strategy.partition(":")[0]
    for reason in REASONS:
        fits = reason.preset == preset and reason.verdict is verdict and name in reason.strategies
        if fits and (reason.problems is None or problem in reason.problems):
            return reason.text
    return None
