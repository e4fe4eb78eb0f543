"""What changes in a preset when the user says that values are noisy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from aegisbo.numerics.additive import AdditiveModel
from aegisbo.strategies.additive_surrogate import Additive
from aegisbo.strategies.presets import Preset

NOISE_CENTRE = 1e-2  # of the prior, a share of the outputs' scale


def expecting_noise(preset: Preset) -> Preset:
    """The preset with a prior for much noise; one whose noise is fixed, as in the paper, stays as it is.

    Where values have next to no noise by assumption, few noisy ones are explained by a rough function through them all.
    """
    surrogate = preset.surrogate
    if not isinstance(surrogate, Additive):
        return preset
    return replace(preset, surrogate=replace(surrogate, model=_Noisy(surrogate.model)))


@dataclass(frozen=True)
class _Noisy:
    quiet: Callable[[int], AdditiveModel]

    def __call__(self, d: int) -> AdditiveModel:
        return replace(self.quiet(d), noise_centre=NOISE_CENTRE)
