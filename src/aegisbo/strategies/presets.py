"""Presets: which surrogate and which inner search all strategies use."""

from __future__ import annotations

from dataclasses import dataclass

from aegisbo.errors import UnknownName
from aegisbo.numerics.boxmin import best_starts
from aegisbo.numerics.likelihood import FixedNoise, Model
from aegisbo.numerics.paths import FEATURES
from aegisbo.strategies.search import Search, uniform
from aegisbo.strategies.surrogate import Surrogate


@dataclass(frozen=True)
class Preset:
    """What strategies share; how they differ is in their own files."""

    name: str
    surrogate: Surrogate
    search: Search
    features: int  # of a sample path
    guard: bool  # whether a point that is finished or pending is replaced


def paper_model(d: int) -> Model:
    """Zero mean, isotropic Matérn-5/2, noise fixed at 1e-4 of the variance of the outputs, uniform hyper-priors."""
    return Model(lengthscale=(1e-4, d**0.5), outputscale=(1e-4, 10.0), noise=FixedNoise(1e-4))


PAPER = Preset("paper", Surrogate(paper_model), Search(uniform, best_starts), FEATURES, guard=False)

PRESETS = {preset.name: preset for preset in (PAPER,)}
DEFAULT_PRESET = PAPER.name


def preset_named(name: str) -> Preset:
    """The preset with this name, or an error that offers the nearest one."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]
