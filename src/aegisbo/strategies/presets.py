"""Presets: which surrogate and which inner search all strategies use, and which moves AEGiS has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import log

from aegisbo.arrays import Array
from aegisbo.errors import UnknownName
from aegisbo.gp.additive_model import AdditiveModel, HierarchicalPrior
from aegisbo.gp.isotropic_model import IsotropicModel
from aegisbo.gp.output_transform import OutputScale, soft_scale_of
from aegisbo.gp.rank_scale import rank_scale_of
from aegisbo.search.everywhere import EverywhereSearch
from aegisbo.search.inner_search import InnerSearch
from aegisbo.search.mixed import MixedSearch
from aegisbo.strategies import schedules
from aegisbo.strategies.belief import Surrogate
from aegisbo.strategies.checks import BadParameter, check
from aegisbo.strategies.chosen_surrogate import ChosenSurrogate
from aegisbo.strategies.moves.bottom import Bottom
from aegisbo.strategies.moves.elsewhere import Elsewhere
from aegisbo.strategies.moves.exploit import Exploit
from aegisbo.strategies.moves.improve import Improve
from aegisbo.strategies.moves.local import Local
from aegisbo.strategies.moves.move import Move, SecondThought, SureMove
from aegisbo.strategies.moves.on_fronts import ExploitFront, FrontOfPaths, ImproveFront, ParetoOfFronts
from aegisbo.strategies.moves.pareto import Pareto
from aegisbo.strategies.moves.repeat import Repeat
from aegisbo.strategies.moves.thompson import SamplePath
from aegisbo.strategies.surrogates import AdditiveSurrogate, IsotropicSurrogate


@dataclass(frozen=True)
class Preset:
    """What strategies share; how they differ is in their own files."""

    name: str
    surrogate: Surrogate
    search: InnerSearch
    epsilon: str | float  # how much AEGiS explores, unless it is told otherwise: a schedule or a number
    guard: bool  # whether a point that is finished or pending is replaced, unless the strategy is told otherwise
    exploit: SureMove = field(default_factory=Exploit)  # Algorithm 1, line 6
    thompson: SureMove = field(default_factory=SamplePath)  # lines 8 and 9
    pareto: SureMove = field(default_factory=Pareto)  # lines 11 and 12
    before_exploit: tuple[Move, ...] = ()  # what AEGiS tries first where it exploits, except in its first choice
    second_thoughts: tuple[SecondThought, ...] = ()  # about what AEGiS has decided, in their order
    # Whether the chance to succeed is learned from failures; if not, a failure must be a bad value to the surrogate.
    learns_success: bool = False
    # Whether the surrogate learns how noisy values are. Where they are, the best point is then the one with the lowest
    # mean.
    learns_noise: bool = False
    several: bool = False  # whether its moves are for several objectives

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


def tail_above_quarter(y: Array, d: int) -> OutputScale:
    """A logarithmic tail above the lower quartile."""
    return soft_scale_of(y, 0.25)


def wide(y: Array, d: int) -> OutputScale:
    """A logarithmic tail above the median, and a unit that stays large as values gather near the lowest one."""
    return soft_scale_of(y, early=2 * d)


def ranks(y: Array, d: int) -> OutputScale:
    """Ranks, on which noise is even."""
    return rank_scale_of(y)


def on_fronts(preset: Preset) -> Preset:
    """The preset with moves for several objectives.

    It explores less: where one objective has one minimum to refine, a front takes every point that exploiting adds.
    """
    return replace(
        preset,
        name=f"{preset.name}, several objectives",
        epsilon=0.15,
        exploit=ExploitFront(),
        thompson=FrontOfPaths(),
        pareto=ParetoOfFronts(population=40, hope=2.0),
        before_exploit=(),
        second_thoughts=(ImproveFront(least_promise=1e-4),),
        several=True,
    )


PAPER = Preset("paper", IsotropicSurrogate(paper_model), EverywhereSearch(), epsilon="sqrt", guard=False)
MODERN = Preset(
    "modern",
    AdditiveSurrogate(modern_model),
    MixedSearch(),
    epsilon="half",
    guard=True,
    pareto=Pareto(population=40, hope=2.0),
    second_thoughts=(Improve(least_promise=1e-3), Repeat()),
    learns_success=True,
    learns_noise=True,
)
ADAPTIVE = replace(
    MODERN,
    name="adaptive",
    surrogate=ChosenSurrogate(
        exploiting=(
            ("half", AdditiveSurrogate(modern_model)),
            ("quarter", AdditiveSurrogate(modern_model, tail_above_quarter)),
        ),
        exploring=AdditiveSurrogate(modern_model, wide),
        even=AdditiveSurrogate(modern_model, ranks),
    ),
    before_exploit=(Bottom(), Local()),
    second_thoughts=(Improve(least_promise=1e-3), Elsewhere(), Repeat()),
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
