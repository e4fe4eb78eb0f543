"""Deviation `paths`: the functions that Thompson sampling minimized were no draws from the posterior.

The paper: decoupled sampling (Wilson et al., 2020) with 2000 Fourier features, see gp/paths.py of aegisbo.
The code: with z ~ N(0, I) and g ~ Gamma(5/2, rate 5/2), both of shape (features, d),

    g(x) = Σ_j w_j √(2/F) cos(z_j √g_j · x/l + τ_j)  +  k(x, X) K⁻¹ (y − g_prior(X) − noise · e),    w ~ N(0, I),

- z √g instead of z/√g, a g for each coordinate instead of one for all: the prior part has the correlation
  Π_i (1 + r_i²/(5 l²))^(−5/2), infinitely smooth, where the update has Matérn-5/2;
- no output scale in the prior part, although the update has it;
- noise · e, variance times normal, instead of √noise · e; and e is drawn anew at every call.

What it changes: where the fitted function is smooth and its output scale large, the update takes away nearly all of
the prior part, and the spread of the paths collapses (to a hundredth of the posterior's on Branin with 100 points):
Thompson sampling becomes exploitation. The optimizer sees an objective that is never the same twice.

Left out: the code shared z, g and τ between the paths of a first batch, and drew τ from N(0, (2π)²), which modulo 2π
is uniform to nine digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array, Floats
from aegisbo.gp.paths import SamplePaths
from aegisbo.gp.posterior import GP

SHAPE = 2.5  # of the gamma variables, and their rate: mean 1


@dataclass(frozen=True)
class NoisyPath:
    """One path, to be minimized; each call has noise of its own, drawn from `rng`."""

    path: SamplePaths  # without noise
    rng: Generator

    def screen(self, Z: Array) -> Floats:
        """Values (m,) at Z (m, d), in single precision."""
        return np.asarray(self._this_time()(Z.astype(np.float32))[0])

    def value_and_gradient(self, Z: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at Z (m, d), with the same noise in both."""
        values, gradients = self._this_time().value_and_gradient(Z)
        return values[0], gradients[0]

    def _this_time(self) -> SamplePaths:
        gp = self.path.gp
        noise = gp.factor.solve(gp.noise * self.rng.standard_normal(len(gp.y)))
        return replace(self.path, update=self.path.update - noise)


def draw(gp: GP, features: int, rng: Generator) -> NoisyPath:
    """Draw a path as the code did, with this many cosines."""
    shape = (features, gp.X.shape[1])
    frequencies = rng.standard_normal(shape) * np.sqrt(rng.gamma(SHAPE, 1.0 / SHAPE, shape)) / gp.kernel.lengthscale
    phases = rng.uniform(0.0, 2.0 * np.pi, (1, features))
    amplitudes = np.sqrt(2.0 / features) * rng.standard_normal((1, features))
    prior = SamplePaths(gp, frequencies, phases, amplitudes, update=np.zeros((1, len(gp.y))))
    update = gp.factor.solve(gp.y - prior(gp.X)[0])
    return NoisyPath(replace(prior, update=update[None, :]), rng.spawn(1)[0])
