"""The deviations by name, and the strategies with some of them switched on.

A preset names them in text, so that a run can be described in one line:

    reference                 all of them: what was really run
    reference:paths           the paper with this one only
    reference:paths+choice    the paper with these
    reference:all-paths       all but this one
    reference:all-paths-choice
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from aegis_paper.reference import paths
from aegis_paper.reference.choice import CountingAegis
from aegis_paper.reference.improvement import WithoutLogarithm
from aegis_paper.reference.moves import PathMove
from aegis_paper.reference.pareto import NoisyPareto
from aegis_paper.reference.pending import FirstBatchOnly
from aegis_paper.reference.search import OF_ACQUISITIONS, OF_IMPROVEMENT, OF_PATHS
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.gp.paths import FEATURES
from aegisbo.strategies import registry
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.base import Strategy
from aegisbo.strategies.expected_improvement import ExpectedImprovement
from aegisbo.strategies.moves.thompson import posterior_path
from aegisbo.strategies.penalization import LocalPenalization, Playbook
from aegisbo.strategies.presets import PAPER, PRESETS
from aegisbo.strategies.thompson import Thompson

REFERENCE = "reference"
NAMES = ("paths", "search", "improvement", "choice", "pareto", "pending", "problems")

Deviations = frozenset[str]
ALL: Deviations = frozenset(NAMES)


def deviations_of(preset: str) -> Deviations:
    """The deviations that a preset names, none if it is one of the core's."""
    name, colon, text = preset.partition(":")
    if name in PRESETS and not colon:
        return frozenset()
    if name != REFERENCE:
        raise UnknownName("preset", preset, [*PRESETS, REFERENCE])
    if not colon:
        return ALL
    first, *rest = text.split("-")
    left = ALL - _known(rest) if first == "all" else _known(first.split("+"))
    if not left or (rest and first != "all"):
        raise InvalidInput(f"{preset!r} names no deviations: write {REFERENCE}:paths+choice or {REFERENCE}:all-paths.")
    return left


def _known(names: list[str]) -> Deviations:
    for name in names:
        if name not in ALL:
            raise UnknownName("deviation", name, NAMES)
    return frozenset(names)


def resolve(text: str, workers: int, deviations: Deviations = ALL) -> Strategy:
    """The strategy that `text` describes, for this many workers and with these deviations from the paper."""
    strategy = registry.resolve(text, PAPER)
    if isinstance(strategy, Aegis):
        return _aegis(strategy, workers, deviations)
    if isinstance(strategy, Thompson):
        return replace(strategy, preset=replace(strategy.parts, thompson=_path_move(deviations)))
    if isinstance(strategy, ExpectedImprovement):
        return _expected_improvement(strategy, deviations)
    return strategy


def _path_move(deviations: Deviations) -> PathMove:
    draw = paths.draw if "paths" in deviations else posterior_path
    return PathMove(draw, FEATURES, OF_PATHS if "search" in deviations else PAPER.search)


def _aegis(strategy: Aegis, workers: int, deviations: Deviations) -> Aegis:
    parts = replace(strategy.parts, thompson=_path_move(deviations))
    if "pareto" in deviations:
        parts = replace(parts, pareto=NoisyPareto())
    if "search" in deviations:
        parts = replace(parts, search=OF_ACQUISITIONS)
    strategy = replace(strategy, preset=parts)
    if "choice" in deviations:
        given: dict[str, Any] = {field.name: getattr(strategy, field.name) for field in fields(strategy)}
        return CountingAegis(**given, workers=workers)
    return strategy


def _expected_improvement(strategy: ExpectedImprovement, deviations: Deviations) -> Strategy:
    search = strategy.parts.search
    if "search" in deviations:
        # Only expected improvement itself was known to be non-negative: neither its products nor its logarithm.
        pure = "improvement" in deviations and not isinstance(strategy, LocalPenalization | Playbook)
        search = OF_IMPROVEMENT if pure else OF_ACQUISITIONS
    if "improvement" in deviations:
        search = WithoutLogarithm(search)
    changed = replace(strategy, preset=replace(strategy.parts, search=search))
    return FirstBatchOnly(changed) if "pending" in deviations else changed
