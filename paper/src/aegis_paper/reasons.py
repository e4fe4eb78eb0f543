"""Why medians of ours differ from published ones, as far as experiments have shown.

An experiment is the paper's method with one deviation of the published code. That deviation is the reason if the method
then agrees with the published median. The runs are on record under presets such as `reference:paths`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from aegis_paper.statistics import Verdict


@dataclass(frozen=True)
class Reason:
    """What a deviation of the published code did to some methods."""

    text: str
    experiment: str  # the preset with this deviation alone
    verdict: Verdict  # how the correct method stands to the published one
    methods: Collection[str]  # strategies, whatever their parameters


COLLAPSED = (
    "the published code's sample paths had almost no spread on smooth functions, so that Thompson sampling exploited"
)
WITH_PATHS = ("aegis", "aegis-no-exploit", "aegis-no-pf", "aegis-rs", "thompson")

REASONS = (
    Reason(
        "the published code forgot the pending points after the first batch and chose near-duplicates",
        "reference:pending",
        Verdict.LOWER,
        ("kriging-believer", "local-penalization", "playbook"),
    ),
    Reason(f"{COLLAPSED}; correct paths explore", "reference:paths", Verdict.HIGHER, WITH_PATHS),
    Reason(
        f"{COLLAPSED} a mean that its noise smooths; correct paths also try the surroundings and come closer",
        "reference:paths",
        Verdict.LOWER,
        WITH_PATHS,
    ),
)


def reason_for(strategy: str, verdict: Verdict) -> Reason | None:
    """What could explain that the correct method disagrees; None if it does not, or nothing is known that could."""
    name = strategy.partition(":")[0]
    return next((reason for reason in REASONS if reason.verdict == verdict and name in reason.methods), None)
