"""What each level of a factor does to the regret: the factorial experiment of the plan `factors`, evaluated.

Runs with the same problem and number share their initial points and job times, so levels are compared within such
pairs. A level has one number for each pair: the mean logarithm of its regret relative to the paper's level, over all
settings of the other factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import wilcoxon

from aegis_paper.factors import LEVELS, Levels
from aegis_paper.plans import load_plan
from aegis_paper.runs import Cell
from aegis_paper.scores import Results
from aegis_paper.statistics import holm
from aegisbo.arrays import Array

PLAN = "factors"
FLOOR = 1e-9  # lower regrets are all the same
EPSILONS = {"2/√d": "aegis", "0.1": "aegis:epsilon=0.1"}  # strategies by the share of exploration
PLAIN = {"expected improvement": "ei", "Kriging Believer": "kriging-believer"}
TODAYS = Levels(preset="adaptive")


@dataclass(frozen=True)
class Setting:
    """One combination of levels."""

    paths: str = "correct"
    pending: str = "ignored"
    epsilon: str = "2/√d"

    def cell(self, problem: str, workers: int) -> Cell:
        """Where its runs are."""
        return Cell(problem, EPSILONS[self.epsilon], Levels(self.paths, self.pending).text, workers)


PAPERS = Setting()
ALL_LEVELS = {**LEVELS, "epsilon": tuple(EPSILONS)}
SETTINGS = [Setting(*levels) for levels in product(*ALL_LEVELS.values())]


@dataclass(frozen=True)
class Effect:
    """What happens to the regret if something is changed, all else equal."""

    what: str
    pairs: int  # of a problem and the number of a run
    lower: int  # how often regret is lower
    higher: int
    ratio: float  # geometric mean of the regrets relative to each other
    p: float  # Wilcoxon's signed ranks over the pairs


def effects(results: Results, workers: int) -> list[Effect]:
    """Every level but the paper's, plain acquisition functions, and a level in today's AEGiS; without runs none."""
    found = [_effect(f"{factor}: {level}", _of_level(results, workers, factor, level)) for factor, level in _changes()]
    for name, strategy in PLAIN.items():
        found.append(_effect(f"{name} instead of AEGiS", _of_strategy(results, workers, strategy)))
    found.append(_effect(f"paths: tempered, in {TODAYS.preset}", _of_todays(results, workers, "tempered")))
    return [effect for effect in found if effect is not None]


def grid(results: Results, workers: int) -> dict[Setting, Effect]:
    """Each combination of levels instead of the paper's, where both have runs; p with Holm's correction for all."""
    found = {}
    for setting in SETTINGS:
        effect = _effect(", ".join(astuple(setting)), _ratios(results, workers, setting, PAPERS))
        if effect is not None:
            found[setting] = effect
    others = [setting for setting in found if setting != PAPERS]
    corrected = holm([found[setting].p for setting in others])
    return found | {each: replace(found[each], p=p) for each, p in zip(others, corrected, strict=True)}


def _changes() -> Iterator[tuple[str, str]]:
    for factor, levels in ALL_LEVELS.items():
        for level in levels[1:]:
            yield factor, level


Ratios = dict[tuple[str, int], float]  # by problem and run: log10 of a regret relative to another one


def _of_level(results: Results, workers: int, factor: str, level: str) -> Ratios:
    """Mean over the settings of the other factors, of the pairs that all of them have."""
    papers = getattr(PAPERS, factor)
    others = [setting for setting in SETTINGS if getattr(setting, factor) == papers]
    ratios = [_ratios(results, workers, replace(setting, **{factor: level}), setting) for setting in others]
    shared = set.intersection(*(set(each) for each in ratios))
    return {pair: float(np.mean([each[pair] for each in ratios])) for pair in shared}


def _of_strategy(results: Results, workers: int, strategy: str) -> Ratios:
    return _compared(
        results,
        lambda problem: Cell(problem, strategy, "paper", workers),
        lambda problem: PAPERS.cell(problem, workers),
    )


def _of_todays(results: Results, workers: int, paths: str) -> Ratios:
    one, other = (
        partial(Cell, strategy="aegis", preset=levels.text, workers=workers)
        for levels in (replace(TODAYS, paths=paths), TODAYS)
    )
    return _compared(results, one, other)


def _ratios(results: Results, workers: int, one: Setting, other: Setting) -> Ratios:
    return _compared(results, lambda problem: one.cell(problem, workers), lambda problem: other.cell(problem, workers))


def _compared(results: Results, one: Callable[[str], Cell], other: Callable[[str], Cell]) -> Ratios:
    ratios = {}
    for problem in problems():
        mine, theirs = results.finals(one(problem)), results.finals(other(problem))
        for run in mine.keys() & theirs.keys():
            ratios[problem, run] = float(np.log10(max(mine[run], FLOOR) / max(theirs[run], FLOOR)))
    return ratios


def problems() -> Sequence[str]:
    """Those of the plan."""
    return tuple(dict.fromkeys(cell.problem for cell in load_plan(PLAN).cells()))


def numbers_of_workers() -> Sequence[int]:
    """Those of the plan."""
    return tuple(dict.fromkeys(cell.workers for cell in load_plan(PLAN).cells()))


def _effect(what: str, ratios: Ratios) -> Effect | None:
    if not ratios:
        return None
    logs: Array = np.array([*ratios.values()])
    p = float(wilcoxon(logs).pvalue) if logs.any() else 1.0
    return Effect(what, len(logs), int((logs < 0).sum()), int((logs > 0).sum()), float(10 ** logs.mean()), p)
