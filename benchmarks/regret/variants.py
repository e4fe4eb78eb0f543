"""The modern preset with one of its choices made differently: what each choice is worth (docs/results.md)."""

from __future__ import annotations

from dataclasses import replace

from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.strategies.presets import MODERN, PAPER

VARIANTS = {
    "modern-papers-model": replace(MODERN, surrogate=PAPER.surrogate),
    "modern-wide-search": replace(MODERN, search=EverywhereSearch()),
    "modern-large-front": replace(MODERN, front=replace(MODERN.front, population=PAPER.front.population)),
    "modern-whole-front": replace(MODERN, front=replace(MODERN.front, hope=None)),
    "modern-exploits-always": replace(MODERN, least_promise=None),
    "modern-explores-more": replace(MODERN, epsilon="sqrt"),
    "modern-explores-less": replace(MODERN, epsilon=0.2),
}
