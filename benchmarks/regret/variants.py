"""The modern preset with one choice made differently: what each choice is worth (docs/experiments/modern.md)."""

from __future__ import annotations

from dataclasses import replace

from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.strategies.moves.pareto import Pareto
from aegisbo.strategies.moves.repeat import Repeat
from aegisbo.strategies.presets import MODERN, PAPER

VARIANTS = {
    "modern-papers-model": replace(MODERN, surrogate=PAPER.surrogate),
    "modern-wide-search": replace(MODERN, search=EverywhereSearch()),
    "modern-large-front": replace(MODERN, pareto=Pareto(hope=2.0)),
    "modern-whole-front": replace(MODERN, pareto=Pareto(population=40)),
    "modern-exploits-always": replace(MODERN, second_thoughts=(Repeat(),)),
    "modern-explores-more": replace(MODERN, epsilon="sqrt"),
    "modern-explores-less": replace(MODERN, epsilon=0.2),
}
