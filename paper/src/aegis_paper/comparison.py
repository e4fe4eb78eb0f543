"""The paper's published medians beside ours: which agree, and why the others do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from aegis_paper.published import Published, published_table
from aegis_paper.reasons import reason_for
from aegis_paper.runs import Cell
from aegis_paper.scores import Results
from aegis_paper.statistics import Verdict, verdict
from aegisbo.strategies.presets import PAPER


@dataclass(frozen=True)
class Ours:
    """What our runs of one cell came to."""

    n: int
    median: float
    verdict: Verdict
    reason: str | None  # why it differs from what was published, where that is known


@dataclass(frozen=True)
class Pair:
    """A published cell and ours, by preset; nothing where it has not been run."""

    published: Published
    ours: Mapping[str, Ours]


def compare(results: Results, study: str, workers: int, presets: Sequence[str]) -> list[Pair]:
    """The cells of a published table of which at least one preset has been run, method by method."""
    pairs = []
    for cell in published_table(study, workers).values():
        found = {preset: _ours(results, cell, preset) for preset in presets}
        ours = {preset: each for preset, each in found.items() if each}
        if ours:
            pairs.append(Pair(cell, ours))
    order = list(dict.fromkeys(pair.published.strategy for pair in pairs))
    return sorted(pairs, key=lambda pair: order.index(pair.published.strategy))


def compare_all(
    results: Results, tables: Iterable[tuple[str, int]], presets: Sequence[str]
) -> dict[tuple[str, int], list[Pair]]:
    """All published tables of which something has been run, by study and number of workers, each method once.

    AEGiS stands in every study of the paper with the same numbers.
    """
    found: dict[tuple[str, int], list[Pair]] = {}
    shown: set[tuple[int, str, str, float]] = set()
    for table in tables:
        pairs = compare(results, *table, presets)
        fresh = {pair.published.strategy for pair in pairs if _identity(pair) not in shown}
        shown |= {_identity(pair) for pair in pairs}
        if fresh:
            found[table] = [pair for pair in pairs if pair.published.strategy in fresh]
    return found


def _identity(pair: Pair) -> tuple[int, str, str, float]:
    cell = pair.published
    return cell.workers, cell.strategy, cell.problem, cell.median


def agreement(pairs: Sequence[Pair], preset: str) -> tuple[int, list[Ours]]:
    """How many published medians a preset agrees with, and the cells that had enough runs to tell."""
    found = (pair.ours[preset] for pair in pairs if preset in pair.ours)
    judged = [ours for ours in found if ours.verdict is not Verdict.OPEN]
    return sum(ours.verdict is Verdict.AGREES for ours in judged), judged


def _ours(results: Results, cell: Published, preset: str) -> Ours | None:
    scores = _scores(results, cell, preset)
    if not scores:
        return None
    found = verdict(scores, cell.median)
    return Ours(len(scores), median(scores), found, _reason(results, cell, found) if preset == PAPER.name else None)


def _reason(results: Results, cell: Published, found: Verdict) -> str | None:
    """Why the correct method disagrees: known if the experiment was made in this cell, and agrees."""
    reason = reason_for(cell.strategy, found)
    if reason is None:
        return None
    tried = _scores(results, cell, reason.experiment)
    if not tried:
        return f"probably {reason.text}, as where this was tried"
    return reason.text if verdict(tried, cell.median) is Verdict.AGREES else None


def _scores(results: Results, cell: Published, preset: str) -> list[float]:
    return [*results.finals(Cell(cell.problem, cell.strategy, preset, cell.workers)).values()]
