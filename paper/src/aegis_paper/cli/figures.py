"""The figures that `aegis-paper figure` draws from records, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aegis_paper import figures
from aegis_paper.cli.records import Selection
from aegis_paper.rankings import families_of
from aegis_paper.standings import Standings
from aegisbo.errors import InvalidInput


@dataclass(frozen=True)
class Kind:
    """A figure of the paper, and the plan that it shows if none is named."""

    plan: str
    draw: Callable[[Selection, Path], None]


def convergence(selection: Selection, file: Path) -> None:
    """The regret after each evaluation."""
    _require_functions(selection)
    panels = {panel: methods for panel, methods in selection.curves().items() if any(methods.values())}
    if not panels:
        raise selection.too_little()
    figures.draw_convergence(panels, selection.plan.name, file)


def summary(selection: Selection, file: Path) -> None:
    """How often each method is best or equivalent to the best."""
    figures.draw_summary(_tables(selection), file)


def gamma(selection: Selection, file: Path) -> None:
    """The same against γ."""
    figures.draw_gamma(_tables(selection), file)


def ranks(selection: Selection, file: Path) -> None:
    """Average ranks after each evaluation."""
    if not families_of(selection.plan):
        raise InvalidInput(f"Plan {selection.plan.name} has no instances of a problem: draw its summary instead.")
    rankings = selection.rankings()
    if not rankings:
        raise selection.too_little()
    figures.draw_ranks(rankings, file)


KINDS = {
    "convergence": Kind("synthetic", convergence),
    "summary": Kind("synthetic", summary),
    "gamma": Kind("gamma", gamma),
    "ranks": Kind("profet", ranks),
}


def _tables(selection: Selection) -> list[Standings]:
    """Those in which something can be counted."""
    _require_functions(selection)
    tables = [table for table in selection.standings() if table.complete]
    if not tables:
        raise selection.too_little()
    return tables


def _require_functions(selection: Selection) -> None:
    if families_of(selection.plan):
        raise InvalidInput(f"Plan {selection.plan.name} is on many instances of a problem: draw its ranks instead.")
