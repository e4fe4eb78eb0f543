"""Presets: which surrogate and which inner search all strategies use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

from aegisbo.errors import UnknownName
from aegisbo.gp.additive_model import AdditiveModel, HierarchicalPrior
from aegisbo.gp.isotropic_model import IsotropicModel
from aegisbo.gp.paths import FEATURES
from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.search.inner_search import InnerSearch
from aegisbo.search.mixed import MixedSearch
from aegisbo.strategies import schedules
from aegisbo.strategies.belief import Surrogate
from aegisbo.strategies.checks import BadParameter, check
from aegisbo.strategies.chosen_surrogate import ChosenSurrogate
from aegisbo.strategies.moves import Front
from aegisbo.strategies.surrogates import AdditiveSurrogate, IsotropicSurrogate


@dataclass(frozen=True)
class Preset:
    """What strategies share; how they differ is in their own files."""

    name: str
    surrogate: Surrogate
    search: InnerSearch
    features: int  # of a sample path
    front: Front  # of the Pareto moves
    epsilon: str | float  # how much AEGiS explores, unless it is told otherwise: a schedule or a number
    # What the lowest mean must promise, in standard deviations of the (soft) outputs, for AEGiS to exploit it; below
    # that it maximizes expected improvement instead. None: it always exploits, as in the paper.
    least_promise: float | None
    guard: bool  # whether a point that is finished or pending is replaced, unless the strategy is told otherwise
    # Whether the chance to succeed is learned from failures; if not, a failure must be a bad value to the surrogate.
    learns_success: bool = False
    # Whether AEGiS exploits a model of the lowest points alone where that one predicts them better, and whether the
    # lowest mean must also promise more than pending points do.
    adaptive: bool = False
    # Whether the surrogate learns how noisy values are. Where they are, the best point is then the one with the lowest
    # mean, and AEGiS may measure a point again.
    learns_noise: bool = False

    def __post_init__(self) -> None:
        check(self, epsilon=schedules.epsilon)


def paper_model(d: int) -> IsotropicModel:
    """Zero mean, isotropic Matérn-5/2, noise fixed at 1e-4 of the variance of the outputs, uniform hyper-priors."""
    return IsotropicModel(lengthscale=(1e-4, d**0.5), outputscale=(1e-4, 10.0), noise=1e-4)


def modern_model(d: int) -> AdditiveModel:
    """Joint kernel with a length scale for each coordinate, main effects, a constant, learned noise: docs/modern.md."""
    return AdditiveModel(
        lengthscale=(5e-3, 20.0 * d**0.5),
        effect_lengthscale=(0.05, 5.0),
        outputscale=(1e-6, 1e6),
        noise=(1e-8, 1.0),
        # The center grows with the diagonal of the cube (Hvarfner et al., 2024).
        lengthscale_prior=HierarchicalPrior(2.0**0.5 + 0.5 * log(d), 3.0**0.5, 0.5),
        effect_lengthscale_prior=HierarchicalPrior(log(0.5), 1.0, 0.5),
        share_spread=1.5,
        noise_center=1e-6,
        noise_spread=3.0,
        constant_precision=0.1,
    )


PAPER = Preset(
    "paper",
    IsotropicSurrogate(paper_model),
    EverywhereSearch(),
    FEATURES,
    Front(),
    epsilon="sqrt",
    least_promise=None,
    guard=False,
)
MODERN = Preset(
    "modern",
    AdditiveSurrogate(modern_model),
    MixedSearch(),
    FEATURES,
    Front(population=40, hope=2.0),
    epsilon="half",
    least_promise=1e-3,
    guard=True,
    learns_success=True,
    learns_noise=True,
)
ADAPTIVE = replace(
    MODERN,
    name="adaptive",
    surrogate=ChosenSurrogate(
        exploiting=(
            ("half", AdditiveSurrogate(modern_model)),
            ("quarter", AdditiveSurrogate(modern_model, share=0.25)),
        ),
        exploring=AdditiveSurrogate(modern_model, wide=True),
    ),
    adaptive=True,
)

PRESETS = {preset.name: preset for preset in (PAPER, MODERN, ADAPTIVE)}
DEFAULT_PRESET = ADAPTIVE.name


def preset_named(name: str) -> Preset:
    """The preset with this name, or an error that offers the nearest one."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]


def name_or_preset(name: str, value: object) -> str | Preset:
    """The name of a known preset, or an object that differs from all known ones (a check, see `checks`)."""
    if isinstance(value, str):
        return preset_named(value).name
    if not isinstance(value, Preset):
        raise BadParameter(name, value, f"{', '.join(PRESETS)} or a Preset object")
    return value.name if PRESETS.get(value.name) == value else value
