"""What decides: AEGiS as in the paper, with other sample paths and another view of the points under evaluation.

A preset names the levels of the two factors in text, and a factor that it does not name is as in the paper:

    factors:paths=collapsed                     sample paths as the published code drew them
    factors:paths=tempered,pending=believed     paths at a quarter of their spread; pending points as predicted
    factors:pending=pessimistic                 pending points as bad as the worst value measured
    factors:paths=tempered,preset=adaptive      all else as in aegisbo's own preset, not as in the paper

The third factor is the share of exploration, which the strategy names: `aegis:epsilon=0.1`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from aegis_paper.reference import paths
from aegis_paper.reference.moves import PathMove
from aegisbo.arrays import Array, Floats
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.gp.paths import FEATURES
from aegisbo.gp.posterior import GP
from aegisbo.search.inner_search import Acquisition
from aegisbo.strategies import registry
from aegisbo.strategies.aegis import Aegis
from aegisbo.strategies.moves.move import Decision, SureMove, Turn
from aegisbo.strategies.moves.thompson import posterior_path
from aegisbo.strategies.presets import PAPER, PRESETS, preset_named

FACTORS = "factors"
LEVELS = {"paths": ("correct", "collapsed", "tempered"), "pending": ("ignored", "believed", "pessimistic")}
NAMED = {**LEVELS, "preset": tuple(PRESETS)}  # what a text may name
TEMPER = 0.25  # what is left of the deviations of a tempered path from the mean


@dataclass(frozen=True)
class Levels:
    """How AEGiS draws its sample paths, what it thinks of pending points, and what it is like otherwise."""

    paths: str = "correct"
    pending: str = "ignored"
    preset: str = PAPER.name

    @property
    def text(self) -> str:
        """What names them in a run; a preset that nothing was changed in is called by its own name."""
        if self == Levels(preset=self.preset):
            return self.preset
        named = [*LEVELS] if self.preset == PAPER.name else [*NAMED]
        return f"{FACTORS}:{','.join(f'{each}={getattr(self, each)}' for each in named)}"


def levels_of(preset: str) -> Levels | None:
    """The levels that a preset names; None if it is of another kind.

    Raises:
        InvalidInput: there is no such factor or level, or one is named twice.
    """
    name, colon, text = preset.partition(":")
    if name != FACTORS:
        return None
    pairs = [pair.partition("=")[::2] for pair in text.split(",")] if colon else []
    for factor, level in pairs:
        if factor not in NAMED:
            raise UnknownName("factor", factor, NAMED)
        if level not in NAMED[factor]:
            raise UnknownName(f"level of {factor}", level, NAMED[factor])
    if not pairs or len(dict(pairs)) < len(pairs):
        raise InvalidInput(f"{preset!r} must name each factor once, as in {FACTORS}:paths=tempered,pending=believed.")
    return Levels(**dict(pairs))


def resolve(text: str, levels: Levels) -> Aegis:
    """AEGiS, with the parameters in `text`, at these levels.

    Raises:
        InvalidInput: the text describes another strategy, or paths that the preset cannot have.
    """
    if levels.paths == "collapsed" and levels.preset != PAPER.name:
        raise InvalidInput(f"{levels.text!r}: only the model of the preset paper has collapsed paths, use that.")
    strategy = registry.resolve(text, levels.preset)
    if not isinstance(strategy, Aegis):
        raise InvalidInput(f"The factors are AEGiS's: {text!r} has none of them, use the preset paper.")
    draw = {"correct": posterior_path, "collapsed": paths.draw, "tempered": tempered_path}[levels.paths]
    preset = preset_named(levels.preset)
    believing = replace(
        preset,
        exploit=Supposing(preset.exploit, levels.pending),
        thompson=Supposing(PathMove(draw, FEATURES, preset.search), levels.pending, explores=True),
        pareto=Supposing(preset.pareto, levels.pending, explores=True),
    )
    return replace(strategy, preset=believing)


@dataclass(frozen=True)
class Supposing:
    """A move that looks at a posterior which knows what is thought of pending points."""

    move: SureMove
    pending: str
    explores: bool = False

    def choose(self, turn: Turn) -> Decision:
        """What the move chooses; what is expected there is told without such thoughts."""
        known = turn.belief.exploring if self.explores else turn.belief
        gp = supposing(known.gp, turn.evidence.pending, self.pending)
        return replace(self.move.choose(replace(turn, believed=replace(known, gp=gp))), belief=known)


def supposing(gp: GP, pending: Array, level: str) -> GP:
    """The posterior if pending points (p, width) turned out as is thought of them."""
    if level == "ignored" or len(pending) == 0:
        return gp
    worst = float(gp.y.max()) + gp.constant
    return gp.believing(pending) if level == "believed" else gp.extended(pending, np.full(len(pending), worst))


@dataclass(frozen=True)
class Tempered:
    """A path whose deviations from the posterior mean are smaller."""

    path: Acquisition
    gp: GP

    def screen(self, Z: Array) -> Floats:
        """Values (m,) at Z (m, d), in single precision."""
        mean = self.gp.mean(Z.astype(np.float32))
        return np.asarray(mean + TEMPER * (self.path.screen(Z) - mean))

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at Z (m, d)."""
        of_mean, of_path = self.gp.mean_and_gradient(Z), self.path.value_and_gradient(Z)
        values, gradients = ((1.0 - TEMPER) * mean + TEMPER * path for mean, path in zip(of_mean, of_path, strict=True))
        return values, gradients


def tempered_path(gp: GP, features: int, rng: Generator) -> Tempered:
    """A function drawn from the posterior, with its deviations from the mean made smaller."""
    return Tempered(posterior_path(gp, features, rng), gp)
