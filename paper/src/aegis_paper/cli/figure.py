"""What `aegis-paper figure` draws: the figures of the paper by name, from records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from aegis_paper.cli.selection import Selection
from aegis_paper.figures import draw_convergence, draw_gamma, draw_ranks, draw_summary
from aegis_paper.rankings import families_of
from aegis_paper.scores import ScoreTable
from aegisbo.errors import InvalidInput


def _convergence(selection: Selection, file: Path) -> None:
    _require_functions(selection)
    panels = {panel: methods for panel, methods in selection.curves().items() if any(methods.values())}
    if not panels:
        raise selection.too_little()
    draw_convergence(panels, selection.plan.name, file)


def _summary(selection: Selection, file: Path) -> None:
    draw_summary(_countable(selection, selection.tables()), file)


def _gamma(selection: Selection, file: Path) -> None:
    tried = [table.only(table.run) for table in selection.tables() if len(table.run) > 1]  # not all eleven shares
    draw_gamma(_countable(selection, tried), file)


def _ranks(selection: Selection, file: Path) -> None:
    if not families_of(selection.plan):
        raise InvalidInput(f"Plan {selection.plan.name} has no instances of a problem: draw its summary instead.")
    rankings = selection.rankings()
    if not rankings:
        raise selection.too_little()
    draw_ranks(rankings, file)


FIGURES: dict[str, tuple[str, Callable[[Selection, Path], None]]] = {  # the plan if none is named, and how to draw it
    "convergence": ("synthetic", _convergence),
    "summary": ("synthetic", _summary),
    "gamma": ("gamma", _gamma),
    "ranks": ("profet", _ranks),
}


def _countable(selection: Selection, tables: Sequence[ScoreTable]) -> list[ScoreTable]:
    """The tables in which something can be counted: methods must have met, and not one set of runs itself."""
    _require_functions(selection)
    countable = [table for table in tables if table.compared]
    if not countable:
        raise selection.too_little()
    return countable


def _require_functions(selection: Selection) -> None:
    if families_of(selection.plan):
        raise InvalidInput(f"Plan {selection.plan.name} is on many instances of a problem: draw its ranks instead.")
