"""Draws of the additive model's hyper-parameters from all that the data leave open, not just the likeliest ones.

The priors are normal on the scale of phi, so elliptical slice sampling needs no tuning (Murray, Adams and MacKay,
2010): each step goes some way around the ellipse through the last phi and one drawn from the prior, less and less far
until the likelihood agrees.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from aegisbo.arrays import Array
from aegisbo.gp.additive_model import AdditiveLikelihood, AdditiveModel

WARM_UP = 20  # steps until the start is forgotten
APART = 8  # steps from one draw to the next
MOST_SHRINKS = 60  # then the ellipse has shrunk to the last phi


def draws(likelihood: AdditiveLikelihood, start: Array, count: int, rng: Generator) -> Iterator[Array]:
    """Draws of phi (2 d + 2,) given the data, beginning a while after the start."""
    phi, value = start, likelihood.of_data(start)
    for step in range(1, WARM_UP + count * APART + 1):
        phi, value = _step(likelihood, phi, value, rng)
        if step > WARM_UP and (step - WARM_UP) % APART == 0:
            yield phi


def _step(likelihood: AdditiveLikelihood, phi: Array, value: float, rng: Generator) -> tuple[Array, float]:
    """The next phi, and the likelihood of the data there."""
    model, d = likelihood.model, likelihood.X.shape[1]
    middle, other = center(model, d), prior_draw(model, d, rng)
    level = value + np.log(rng.random())
    angle = rng.uniform(0.0, 2.0 * np.pi)
    least, most = angle - 2.0 * np.pi, angle
    for _ in range(MOST_SHRINKS):
        proposed = middle + (phi - middle) * np.cos(angle) + other * np.sin(angle)
        found = likelihood.of_data(proposed)
        if found > level:
            return proposed, found
        least, most = (angle, most) if angle < 0.0 else (least, angle)
        angle = rng.uniform(least, most)
    return phi, value


def center(model: AdditiveModel, d: int) -> Array:
    """The mean of the prior of phi (2 d + 2,)."""
    joint, effect = model.lengthscale_prior.center, model.effect_lengthscale_prior.center
    return np.array([joint] * d + [effect] * d + [0.0, np.log(model.noise_center)])


def prior_draw(model: AdditiveModel, d: int, rng: Generator) -> Array:
    """A draw from the prior of phi (2 d + 2,), its mean taken away; bounds are ignored."""
    logs = []
    for prior in (model.lengthscale_prior, model.effect_lengthscale_prior):
        each = rng.standard_normal(d)
        logs.append(prior.spread * rng.standard_normal() + prior.apart * (each - each.mean()))
    spreads = np.array([model.share_spread, model.noise_spread])
    return np.concatenate([*logs, spreads * rng.standard_normal(2)])
